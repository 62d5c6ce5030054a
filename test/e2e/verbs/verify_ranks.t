# Over local ranks, split as compile splits; what they give is compared with the model as it is.
$ weft verify pair.mlir --dim n=3 --mesh tp=2 --place 'up=[_, tp]'
| outputs  y  f32[3, 8]  {*}
! inputs   x  f32[3, 8]  generated, seed 1, uniform in -1..1
!          up  f32[8, 12]  generated, seed 1, uniform in -1..1
!          down  f32[12, 8]  generated, seed 1, uniform in -1..1
! ranks    tp = 2
$ weft verify pair.mlir --dim n=3 --ranks 2 --at n=512 --fuse-comm always -q
$ weft verify pair.mlir --dim n=1 --ranks 4 --plan sp --json 2>/dev/null | grep -E 'mesh|good'
|   "mesh": "tp = 4",
|   "good": true,
|       "good": true,
# Parts of callers, and one file for several numbers of ranks.
$ weft verify local.mlir --dim n=7 --mesh tp=2,dp=3 --place 'x=local [dp, tp]' --place 'y=local [tp+dp, _]' -q
$ weft compile -q pair.mlir --mesh tp=1 --mesh tp=2 --mesh tp=3 --place 'up=[_, tp]' && for r in 1 2 3; do weft verify pair.mlir pair.weft --ranks $r --dim n=5 -q; done
$ weft verify pair.mlir pair.weft --ranks 4 --dim n=5 -q
! error: pair.weft is for 1, 2, 3 ranks, not for 4
!   hint: name one of these with --ranks
? 2
# So is a program that is split already.
$ weft compile pair.mlir --mesh tp=2 --place 'up=[_, tp]' --stop-after partition > parts.mlir && weft verify parts.mlir --dim n=3 2>&1 >/dev/null | tail -1
| ranks    tp = 2
$ weft verify parts.mlir --dim n=3 --ranks 3 -q
! error[W0315]: parts.mlir:2:3: is written for ranks, and cannot be split over others
? 1
# An artifact of another program, and the operator of the split program whose values differ, or the pass.
$ sed 's/gelu/silu/' pair.mlir > other.mlir && weft compile -q other.mlir --ranks 2 && weft verify pair.mlir other.weft --dim n=3 -q
! error: output 'y': {*} elements differ, {*}
? 3
$ weft verify pair.mlir --dim n=3 --mesh tp=2 --place 'up=[_, tp]' --tol 0 --bisect 2>/dev/null | grep -A1 first
| first    weft.contract at 'pair.mlir:4', operator 3 of 6
|          f32[3, 6]  {*}
$ weft verify parts.mlir --dim n=3 --tol 0 --bisect 2>/dev/null | grep first
| first    weft.contract at {*}, operator 3 of 6
$ weft verify pair.mlir --dim n=3 --mesh tp=2 --place 'up=[_, tp]' --weights bf16 --bisect=passes 2>/dev/null | grep -E 'weft-split|^first'
|          weft-split-functions       0          0
| first    no pass changes an output by more than the tolerance
$ weft verify pair.mlir --ranks 0 -q
! error: '--ranks' must be more than 0
? 2
