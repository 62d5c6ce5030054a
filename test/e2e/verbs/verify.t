# Compiled now, not kept.
$ weft verify layers.mlir --dim batch=3
| outputs  y     f32[3, 32]  worst error {#}: got {#}, expected {#} at [{#}, {#}]
|          kept  f32[3, 48]  no difference
! inputs   x  f32[3, 48]  generated, seed 1, uniform in -1..1
!          w  f32[48, 32]  generated, seed 1, uniform in -1..1
$ ls *.weft 2>/dev/null
? 2

# An artifact of another program: exit 3, and the worst element of every output.
$ weft compile -q other.mlir && weft verify layers.mlir other.weft --dim batch=3
| outputs  y     f32[3, 32]  different
|          kept  f32[3, 48]  different
! inputs   x  f32[3, 48]  generated, seed 1, uniform in -1..1
!          w  f32[48, 32]  generated, seed 1, uniform in -1..1
! error: output 'y': 96 of 96 elements differ, worst error 5.63: got -5.62704{*}, expected 1.9294076e-07 at [0, 26]
! error: output 'kept': 64 of 144 elements differ, worst error 0.5: got 0.564487696, expected 1.12897539 at [0, 1]
? 3
$ weft verify layers.mlir other.weft --dim batch=3 --bisect 2>/dev/null | tail -1
| first    the model compiled now does not differ; compile other.weft again
$ weft verify layers.mlir other.weft --dim batch=3 --json
| {
|   "schema": "weft.verify/1",
|   "model": "layers.mlir",
|   "artifact": "other.weft",
|   "function": "main",
|   "target": "x86:{*}",
|   "seed": 1,
|   "good": false,
|   "symbols": {
|     "batch": 3
|   },
|   "outputs": [
|     {
|       "name": "y",
|       "good": false,
|       "element": "f32",
|       "dims": [3, 32],
|       "worst": 5.62704{*},
|       "index": [0, 26],
|       "got": -5.62704{*},
|       "expected": 1.9294076025744289e-07,
|       "wrong": 96
|     },
|     {
|       "name": "kept",
|       "good": false,
|       "element": "f32",
|       "dims": [3, 48],
|       "worst": 0.5,
|       "index": [0, 1],
|       "got": 0.56448769569396973,
|       "expected": 1.1289753913879395,
|       "wrong": 64
|     }
|   ]
| }
! inputs   x  f32[3, 48]  generated, seed 1, uniform in -1..1
!          w  f32[48, 32]  generated, seed 1, uniform in -1..1
! error: output 'y': 96 of 96 elements differ, worst error 5.63: got -5.62704{*}, expected 1.9294076e-07 at [0, 26]
! error: output 'kept': 64 of 144 elements differ, worst error 0.5: got 0.564487696, expected 1.12897539 at [0, 1]
? 3

# Without any tolerance a product differs in its last bits: the first operator that does is named.
$ weft verify layers.mlir --dim batch=3 --tol 0 --bisect
| outputs  y     f32[3, 32]  different
|          kept  f32[3, 48]  no difference
| first    weft.contract at '/layer/MatMul', operator 3 of 4
|          f32[3, 32]  {#} of 96 elements differ, worst error {#}: got {#}, expected {#} at [{#}, {#}]
! inputs   x  f32[3, 48]  generated, seed 1, uniform in -1..1
!          w  f32[48, 32]  generated, seed 1, uniform in -1..1
! bisect   operators 1..4 of 4: different
! bisect   operators 1..2 of 4: equal
! bisect   operators 1..3 of 4: different
! error: output 'y': {#} of 96 elements differ, worst error {#}: got {#}, expected {#} at [{#}, {#}]
? 3
$ weft verify layers.mlir --dim batch=3 --tol 0 --bisect --json 2>/dev/null | sed -n '/first/,/operators/p'
|   "first": {
|     "node": "/layer/MatMul",
|     "operator": "weft.contract",
|     "position": 3,
|     "operators": 4,
$ weft verify layers.mlir --dim batch=3 --bisect -q

# Refusals.
$ weft verify layers.mlir nothing.weft
! assumed  batch=1  (set with --dim)
! inputs   x  f32[1, 48]  generated, seed 1, uniform in -1..1
!          w  f32[48, 32]  generated, seed 1, uniform in -1..1
! error[W0508]: nothing.weft: cannot be opened: No such file or directory
? 1
$ weft verify layers.mlir layers.mlir
! assumed  batch=1  (set with --dim)
! inputs   x  f32[1, 48]  generated, seed 1, uniform in -1..1
!          w  f32[48, 32]  generated, seed 1, uniform in -1..1
! error[W0501]: layers.mlir: is not a Weft artifact
!   hint: compile it first: weft compile layers.mlir
? 1
$ weft verify nothing.mlir
! error[W0200]: cannot read 'nothing.mlir': No such file or directory
? 1
$ weft verify layers.mlir --dim batch=0
! inputs   x  f32[0, 48]  generated, seed 1, uniform in -1..1
!          w  f32[48, 32]  generated, seed 1, uniform in -1..1
! error[W0410]: input 'x': dimension 0 is 0, but 'batch' is at least 1
? 1
$ TMPDIR=/nowhere weft verify layers.mlir
! assumed  batch=1  (set with --dim)
! inputs   x  f32[1, 48]  generated, seed 1, uniform in -1..1
!          w  f32[48, 32]  generated, seed 1, uniform in -1..1
! error: no temporary folder can be made in '/nowhere': No such file or directory
!   hint: set TMPDIR to a folder that can be written
? 4

# Ctrl-C leaves no temporary files, and says so with 130.
$ mkdir quiet && cp layers.mlir quiet && cd quiet && sh ../interrupt verify -q layers.mlir && ls
| interrupted
| layers.mlir
