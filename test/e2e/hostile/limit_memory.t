$ python3 make_hostile.py good && python3 make_text.py long_chain

# The process's own memory. Nothing is left behind.
$ weft compile -q good.onnx --limit memory=1M -o out.weft
! error[W0203]: good.onnx: 'weft compile' needs more than 1.00 MiB, the compile-time memory limit (raise it with --limit memory=SIZE)
? 1
$ weft compile -q good.onnx --limit memory=1M -o out.weft --json
| {
|   "schema": "weft.error/1",
|   "exit": 1,
|   "code": "W0203",
|   "message": "good.onnx: 'weft compile' needs more than 1.00 MiB, the compile-time memory limit (raise it with --limit memory=SIZE)",
|   "hint": ""
| }
! error[W0203]: good.onnx: 'weft compile' needs more than 1.00 MiB, the compile-time memory limit (raise it with --limit memory=SIZE)
? 1
$ TMPDIR=$PWD weft verify -q long_chain.mlir --limit memory=16M --dim n=2
! error[W0203]: long_chain.mlir: 'weft verify' needs more than 16.0 MiB, the compile-time memory limit (raise it with --limit memory=SIZE)
? 1
$ ls | grep -v -e onnx -e mlir -e make_ -e refuse -e cut
? 1
$ weft compile -q good.onnx --limit memory=4GiB -o out.weft && rm out.weft
