$ weft check layers.mlir -t x86:v3
| layers.mlir: can be compiled for x86:v3; 3 kernels, peak = 128·batch B
$ weft check layers.mlir -t x86:v3 --json
| {
|   "schema": "weft.check/1",
|   "model": "layers.mlir",
|   "supported": true,
|   "target": "x86:v3",
|   "kernels": 3,
|   "peak": "128*batch",
|   "unsupported": []
| }
$ weft check layers.mlir -t x86:v7
! error[W0301]: unknown target 'x86:v7'; the nearest is 'x86:v2'; known are x86:host, x86:v2, x86:v3, x86:v3+vnni, x86:v4, x86:v4+vnni, x86:v4+bf16, x86:v4+amx; 'weft targets' lists all
? 2
$ weft check nothing.mlir
! error[W0200]: cannot read 'nothing.mlir': No such file or directory
? 1
$ ls *.weft 2>/dev/null
? 2
