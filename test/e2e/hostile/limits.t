# Each limit is refused in one line that names it, by every verb that imports a model.
$ python3 make_hostile.py good functions_nested functions_exponential branches_deep loops_deep tensor_of_terabytes constants_decoded && python3 make_text.py long_chain brackets_deep regions_deep

$ for verb in compile check eval inspect verify "reduce --verb check"; do weft $verb functions_nested.onnx -q --limit nodes=9 2>&1; echo "$verb: $?"; done
| error[W0203]: functions_nested.onnx: byte 436: function 8 ('F8'): node 0: the model has more than 9 nodes, the limit (raise it with --limit nodes=N)
| compile: 1
| error[W0203]: functions_nested.onnx: byte 436: function 8 ('F8'): node 0: the model has more than 9 nodes, the limit (raise it with --limit nodes=N)
| check: 1
| error[W0203]: functions_nested.onnx: byte 436: function 8 ('F8'): node 0: the model has more than 9 nodes, the limit (raise it with --limit nodes=N)
| eval: 1
| error[W0203]: functions_nested.onnx: byte 436: function 8 ('F8'): node 0: the model has more than 9 nodes, the limit (raise it with --limit nodes=N)
| inspect: 1
| error[W0203]: functions_nested.onnx: byte 436: function 8 ('F8'): node 0: the model has more than 9 nodes, the limit (raise it with --limit nodes=N)
| verify: 1
| error[W0203]: functions_nested.onnx: byte 436: function 8 ('F8'): node 0: the model has more than 9 nodes, the limit (raise it with --limit nodes=N); there are no parts to take away
| reduce --verb check: 1

# Functions count where they are called, so a chain of calls that doubles them ends soon, whatever is allowed within reason.
$ timeout 60 weft compile functions_exponential.onnx -q --limit nodes=1500000
! error[W0203]: functions_exponential.onnx: the model has more than 1500000 nodes after its functions are inlined, the limit (raise it with --limit nodes=N)
? 1

# A larger limit lets a deep model through.
$ weft compile -q functions_nested.onnx
! error[W0203]: functions_nested.onnx: node 'n' (f:F200): functions and branches are nested deeper than 200, the limit (raise it with --limit nesting=N)
? 1
$ weft compile -q functions_nested.onnx --limit nesting=400 -o out.weft && rm out.weft

# So many levels are safe on a usual stack, whatever they consist of.
$ for model in branches_deep.onnx loops_deep.onnx brackets_deep.mlir regions_deep.mlir; do weft compile -q $model --limit nesting=500 -o out.weft 2>&1; echo "$model: $?"; rm -f out.weft; done
| branches_deep.onnx: 0
| loops_deep.onnx: 0
| error[W0201]: brackets_deep.mlir:1:1: 'builtin.module' op can only contain attributes with dialect-prefixed names, found: 'a'
| brackets_deep.mlir: 1
| regions_deep.mlir: 0
$ weft verify -q branches_deep.onnx --limit nesting=500 --dim n=2

# Texts: operations and brackets.
$ weft check -q long_chain.mlir --limit nodes=100,nesting=10
! error[W0203]: long_chain.mlir: the text has more than 100 operations, the limit (raise it with --limit nodes=N)
? 1
$ weft check -q long_chain.mlir --limit nodes=5001
! error[W0203]: long_chain.mlir: the text has more than 5001 operations, the limit (raise it with --limit nodes=N)
? 1
$ weft check -q long_chain.mlir --limit nodes=5002
| long_chain.mlir: can be compiled for {*}
$ weft check -q long_chain.mlir --limit nodes=10000 --limit nesting=2
! error[W0203]: long_chain.mlir:1:35: brackets are nested deeper than 2, the limit (raise it with --limit nesting=N)
? 1

# Tensors of constant size, and constants that were decoded.
$ weft check -q tensor_of_terabytes.onnx
! error[W0203]: tensor_of_terabytes.onnx: node 'n' (ConstantOfShape): a tensor of '!weft.tensor<[2097152, 1048576], f32>' has more than 1099511627776 bytes, the limit (raise it with --limit tensor-bytes=SIZE)
? 1
$ weft check -q constants_decoded.onnx --limit tensor-bytes=7KiB
! error[W0203]: constants_decoded.onnx: node 'n' (Add): a tensor of '!weft.tensor<[1000], i64>' has more than 7168 bytes, the limit (raise it with --limit tensor-bytes=SIZE)
? 1
$ weft check -q constants_decoded.onnx --limit tensor-bytes=8KiB
| constants_decoded.onnx: can be compiled for {*}

# The flag itself.
$ for limit in nodes=0 nodes=many nodes bogus=1 nesting=501 memory=lots tensor-bytes= ,; do weft check good.onnx --limit $limit; echo "$?"; done
| 2
| 2
| 2
| 2
| 2
| 2
| 2
| 2
! error: '--limit nodes=0' needs a whole number of 1 or more
!   hint: write nodes=N, nesting=N, tensor-bytes=SIZE or memory=SIZE, with commas between them
! error: '--limit nodes=many' needs a whole number of 1 or more
!   hint: write nodes=N, nesting=N, tensor-bytes=SIZE or memory=SIZE, with commas between them
! error: '--limit nodes' needs a whole number of 1 or more
!   hint: write nodes=N, nesting=N, tensor-bytes=SIZE or memory=SIZE, with commas between them
! error: '--limit bogus=1' is not understood
!   hint: write nodes=N, nesting=N, tensor-bytes=SIZE or memory=SIZE, with commas between them
! error: '--limit nesting=501' is more than the 500 levels that are safe
! error: '--limit memory=lots' needs a size such as 64M or 1.5GiB
!   hint: write nodes=N, nesting=N, tensor-bytes=SIZE or memory=SIZE, with commas between them
! error: '--limit tensor-bytes=' needs a size such as 64M or 1.5GiB
!   hint: write nodes=N, nesting=N, tensor-bytes=SIZE or memory=SIZE, with commas between them
! error: '--limit ' is not understood
!   hint: write nodes=N, nesting=N, tensor-bytes=SIZE or memory=SIZE, with commas between them
