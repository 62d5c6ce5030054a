# Weft finds placements: the same as by hand, or others that cost no more; what it writes it takes back.
$ python3 -c "
$+ import struct; open('pair.bin', 'wb').write(b''.join(struct.pack('<f', (i * 37 % 64 - 31) / 256) for i in range(65536)))"
$ sed -e 's/\[8, 12\]/[64, 512]/g; s/\[12, 8\]/[512, 64]/g; s/n, 8\]/n, 64]/g; s/n, 12\]/n, 512]/g; s/384/131072/g' pair_weights.mlir > wide.mlir
$ weft compile wide.mlir --ranks 2 --plan tp --at n=64 --plan-out plan.txt 2>&1 | grep -o 'mesh tp=2 (tp): .* us a call at n = 64'
| mesh tp=2 (tp): {*} us a call at n = 64
$ grep -v '#' plan.txt
| mesh tp=2
| place up=[_, tp]
$ cp wide.weft first.weft && weft compile -q wide.mlir --plan plan.txt && cmp first.weft wide.weft
$ weft compile -q wide.mlir --mesh tp=2 --place 'up=[_, tp]' && cmp first.weft wide.weft
$ weft eval wide.mlir --dim n=64 -q --output-dir one && weft compile -q wide.mlir --ranks 4 --plan auto && weft run wide.weft --dim n=64 --ranks 4 --transport threads -q --expect one/y.npy --tol 1e-5
$ weft eval wide.mlir --dim n=3 --mesh tp=2 --plan tp | grep sent
| sent     over tp: {*}
$ weft inspect wide.mlir --why --mesh tp=2 --at n=64 | grep -c '    not '
| {#}
# Refused: plans that there are not, lines that are none, and what costs too much.
$ weft compile -q wide.mlir --ranks 2 --plan pp
! error[W0315]: there is no plan 'pp': there are auto, tp, sp, dp, fsdp, 2d, 3d and files
? 1
$ printf 'mesh tp=2\n\nplace up=[dp]\n' > bad.txt && weft compile -q wide.mlir --plan bad.txt
! error[W0315]: bad.txt:3: mesh 'tp=2' has no axis 'dp'
? 1
$ weft compile -q wide.mlir --plan plan.txt --ranks 3
! error[W0315]: plan.txt: is for 2 ranks, not 3
? 1
$ weft compile -q wide.mlir --ranks 0
! error: '--ranks' must be more than 0
? 2
$ weft compile -q wide.mlir --ranks 2 --link fast
! error[W0315]: link 'fast' is no bandwidth with a latency, such as 2GB/s,20us or dp=2GB/s,20us
? 1
$ weft compile -q wide.mlir --mesh tp=2 --place 'x=[tp, _]' --max-reshard 1K --at n=64
! error[W0315]: {*} for which a rank sends 8.0 KiB, but the limit is 1.0 KiB
? 1
$ weft compile -q wide.mlir --mesh tp=2 --place 'up=[_, tp]' --max-reshard 1K --at n=64
