# An input whose contents never change becomes a constant of the program and leaves its signature.
$ python3 make_reduce.py sum.onnx axes.npy && weft compile sum.onnx
! error[W0207]: sum.onnx: node 'sum' (ReduceSum): input 1 ('axes') depends on the contents of tensors, but is needed while compiling
!   hint: an input whose contents never change can be given with '--constant NAME=VALUE'
? 1
$ weft compile sum.onnx --constant axes=1 -o sum.weft -q && weft inspect sum.weft | grep main
| main(x: f32[batch, 4]) -> y: f32[batch]
$ weft run sum.weft --dim batch=3 --input x=range 2>/dev/null
| outputs  y  f32[3]  min 6           mean 22          max 38          nan 0
$ weft eval sum.onnx --constant axes=-1 --dim batch=3 --input x=range 2>/dev/null
| outputs  y  f32[3]  min 6           mean 22          max 38          nan 0
$ weft verify sum.onnx --constant axes=@axes.npy --dim batch=3 2>/dev/null
| outputs  y  f32[]  no difference
$ weft inspect sum.onnx --constant axes=0
| sum.onnx  not compiled
| main(x: f32[batch, 4]) -> y: f32[4]
| symbols  0 ≤ batch
| compute  1 operator
|          1 x  reduce
!   next: weft compile sum.onnx
$ weft check sum.onnx --constant axes=0
| sum.onnx: can be compiled for {*}; 1 kernel, peak = 0 B

# What does not fit the input is refused.
$ weft check sum.onnx --constant axis=0
! error[W0205]: sum.onnx: the model has no input 'axis', for which a constant is given
? 1
$ weft check sum.onnx --constant x=@axes.npy
! error[W0205]: sum.onnx: input 'x' has elements of type f32, but the constant for it has elements of type i64
? 1
$ weft check sum.onnx --constant x=1,2
! error[W0205]: sum.onnx: input 'x' has another shape than [2], which is the constant's
? 1
$ weft check sum.onnx --constant axes=0 --constant axes=1
! error[W0205]: sum.onnx: input 'axes' is given two constants
? 1
$ weft check sum.onnx --constant axes=@no.npy
! error: no.npy: cannot be read: No such file or directory
? 1
$ weft check sum.onnx --constant axes=one
! error: '--constant axes=one' is not understood
!   hint: write NAME=@FILE.npy or whole numbers, NAME=1,2,3
? 2
$ weft check sum.onnx --constant axes
! error: '--constant axes' is not understood
!   hint: write NAME=@FILE.npy or whole numbers, NAME=1,2,3
? 2

# Only models have inputs that are not yet compiled in, and only ONNX models have constants for them.
$ weft inspect sum.weft --constant axes=1
! error: '--constant' is for models, but 'sum.weft' is compiled already
? 2
$ weft check layers.mlir --constant x=1
! error[W0205]: layers.mlir: only inputs of ONNX models can be given constants
? 1
