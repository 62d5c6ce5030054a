# Programs are read back beside the model, wherever it is: files are named as from its folder, and bytes that lie in none stand at the end.
$ python3 make_weights.py there && weft compile -q there/model.onnx -o direct.weft && mkdir elsewhere
$ for phase in import graph fuse plan; do
$+  (cd elsewhere && weft compile -q $PWD/../there/model.onnx --stop-after $phase) > there/model.mlir
$+  weft compile -q there/model.mlir --stop-after $phase | diff there/model.mlir -
$+ done
$ grep -o 'weft.weight .* bytes' there/model.mlir
| weft.weight @v from "#v" at 0 bytes
| weft.weight @w from "model.onnx" at 1532 bytes
| weft.weight @u from "below/u.data" at 64 bytes
| weft.weight @t from "./#v" at 64 bytes
$ weft compile -q there/model.mlir -o read.weft && cmp direct.weft read.weft
$ weft verify -q there/model.mlir --dim batch=3 && weft eval there/model.onnx --dim batch=3 > numbers.txt
$ weft eval there/model.mlir --dim batch=3 | diff numbers.txt -

# Elsewhere it is said what is missing.
$ cp there/model.mlir elsewhere && weft compile elsewhere/model.mlir
! error[W0204]: elsewhere/model.mlir: weight 'w': 'model.onnx': cannot be opened: no such file or directory
!   hint: files of weights lie in the folder of the program or below it: move the program there, or copy them
? 1
$ cp -r there/model.onnx there/below there/#v elsewhere && weft compile -q elsewhere/model.mlir -o read.weft && cmp direct.weft read.weft
