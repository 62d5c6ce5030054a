# A model for one rank, split over two by the placement of one weight: the rest follows.
$ weft eval pair.mlir --dim n=3 -q --output-dir one
$ weft eval pair.mlir --dim n=3 --mesh tp=2 --place 'up=[_, tp]'
| outputs  y  f32[3, 8]  {*}
| sent     over tp: 96 B in 2 messages by rank 0, 192 B by all 2
$ weft compile -q pair.mlir --mesh tp=2 --place 'up=[_, tp]'
$ weft inspect pair.weft | grep -E '^(mesh|sent)'
| mesh     tp = 2  (2 ranks: weft run --ranks 2)
| sent     over tp: bytes = 32·n B    messages = 2 by one rank
$ for t in threads shm; do weft run pair.weft --dim n=3 --ranks 2 --transport $t -q --expect one/y.npy --tol 1e-5; done
# What stands between kernels says who disagrees, and the program is text like any other.
$ weft compile pair.mlir --mesh tp=2 --place 'up=[_, tp]' --stop-after partition > parts.mlir && grep -o 'because = .*"' parts.mlir
| because = "'pair.mlir:7' combines along a dimension of parts: 32*n B by one rank"
$ weft compile -q parts.mlir && weft run parts.weft --dim n=3 --ranks 2 -q --expect one/y.npy --tol 1e-5
# Weights of a model: each rank's part is packed as a weight of one rank is, also in grids.
$ python3 -c "
$+ import struct; open('pair.bin', 'wb').write(b''.join(struct.pack('<f', (i * 37 % 64 - 31) / 32) for i in range(192)))"
$ weft eval pair_weights.mlir --dim n=3 -q --output-dir one
$ weft compile pair_weights.mlir --mesh tp=2 --place 'up=[_, tp]' --stop-after plan 2>/dev/null | grep -oE 'weight @.*part|schedule "[a-z]*"' | sed 's/<[0-9]*/</'
| schedule "contraction"
| schedule "contraction"
| weight @up as "panels<>" part
| weight @down as "panels< of 12>" part
$ for p in 'up=[_, tp]' 'up=[dp, tp]' 'up=[_, dp+tp]' 'down=[dp, tp]' 'y=[dp, tp]'; do weft compile -q pair_weights.mlir --mesh dp=2,tp=2 --place "$p" && weft run pair_weights.weft --dim n=3 --ranks 4 --transport threads -q --expect one/y.npy --tol 1e-5; done
$ weft compile -q pair_weights.mlir --mesh tp=3 --place 'up=[_, tp]' --stop-after plan > plan.mlir && weft compile -q plan.mlir && weft run plan.weft --dim n=3 --ranks 3 -q --expect one/y.npy --tol 1e-5 && weft eval plan.mlir --dim n=3 -q
# One file for several meshes: the number of ranks picks, and all share the weights but for parts inside a panel.
$ weft compile -q pair_weights.mlir --mesh dp=2,tp=2 --mesh tp=1 --mesh tp=2 --place 'up=[_, tp]' --place 'x=[dp, _]'
$ weft inspect pair_weights.weft | grep -E '^(ranks|mesh|read|sent)'
| ranks    1, 2, 4  (each has its program, all share the weights)
| read     weights = {#} B by one rank
| mesh     tp = 2  (2 ranks: weft run --ranks 2)
| read     weights = {#} B by one rank
| sent     over tp: bytes = 32·n B    messages = 2 by one rank
| mesh     dp = 2, tp = 2  (4 ranks: weft run --ranks 4)
| read     weights = {#} B by one rank
| sent     over tp: bytes = {*}
$ weft inspect pair_weights.weft --at n=8 | grep -c '^memory'
| 3
$ weft inspect pair_weights.weft --ranks 2 --json | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); print(len(d['meshes']), d['functions'][0]['mesh'], [(v['ranks'], v['used']) for v in d['variants']])"
| 0 [{'axis': 'tp', 'size': 2}] [(1, False), (2, True), (4, False)]
$ for r in 1 2 4; do weft run pair_weights.weft --dim n=3 --ranks $r --transport threads -q --expect one/y.npy --tol 1e-5; done
$ weft run pair_weights.weft --dim n=3 -q --expect one/y.npy --tol 1e-5
$ weft run pair_weights.weft --dim n=3 --ranks 3
! error: pair_weights.weft is for 1, 2, 4 ranks, not for 3
!   hint: name one of these with --ranks
? 2
$ weft compile -q pair_weights.mlir --mesh tp=2 --mesh dp=2 --place 'up=[_, tp]'
! error[W0315]: meshes 'tp=2' and 'dp=2' have the same number of ranks, by which a file is opened
!   hint: compile one file for each
? 1
$ weft compile pair_weights.mlir --mesh tp=2 --mesh tp=4 --place 'up=[_, tp]' --stop-after partition
! error[W0315]: several meshes are several programs, but one is asked for
!   hint: name one mesh
? 1
$ weft compile -q pair_weights.mlir --mesh tp=2 --mesh tp=4 --place 'up=[_, sp]'
! error[W0315]: placement 'up=[_, sp]': mesh 'tp=2' has no axis 'sp'
? 1
# What they take.
$ weft compile -q pair_weights.mlir --mesh tp=2 --place 'up=[_, tp]'
$ weft bench pair_weights.weft --dim n=3,5 --ranks 2 --rounds 7 --format csv | cut -d, -f1,2
| n,threads
| 3,1
| 5,1
! {#} CPUs, load {#}: 2 ranks over shm, warm, interleaved, 7 rounds; work and memory are rank 0's
! ...
$ weft bench pair_weights.weft --dim n=3 --threads 1,2 --ranks 2 --transport threads --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); print(d['ranks'], [r['threads'] for r in d['rows']], len(d['rows'][1]['samples_seconds']))"
| 2 [1, 2] 7
$ weft bench pair_weights.weft --dim n=3
! error: function 'main' is for 2 ranks (tp = 2)
!   hint: weft bench pair_weights.weft --ranks 2
? 2
# Axes that do not divide, more ranks than parts, several axes, tokens, and every value by name.
$ for m in tp=3 tp=5 tp=8,dp=1; do for n in 0 1 3; do weft eval pair.mlir --dim n=$n -q --output-dir one && weft compile -q pair.mlir --mesh $m --place 'up=[_, tp]' && weft run pair.weft --dim n=$n --ranks $(echo $m | tr -dc '0-9' | cut -c1) --transport threads -q --expect one/y.npy --tol 1e-5; done; done
$ weft eval pair.mlir --dim n=3 -q --output-dir one
$ for p in 'x=[dp,tp]' 'x=[dp+tp,_]' 'y=[tp,dp]' '*=[_,_]' 'down=[dp,tp]'; do weft compile -q pair.mlir --mesh dp=2,tp=2 --place "$p" && weft run pair.weft --dim n=3 --ranks 4 --transport threads -q --expect one/y.npy --tol 1e-5; done
# A mesh of one rank, and a mesh without placements: every rank computes all.
$ weft compile -q pair.mlir --mesh tp=1 --place 'up=[_, tp]' && weft run pair.weft --dim n=3 --ranks 1 -q --expect one/y.npy --tol 1e-5
$ weft eval pair.mlir --dim n=3 --mesh tp=2 | grep -c sent
| 0
? 1
# A node is meant where no value has the name, and what a pattern names with other dimensions is passed over.
$ weft eval pair.mlir --dim n=3 --mesh tp=2 --place 'pair.mlir:4=[_, tp]' | grep sent
| sent     over tp: 96 B in 2 messages by rank 0, 192 B by all 2
$ sed 's/%down: !weft.tensor<.12, 8., f32> {/%bias: !weft.tensor<[8], f32> {weft.name = "ups"}, &/' pair.mlir > bias.mlir
$ weft eval bias.mlir --dim n=3 --mesh tp=2 --place 'up*=[_, tp]' | grep sent
| sent     over tp: 96 B in 2 messages by rank 0, 192 B by all 2
# Tokens of the input split, too: the first product gathers them, and the sum of the second becomes parts of tokens.
$ sed -e 's/return %y/%z = weft.add %x, %y : (!weft.tensor<[n, 8], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32> return %z/' -e 's/%h = \(.*\) %x, %up/%e = weft.abs %x : (!weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32> %h = \1 %e, %up/' pair.mlir > tokens.mlir
$ weft compile tokens.mlir --mesh tp=2 --place 'x=[tp, _]' --place 'up=[_, tp]' --stop-after partition | grep -o -E 'weft.(all_[a-z]+|reduce_scatter)'
| weft.all_gather
| weft.reduce_scatter
| weft.all_gather
# What is refused.
$ weft compile -q cache.mlir --in-place --mesh tp=2 --place 'past=[_, _, tp]'
! error[W0300]: no input can grow in place: ranks have parts of outputs, which they put together elsewhere
? 1
$ weft compile -q cache.mlir --in-place=past --mesh tp=2 --place 'past=[_, _, tp]'
! error[W0300]: cache.mlir:1:1: input 'past' cannot grow in place: ranks have parts of outputs, which they put together beside it
? 1
$ weft compile -q pair.mlir --stop-after fuse > fused.mlir && weft compile -q fused.mlir --mesh tp=2
! error[W0315]: a program behind phase 'fuse' cannot be split any more
!   hint: split what '--stop-after import' prints
? 1
$ weft compile -q pair.mlir --stop-after plan > planned.mlir && weft eval planned.mlir --dim n=3 --mesh tp=2
! error[W0315]: a program behind phase 'plan' cannot be split any more
!   hint: split what '--stop-after import' prints
? 1
$ weft compile -q pair.mlir --mesh tp=2 --place 'down=[tp]'
! error[W0315]: placement 'down=[tp]' has 1 dimensions, but input 'down' is '!weft.tensor<[12, 8], f32>'
? 1
$ weft compile -q pair.mlir --mesh tp=2 --place 'down=[dp, _]'
! error[W0315]: placement 'down=[dp, _]': mesh 'tp=2' has no axis 'dp'
? 1
$ weft compile -q pair.mlir --mesh tp=2 --place 'downs=[tp, _]'
! error[W0315]: placement 'downs=[tp, _]': no input, output, weight or node has such a name
? 1
$ weft eval pair.mlir --dim n=3 --mesh tp=2 --place 'down=[tp, tp]'
! error[W0315]: pair.mlir:1:1: placement [tp, tp] has axis 'tp' twice
? 1
$ weft eval pair.mlir --dim n=3 --mesh tp=2 --place 'down=tp, _'
! error[W0315]: 'tp, _' is no placement, such as [tp, _]
? 1
$ weft eval pair.mlir --dim n=3 --mesh tp
! error[W0315]: mesh 'tp': 'tp' is no axis with its size, such as tp=2
? 1
$ weft eval pair.mlir --dim n=3 --mesh tp=2,tp=2
! error[W0315]: mesh 'tp=2,tp=2': axis 'tp' is there twice
? 1
$ weft eval pair.mlir --dim n=3 --mesh tp=0
! error[W0315]: mesh 'tp=0': axis 'tp' has 0 ranks
? 1
$ weft eval pair.mlir --dim n=3 --place 'down=[tp, _]'
! error: '--place' has no effect without '--mesh'
!   hint: 'weft help eval' lists the options
? 2
$ weft compile -q parts.mlir --mesh dp=2
! error[W0315]: parts.mlir:2:3: is written for ranks, and cannot be split over others
? 1
$ sed 's/\bn\b/rank_tp/g' pair.mlir > symbol.mlir && weft compile -q symbol.mlir --mesh tp=2
! error[W0315]: symbol.mlir:1:1: has a symbol 'rank_tp', which is the place of a rank: name the axis otherwise
? 1
