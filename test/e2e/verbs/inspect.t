$ weft inspect layers.mlir
| layers.mlir  not compiled
| main(x: f32[batch, 48], w: f32[48, 32]) -> (y: f32[batch, 32], kept: f32[batch, 48])
| symbols  1 ≤ batch
| compute  4 operators
|          1 x  activation
|          1 x  add
|          1 x  contract
|          1 x  softmax
!   next: weft compile layers.mlir
$ weft inspect layers.mlir --at batch=3
| layers.mlir  not compiled
| main(x: f32[3, 48], w: f32[48, 32]) -> (y: f32[3, 32], kept: f32[3, 48])
| symbols  batch = 3
| compute  4 operators
|          1 x  activation
|          1 x  add
|          1 x  contract
|          1 x  softmax
!   next: weft compile layers.mlir
$ weft inspect layers.mlir --at sequence=3
! error: '--at': there is no symbol 'sequence'
!   hint: the symbols are batch
? 2
$ weft inspect layers.mlir --json
| {
|   "schema": "weft.inspect/1",
|   "kind": "model",
|   "file": "layers.mlir",
|   "functions": [
|     {
|       "name": "main",
|       "inputs": [
|         {
|           "name": "x",
|           "element": "f32",
|           "dims": ["batch", "48"]
|         },
|         {
|           "name": "w",
|           "element": "f32",
|           "dims": ["48", "32"]
|         }
|       ],
|       "outputs": [
|         {
|           "name": "y",
|           "element": "f32",
|           "dims": ["batch", "32"]
|         },
|         {
|           "name": "kept",
|           "element": "f32",
|           "dims": ["batch", "48"]
|         }
|       ],
|       "symbols": [
|         {
|           "name": "batch",
|           "min": 1,
|           "max": 2147483647,
|           "multiple": 1,
|           "input": 0,
|           "dim": 0
|         }
|       ],
|       "facts": ["1 <= batch"]
|     }
|   ],
|   "operators": {
|     "activation": 1,
|     "add": 1,
|     "contract": 1,
|     "softmax": 1
|   },
|   "parameters": []
| }
$ weft inspect broken.onnx
! error: broken.onnx: No such file or directory
? 1
