# Callers on ranks have parts of some inputs and outputs; the command reads, makes and shows wholes, so it prints what one rank would.
$ weft compile -q local.mlir --target x86:v2 --mesh tp=2,dp=3 --place 'x=local [dp, tp]' --place 'y=local [tp+dp, _]' -o grid.weft
$ weft inspect grid.weft | grep -A 1 -E '^local'
| local    x = [dp, tp] of [n, 6]
|          y = [tp+dp, _] of [n, 6]
$ for n in 0 1 4 7 13; do weft eval local.mlir --dim n=$n -q --output-dir one && for t in threads shm; do weft run grid.weft --dim n=$n --ranks 6 --transport $t -q --expect y=@one/y.npy --expect s=@one/s.npy --tol 1e-6; done; done
$ weft eval local.mlir --dim n=7 -q --output-dir one; weft eval local.mlir --mesh tp=2,dp=3 --place 'x=local [dp, tp]' --place 'y=local [tp+dp, _]' --dim n=7 -q --output-dir other && weft run grid.weft --dim n=7 --ranks 6 -q --expect y=@other/y.npy --tol 1e-6
# Whole files are read, and one of another size is refused.
$ weft run grid.weft --input z=rand --input x=[[1,2,3,4,5,6],[1,2,3,4,5,6]] --ranks 6 2>/dev/null
| outputs  y  f32[2, 6]  min 2           mean 30.33       max 72          nan 0
|          s  f32[6]     min 2           mean 7           max 12          nan 0
$ weft run grid.weft --input x=[[1,2,3]] --input z=[1] --ranks 6 -q
! error[W0411]: input 'x' is [1, 3], which ranks cannot share: it must be [1, 6]
? 1
# Of plans, too.
$ weft compile -q local.mlir --mesh tp=2 --place 'x=local [tp, _]' --place 'y=local [tp, _]' --stop-after plan > plan.mlir && weft eval plan.mlir --dim n=5 -q --output-dir plan && weft eval local.mlir --dim n=5 -q --output-dir one && weft compile -q plan.mlir && weft run plan.weft --dim n=5 --ranks 2 -q --expect y=@one/y.npy --tol 1e-6
# Some input must say every size, as a rank cannot know it from its part.
$ weft compile -q local.mlir --mesh tp=2 --place 'x=local [tp, _]' --place 'z=local [tp]'
! error[W0300]: local.mlir:1:1: symbol 'n' is not determined by any input along a dimension that is not split
? 1
$ weft compile -q local.mlir --mesh tp=2 --place 'x=local [_, _]'
! error[W0315]: placement 'x=local [_, _]' says that ranks have parts, and splits nothing for callers
? 1
$ weft compile -q local.mlir --mesh tp=2 --place 'local.mlir:3=local [tp]'
! error[W0315]: placement 'local.mlir:3=local [tp]' is of inputs and outputs that ranks have parts of, but what the node gives is neither
? 1
# A text may say what cannot be: two parts that are as long as the whole.
$ weft eval parts.mlir --dim n=4 -q
! error[W0410]: input 'x': rank 1 has 4 from 4 on of dimension 0, which is 4
? 1
$ weft compile -q parts.mlir && weft run parts.weft --ranks 2 --dim n=4 -q
! error[W0411]: rank 1: input 'x' is [4, 4], which ranks cannot share
? 1
$ weft compile -q cache.mlir --in-place --mesh tp=2 --place 'past=local [_, _, tp]' --place 'present=local [_, _, tp]'
! error[W0300]: cache.mlir:1:1: ranks cannot have parts of '!weft.tensor<[b, room, 4], f32>', which grows in place or shares bytes
? 1
# One file for several meshes says for each what is split; of one rank, nothing is.
$ weft compile -q cache.mlir --mesh tp=1 --mesh tp=2 --place 'past=local [_, _, tp]' --place 'present=local [_, _, tp]' -o meshes.weft && weft inspect meshes.weft | grep -A 1 local
| local    past = [_, _, tp] of [b, p, 8]
|          present = [_, _, tp] of [b, p + s, 8]
$ weft run meshes.weft --dim p=3,s=2,b=1 -q --output-dir one && weft run meshes.weft --dim p=3,s=2,b=1 --ranks 2 -q --expect present=@one/present.npy --expect sum=@one/sum.npy
# Ranks that have the same part must give the same.
$ weft eval twice.mlir --dim n=3 -q
! error[W0410]: output 'y': rank 3 has other elements than another rank with the same part
? 1
$ weft compile -q twice.mlir && weft run twice.weft --ranks 4 --dim n=3 -q
! error[W0410]: output 'y' differs between ranks 0 and 1
? 1
# One rank has all of it.
$ weft compile -q local.mlir --mesh tp=1 --place 'x=local [tp, _]' -o alone.weft && weft run alone.weft --dim n=4 -q
