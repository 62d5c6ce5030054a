# Ranks read parts of weights and gather the whole before they use it: what they send, read and give.
$ python3 -c "
$+ import struct; open('pair.bin', 'wb').write(b''.join(struct.pack('<f', (i * 37 % 64 - 31) / 256) for i in range(65536)))"
$ sed -e 's/\[8, 12\]/[64, 512]/g; s/\[12, 8\]/[512, 64]/g; s/n, 8\]/n, 64]/g; s/n, 12\]/n, 512]/g; s/384/131072/g' pair_weights.mlir > wide.mlir
$ weft eval wide.mlir --dim n=64 -q --output-dir one
$ weft compile -q wide.mlir --ranks 2 --plan fsdp --plan-out fsdp.txt && grep -v '#' fsdp.txt
| mesh dp=2
| place up=[_, dp*]
| place down=[_, dp*]
| place x=[dp, _]
$ weft inspect wide.weft | grep -E '^read'
| read     weights = 131072 B by one rank
$ weft inspect wide.weft --at n=64 | grep -E '^sent'
| sent     over dp: 139264 B {*} in 3 messages by one rank
$ weft eval wide.mlir --dim n=64 --mesh dp=2 --plan fsdp | grep sent
| sent     over dp: 139264 B in 3 messages by rank 0, 278528 B by all 2
$ for t in threads shm; do weft run wide.weft --dim n=64 --ranks 2 --transport $t -q --expect one/y.npy --tol 1e-5; done
# The same by hand, its plan as text, parts of several axes, parts that are no panels, and of other sizes; more ranks than rows.
$ cp wide.weft first.weft && weft compile -q wide.mlir --mesh dp=2 --place 'x=[dp, _]' --place '*=[_, dp*]' && cmp first.weft wide.weft
$ weft compile -q wide.mlir --plan fsdp.txt --stop-after plan > plan.mlir && grep -oE 'weight @down as "[a-z]*<[0-9]*>" part' plan.mlir | sed 's/[0-9]//g'
| weight @down as "panels<>" part
$ weft compile -q plan.mlir && weft run plan.weft --dim n=64 --ranks 2 --transport threads -q --expect one/y.npy --tol 1e-5
$ weft eval plan.mlir --dim n=3 | grep sent
| sent     over dp: 131584 B in 3 messages by rank 0, 262912 B by all 2
$ sed -E 's/(weight @down as "panels)</\1_t</' plan.mlir > wrong.mlir; weft compile -q wrong.mlir
! error[W0201]: wrong.mlir:{#}:5: 'plan.exchange' op gives parts in layout 'panels_t<{#}>', which make no whole
? 1
$ for p in 'up=[dp*, tp]' 'up=[tp, dp*]' 'up=[_, dp*+tp*]' 'up=[tp*, dp*]' 'up=[tp+dp*, _]'; do weft compile -q wide.mlir --mesh dp=2,tp=2 --place 'x=[dp, _]' --place "$p" --place 'down=[dp*, _]' && weft run wide.weft --dim n=64 --ranks 4 --transport threads -q --expect one/y.npy --tol 1e-5 && weft inspect wide.weft | grep '^read'; done
| read     weights = 65536 B by one rank
| read     weights = 98304 B by one rank
| read     weights = 98304 B by one rank
| read     weights = 98304 B by one rank
| read     weights = 98304 B by one rank
$ weft compile -q wide.mlir --mesh dp=3 --place 'x=[dp, _]' --place 'up=[dp*, _]' --place 'down=[_, dp*]' && weft inspect wide.weft --at n=64,rank_dp=2 | grep '^read' && weft run wide.weft --dim n=64 --ranks 3 --transport threads -q --expect one/y.npy --tol 1e-5
| read     weights = 172032 B by one rank
$ weft eval wide.mlir --dim n=1 -q --output-dir one && weft run wide.weft --dim n=1 --ranks 3 --transport threads -q --expect one/y.npy --tol 1e-5
# A loop over stacked layers gathers the weight of one at a time.
$ weft eval stacked_weights.mlir --dim n=3 -q --output-dir one && weft compile -q stacked_weights.mlir --mesh dp=2 --place 'layers=[_, dp*, _]' -o stacked.weft
$ weft inspect stacked.weft --at n=3 | grep '^sent' && weft run stacked.weft --dim n=3 --ranks 2 --transport shm -q --expect one/y.npy --tol 1e-6
| sent     over dp: 384 B in 3 messages by one rank
# Only weights are gathered, and no name may stand for none.
$ weft compile -q wide.mlir --mesh dp=2 --place 'x=[dp*, _]'
! error[W0315]: placement 'x=[dp*, _]' gathers before use, which is for weights of whole bytes, but input 'x' is none
? 1
$ weft compile -q wide.mlir --mesh dp=2 --place 'up=[*, _]'
! error[W0315]: '[*, _]' is no placement: '*' is no axis
? 1
