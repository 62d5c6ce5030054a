# Each limit is refused in one line that names it, by every verb that imports a model.
$ python3 make_hostile.py good functions_nested functions_exponential branches_deep loops_deep tensor_of_terabytes constants_decoded && python3 make_text.py long_chain brackets_deep regions_deep

$ for verb in compile check eval inspect verify "reduce --verb check"; do weft $verb good.onnx -q --limit nodes=1 2>&1; echo "$verb: $?"; done

# Functions count where they are called, so a chain of calls that doubles them ends soon, whatever is allowed within reason.
$ timeout 60 weft compile functions_exponential.onnx -q --limit nodes=1500000

# A larger limit lets a deep model through.
$ weft compile -q functions_nested.onnx
$ weft compile -q functions_nested.onnx --limit nesting=400 -o out.weft && rm out.weft

# So many levels are safe on a usual stack, whatever they consist of.
$ for model in branches_deep.onnx loops_deep.onnx brackets_deep.mlir regions_deep.mlir; do weft compile -q $model --limit nesting=500 -o out.weft 2>&1; echo "$model: $?"; rm -f out.weft; done
$ weft verify -q branches_deep.onnx --limit nesting=500 --dim n=2

# Texts: operations and brackets.
$ weft check -q long_chain.mlir --limit nodes=100,nesting=10
$ weft check -q long_chain.mlir --limit nodes=5001
$ weft check -q long_chain.mlir --limit nodes=10000 --limit nesting=2

# Tensors of constant size, and constants that were decoded.
$ weft check -q tensor_of_terabytes.onnx
$ weft check -q constants_decoded.onnx --limit tensor-bytes=7KiB
$ weft check -q constants_decoded.onnx --limit tensor-bytes=8KiB

# The flag itself.
$ for limit in nodes=0 nodes=many nodes bogus=1 nesting=501 memory=lots tensor-bytes= ,; do weft check good.onnx --limit $limit; echo "$?"; done
