# All unsupported nodes at once, in groups, the largest first.
$ python3 make_onnx.py model.onnx Relu com.acme:FancyNMS Abs com.acme:FancyNMS Unheard Neg && weft check model.onnx
|      2 x  com.acme:FancyNMS (opset 1) is not supported
|            first: node 'n1' (com.acme:FancyNMS)
|            hint: give it as a function of Weft: --op com.acme:FancyNMS=FILE.mlir
|      1 x  Unheard (opset 18) is not supported
|            at: node 'n4' (Unheard)
! error[W0207]: model.onnx: 3 nodes are not supported
? 1
$ weft check model.onnx --json
| {
|   "schema": "weft.check/1",
|   "model": "model.onnx",
|   "supported": false,
|   "unsupported": [
|     {
|       "domain": "com.acme",
|       "operator": "FancyNMS",
|       "opset": 1,
|       "count": 2,
|       "code": "W0207",
|       "reason": "com.acme:FancyNMS (opset 1) is not supported",
|       "hint": "give it as a function of Weft: --op com.acme:FancyNMS=FILE.mlir",
|       "first": ["node 'n1' (com.acme:FancyNMS)", "node 'n3' (com.acme:FancyNMS)"]
|     },
|     {
|       "domain": "",
|       "operator": "Unheard",
|       "opset": 18,
|       "count": 1,
|       "code": "W0207",
|       "reason": "Unheard (opset 18) is not supported",
|       "hint": "",
|       "first": ["node 'n4' (Unheard)"]
|     }
|   ]
| }
! error[W0207]: model.onnx: 3 nodes are not supported
? 1

# compile, eval, verify and inspect refuse for the same reasons, and nothing is written.
$ weft compile model.onnx -o model.weft
! error[W0207]: model.onnx: node 'n1' (com.acme:FancyNMS) and 1 more like it: operator com.acme:FancyNMS (opset 1) is not supported
!   hint: give it as a function of Weft: --op com.acme:FancyNMS=FILE.mlir
! error[W0207]: model.onnx: node 'n4' (Unheard): operator Unheard (opset 18) is not supported
? 1
$ weft compile model.onnx --json 2>/dev/null
| {
|   "schema": "weft.error/1",
|   "exit": 1,
|   "code": "W0207",
|   "message": "model.onnx: node 'n4' (Unheard): operator Unheard (opset 18) is not supported",
|   "hint": "",
|   "diagnostics": [
|     {
|       "code": "W0207",
|       "where": "model.onnx: node 'n1' (com.acme:FancyNMS) and 1 more like it",
|       "text": "operator com.acme:FancyNMS (opset 1) is not supported",
|       "hint": "give it as a function of Weft: --op com.acme:FancyNMS=FILE.mlir"
|     },
|     {
|       "code": "W0207",
|       "where": "model.onnx: node 'n4' (Unheard)",
|       "text": "operator Unheard (opset 18) is not supported",
|       "hint": ""
|     }
|   ]
| }
? 1
$ weft inspect model.onnx
! error[W0207]: model.onnx: node 'n1' (com.acme:FancyNMS) and 1 more like it: operator com.acme:FancyNMS (opset 1) is not supported
!   hint: give it as a function of Weft: --op com.acme:FancyNMS=FILE.mlir
! error[W0207]: model.onnx: node 'n4' (Unheard): operator Unheard (opset 18) is not supported
? 1
$ test -e model.weft
? 1

# A model that can be compiled.
$ python3 make_onnx.py good.onnx Relu Abs Neg && weft check good.onnx -t x86:v3
| good.onnx: can be compiled for x86:v3; 1 kernel, peak = 0 B
$ weft verify good.onnx --dim batch=3
| outputs  v3  f32[3, 4]  no difference
! inputs   x  f32[3, 4]  generated, seed 1, uniform in -1..1

# A file that is none.
$ head -c 40 good.onnx > cut.onnx && weft check cut.onnx
! error[W0202]: cut.onnx: byte 2: a field reaches beyond the end of what contains it; is the file truncated?
? 1
$ : > empty.onnx && weft check empty.onnx
! error[W0202]: 'empty.onnx' is not an ONNX model: it is empty
? 1

# A file that ONNX Runtime saved for one processor says what to do instead of asking for a function.
$ python3 make_onnx.py fast.onnx com.microsoft.nchwc:ReorderInput && weft compile fast.onnx
! error[W0207]: fast.onnx: node 'n0' (com.microsoft.nchwc:ReorderInput): operator com.microsoft.nchwc:ReorderInput (opset 1) is not supported
!   hint: ONNX Runtime saved this file with its weights laid out for one processor; save it at level ORT_ENABLE_EXTENDED, or take the file it was made from
? 1
