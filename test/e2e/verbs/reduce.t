# Numbers that differ: a product in f32 is not the evaluator's to the last bit. One operator and what it reads is left.
$ weft reduce layers.mlir --dim batch=3 --tol 0 -o small.mlir
| small.mlir  1 of 4 operators, 9 runs
! fails    exit 3, error: output 'y': {#} of 96 elements differ, {*}
! reduce   results: 4 of 4 operators left, 6 runs
! reduce   operators: 1 of 4 operators left, 8 runs
! reduce   arguments: 1 of 4 operators left, 9 runs
! reduce   facts: 1 of 4 operators left, 9 runs
!   next: weft verify small.mlir --dim batch=1 --tol 0
$ grep -c weft.contract small.mlir && weft verify -q small.mlir --dim batch=1 --tol 0 2>/dev/null
| 1
? 3

# What has to be constant for the failure stays so: bf16 cannot hold 1.001.
$ weft reduce constant.mlir --input x=ones --weights bf16 --tol 1e-5 2>/dev/null
| constant-small.mlir  1 of 1 operators, 5 runs
$ grep -c 'dense<' constant-small.mlir
| 1

# An error: the node that is refused is left, in a file that others can open.
$ python3 make_onnx.py model.onnx Relu com.acme:FancyNMS Abs Unheard Neg Sin && weft reduce model.onnx --while error=Unheard -o small.onnx
| small.onnx  3 of 6 nodes, 10 runs
! fails    exit 1, error[W0207]: model.onnx: node 'n3' (Unheard): operator Unheard (opset 18) is not supported
! reduce   nodes: 3 of 6 nodes left, 8 runs
! reduce   inputs: 3 of 6 nodes left, 10 runs
!   next: weft verify small.onnx
$ weft check small.onnx
|      1 x  com.acme:FancyNMS (opset 1) is not supported
|            at: node 'n1' (com.acme:FancyNMS)
|            hint: give it as a function of Weft: --op com.acme:FancyNMS=FILE.mlir
|      1 x  Unheard (opset 18) is not supported
|            at: node 'n3' (Unheard)
! error[W0207]: small.onnx: 2 nodes are not supported
? 1
$ python3 make_onnx.py model.onnx Relu com.acme:FancyNMS Abs && weft reduce model.onnx --verb check --json 2>/dev/null
| {
|   "schema": "weft.reduce/1",
|   "model": "model.onnx",
|   "output": "model-small.onnx",
|   "failure": "error",
|   "said": "exit 1, error[W0207]: model.onnx: 1 node is not supported",
|   "parts": "nodes",
|   "before": 3,
|   "after": 1,
|   "runs": 6,
|   "interrupted": false,
|   "command": "weft check model-small.onnx"
| }

# ONNX models that are only wrong in numbers; flags that the smaller model does not understand are left away.
$ python3 make_custom.py numbers.onnx Relu Relu ScaledTanh+bias,alpha=0.5 Relu
$ weft reduce numbers.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir --tol 0 --dim batch=64 -o small.onnx 2>/dev/null
| small.onnx  1 of 4 nodes, 10 runs
$ weft inspect -q small.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir | grep main
| main(bias: f32[4], v2: f32[batch, 4]) -> v3: f32[batch, 4]

# Nothing to reduce, and wrong usage.
$ weft reduce layers.mlir --dim batch=3
! error: layers.mlir: 'weft verify' does not fail
!   hint: give the flags it fails with, as to that verb
? 1
$ weft reduce layers.mlir --dim batch=3 --tol 0 --while crash
! error: the model does not fail so: exit 3, error: output 'y': {#} of 96 elements differ, {*}
!   hint: without --while, the failure that the first run shows is kept
? 1
$ weft reduce layers.mlir --dim batch=3 --tol 0 --while slow
! error: '--while slow' is not understood
!   hint: write error, error='TEXT', different or crash
? 2
$ weft reduce layers.mlir --dim bach=3
! error: '--dim bach=3': there is no symbol 'bach'
!   hint: the closest is 'batch'
? 2
$ weft reduce layers.mlir --verb check --tol 0
! error: '--tol' means nothing to 'weft check'
!   hint: --verb says which verb the model fails with
? 2
$ weft reduce nothing.mlir
! error[W0200]: cannot read 'nothing.mlir'
? 1
$ weft reduce layers.mlir --dim batch=3 --tol 0 -o layers.mlir
! fails    exit 3, error: output 'y': {#} of 96 elements differ, {*}
! error: '--output layers.mlir' is the model itself
? 2
$ echo 'func.func @f(' > cut.mlir && weft reduce cut.mlir
! fails    exit 1, error[W0201]: cut.mlir:1:14: expected non-function type
! error[W0201]: cut.mlir:1:14: expected non-function type; there are no parts to take away
? 1
$ weft reduce layers.mlir --input @in.npz --tol 0
! error: '--input @in.npz' gives several inputs at once
!   hint: smaller models have other inputs: write --input NAME=@FILE.npy for each
? 2

# A command of one's own instead of a verb: here, models fail as long as they have a Sin.
$ python3 make_onnx.py model.onnx Relu Abs Sin Neg && weft reduce model.onnx --command 'sh -c "grep -q Sin \$0 && exit 5 || exit 0"' -o small.onnx
| small.onnx  1 of 4 nodes, 6 runs
! fails    exit 5
! reduce   nodes: 1 of 4 nodes left, 6 runs
! reduce   inputs: 1 of 4 nodes left, 6 runs
!   next: sh -c "grep -q Sin \$0 && exit 5 || exit 0" small.onnx
$ weft reduce model.onnx --command true
! error: model.onnx: the command does not fail
!   hint: it fails when its exit code is not 0
? 1
$ weft reduce model.onnx --command false --dim n=2
! error: '--dim' means nothing to a command of your own
!   hint: write it into the command, which gets the model as its last argument
? 2
$ weft reduce model.onnx --command false --verb check
! error: '--command' stands in the place of '--verb'
? 2

# Ctrl-C leaves no temporary files.
$ mkdir quiet && cp layers.mlir quiet && cd quiet && sh ../interrupt reduce -q layers.mlir --tol 0 -o slow.weft
| interrupted
