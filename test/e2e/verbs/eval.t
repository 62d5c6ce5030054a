# The reference evaluator answers as the compiled program does.
$ weft eval layers.mlir --dim batch=3 --output y.npz
| outputs  y     f32[3, 32]  min 1.929e-07   mean 0.03125     max 0.4895      nan 0
|          kept  f32[3, 48]  min 0           mean 0.3987      max 1.989       nan 0
! wrote y.npz
$ weft compile -q layers.mlir && weft run -q layers.weft --dim batch=3 --expect @y.npz
$ weft eval layers.mlir --dim batch=2 --output-dir out -q && ls out
| kept.npy
| y.npy
$ weft eval layers.mlir --dim batch=2 --json
| {
|   "schema": "weft.eval/1",
|   "model": "layers.mlir",
|   "function": "main",
|   "seed": 1,
|   "symbols": {
|     "batch": 2
|   },
|   "outputs": [
|     {
|       "name": "y",
|       "element": "f32",
|       "dims": [2, 32],
|       "min": 1.9294076025744289e-07,
|       "mean": 0.031250000030987879,
|       "max": 0.48948410153388977,
|       "nan": 0
|     },
|     {
|       "name": "kept",
|       "element": "f32",
|       "dims": [2, 48],
|       "min": 0,
|       "mean": 0.45994956543048221,
|       "max": 1.9886672496795654,
|       "nan": 0
|     }
|   ]
| }
$ weft eval layers.mlir --function other
! error[W0401]: the model has no function 'other'
!   hint: its functions are 'main'
? 1
$ npy x.npy '<f4' 3,47 1 && weft eval layers.mlir --input x=@x.npy --input w=ones --output-dir none
! error[W0410]: input 'x': dimension 1 is 47, but '48' is 48
? 1
$ npy x.npy '<f8' 3,48 1 && weft eval layers.mlir --input x=@x.npy --input w=ones --output-dir none
! error[W0403]: input 'x': element type is f64, but f32 is needed
!   hint: x.npy is f64 [3, 48]
? 1
$ npy x.npy '<f4' 3 1 && weft eval layers.mlir --input x=@x.npy --input w=ones --output-dir none
! error[W0410]: input 'x' must have rank 2, but has rank 1
? 1
$ test -e none
? 1
$ npy x.npy '<f4' 3,48 1 && weft eval layers.mlir --input x=@x.npy --input w=ones --output x.npy
! error: '--output x.npy' would replace what is read
!   hint: name another file
? 2
