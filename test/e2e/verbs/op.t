# An operator that Weft does not know is a function in text; its body takes the node's place and fuses with what is around it.
$ python3 make_custom.py model.onnx Relu ScaledTanh+bias,alpha=0.5 ScaledTanh && weft check model.onnx
|      2 x  com.acme:ScaledTanh (opset 1) is not supported
|            first: node 'n1' (com.acme:ScaledTanh)
|            hint: give it as a function of Weft: --op com.acme:ScaledTanh=FILE.mlir
! error[W0207]: model.onnx: 2 nodes are not supported
? 1
$ weft check model.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir -t x86:v3
| model.onnx: can be compiled for x86:v3; 1 kernel, peak = 0 B
$ weft verify model.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir --dim batch=3
| outputs  v3  f32[3, 4]  {*}
! inputs   x  f32[3, 4]  generated, seed 1, uniform in -1..1
!          bias  f32[4]  generated, seed 1, uniform in -1..1
$ weft eval model.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir --dim batch=1 --input 'x=[[0,1,-1,100]]' --input 'bias=[0,0,0,0]'
| outputs  v3  f32[1, 4]  min 0           mean 0.2064      max 0.4621      nan 0
$ weft inspect model.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir
| model.onnx  not compiled
| main(x: f32[batch, 4], bias: f32[4]) -> v3: f32[batch, 4]
| symbols  0 ≤ batch
| compute  10 operators
|          3 x  fill
|          2 x  add
|          2 x  mul
|          2 x  tanh
|          1 x  activation
!   next: weft compile model.onnx
$ weft compile -q model.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir -o model.weft && weft run -q model.weft --dim batch=2

# An operator that Weft knows can be replaced.
$ sed 's/rows, n\]/n]/g; s/rows, n :/n :/' scaled_tanh.mlir > flat.mlir && weft check model.onnx --op Relu=scaled_tanh.mlir --op com.acme:ScaledTanh=scaled_tanh.mlir -t x86:v3
| model.onnx: can be compiled for x86:v3; 1 kernel, peak = 0 B

# What a node gives must fit the function: each misfit is one line.
$ weft check model.onnx --op com.acme:ScaledTanh=flat.mlir
|      1 x  com.acme:ScaledTanh (opset 1): argument 'x' of the function is !weft.tensor<[n], f32>, but the node gives !weft.tensor<[batch, 4], f32>
|            at: node 'n1' (com.acme:ScaledTanh)
! error[W0207]: model.onnx: 1 node is not supported
? 1
$ sed 's/f32/f16/g' scaled_tanh.mlir > half.mlir && weft check model.onnx --op com.acme:ScaledTanh=half.mlir
|      1 x  com.acme:ScaledTanh (opset 1): argument 'x' of the function is !weft.tensor<[rows, n], f16>, but the node gives !weft.tensor<[batch, 4], f32>
|            at: node 'n1' (com.acme:ScaledTanh)
! error[W0207]: model.onnx: 1 node is not supported
? 1
$ sed 's/1 <= n/8 <= n/' scaled_tanh.mlir > wide.mlir && weft check model.onnx --op com.acme:ScaledTanh=wide.mlir
|      1 x  com.acme:ScaledTanh (opset 1): the function needs '8 <= n', which is '8 <= 4' here and does not hold
|            at: node 'n1' (com.acme:ScaledTanh)
! error[W0207]: model.onnx: 1 node is not supported
? 1
$ sed 's/, weft.otherwise = 0.0 : f32//' scaled_tanh.mlir > strict.mlir && weft check model.onnx --op com.acme:ScaledTanh=strict.mlir
|      1 x  com.acme:ScaledTanh (opset 1): argument 'bias' of the function is not given, and has no 'weft.otherwise'
|            at: node 'n2' (com.acme:ScaledTanh)
! error[W0207]: model.onnx: 1 node is not supported
? 1
$ python3 make_custom.py note.onnx ScaledTanh,note=loud && weft check note.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir -t x86:v3
| note.onnx: can be compiled for x86:v3; 1 kernel, peak = 0 B
$ python3 make_custom.py mode.onnx ScaledTanh,mode=loud && weft check mode.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir
|      1 x  com.acme:ScaledTanh (opset 1): attribute 'mode' means nothing to the function
|            at: node 'n0' (com.acme:ScaledTanh)
! error[W0207]: mode.onnx: 1 node is not supported
? 1
$ python3 make_custom.py three.onnx ScaledTanh+bias+bias && weft check three.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir
|      1 x  com.acme:ScaledTanh (opset 1): the node has 3 inputs, but the function takes 2
|            at: node 'n0' (com.acme:ScaledTanh)
! error[W0207]: three.onnx: 1 node is not supported
? 1
$ python3 make_custom.py whole.onnx ScaledTanh,alpha=2 && weft check whole.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir
! error[W0201]: whole.onnx: node 'n0' (com.acme:ScaledTanh): attribute 'alpha' is of kind int, but must be float
? 1

# Files that are no functions.
$ weft check model.onnx --op com.acme:ScaledTanh=nothing.mlir
! error[W0208]: nothing.mlir: cannot be read: No such file or directory
? 1
$ echo 'func.func @f(' > cut.mlir && weft check model.onnx --op com.acme:ScaledTanh=cut.mlir
! error[W0208]: cut.mlir:1:14: expected non-function type
? 1
$ weft check model.onnx --op com.acme:ScaledTanh
! error: '--op com.acme:ScaledTanh' is not understood
!   hint: write DOMAIN:NAME=FILE.mlir
? 2
$ weft check model.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir --op com.acme:ScaledTanh=flat.mlir
! error[W0208]: flat.mlir: operator com.acme:ScaledTanh is given twice
? 1
$ cat > recursive.mlir <<'END'
$+ func.func @f(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
$+ %0 = func.call @f(%x) : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
$+ return %0 : !weft.tensor<[n], f32>
$+ }
$+ END
$ weft check model.onnx --op com.acme:ScaledTanh=recursive.mlir
! error[W0208]: recursive.mlir: function 'f': it calls itself
? 1
$ weft check layers.mlir --op com.acme:ScaledTanh=scaled_tanh.mlir
! error[W0208]: layers.mlir: only ONNX models have operators that can be given
? 1

# One that no node needs is worth a word.
$ weft check model.onnx --op com.acme:ScaledTanh=scaled_tanh.mlir --op com.acme:Other=scaled_tanh.mlir -t x86:v3
| model.onnx: can be compiled for x86:v3; 1 kernel, peak = 0 B
! warning: model.onnx: operator com.acme:Other is given, but no node needs it

# Sizes may be solved from dimensions, or be attributes; loops and sizes that data decide are allowed.
$ cat > halves.mlir <<'END'
$+ func.func @halves(%x: !weft.tensor<[b, 2*h], f32>) -> !weft.tensor<[b, k, h], f32>
$+ attributes {weft.symbols = #weft.symbols<b, h, k bound i : "i <= k">, weft.sizes = {k = "times"}} {
$+ %zero = weft.fill 0.0 : f32 -> !weft.tensor<[], f32>
$+ %last, %all = weft.loop "i" trips [k] (%zero) : (!weft.tensor<[], f32>) -> (!weft.tensor<[], f32>, !weft.tensor<[k, b, h], f32>) {
$+ ^bb0(%sum: !weft.tensor<[], f32>):
$+ %one = weft.fill 1.0 : f32 -> !weft.tensor<[], f32>
$+ %next = weft.add %sum, %one : (!weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[], f32>
$+ %half = weft.slice %x from [0, h] size [b, h] step [1, 1] : (!weft.tensor<[b, 2*h], f32>) -> !weft.tensor<[b, h], f32>
$+ %each = weft.mul %half, %next : (!weft.tensor<[b, h], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[b, h], f32>
$+ weft.yield %next, %each : !weft.tensor<[], f32>, !weft.tensor<[b, h], f32>
$+ }
$+ %0 = weft.transpose %all [1, 0, 2] : (!weft.tensor<[k, b, h], f32>) -> !weft.tensor<[b, k, h], f32>
$+ return %0 : !weft.tensor<[b, k, h], f32>
$+ }
$+ END
$ python3 make_custom.py halves.onnx Halves,times=3 && weft verify halves.onnx --op com.acme:Halves=halves.mlir --dim batch=2
| outputs  v1  f32[2, 3, 2]  no difference
! warning: halves.onnx: output 'v1' is declared with another shape than [batch, 3, 2], which it has
! inputs   x  f32[2, 4]  generated, seed 1, uniform in -1..1
!          bias  f32[4]  generated, seed 1, uniform in -1..1
$ python3 make_custom.py halves.onnx Halves && weft verify halves.onnx --op com.acme:Halves=halves.mlir --dim batch=2
! error[W0207]: halves.onnx: node 'n0' (com.acme:Halves): attribute 'times' is missing, which is 'k' of the function
? 1
