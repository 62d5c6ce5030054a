# One line says what was written.
$ weft compile layers.mlir
| layers.weft  {*} (weights 0 B, code {*})  x86:{*}  in {#} s
!   import    layers.mlir {*} s
!   fuse      3 kernel calls {*} s
!   plan      peak = 128·batch B {*} s
!   code      3 kernels {*} s
!   next: weft run layers.weft · weft inspect layers.weft

# The limit is judged at the upper bounds of all symbols, before anything is written.
$ rm layers.weft && weft compile layers.mlir --max-memory 64K
!   import    layers.mlir {*} s
!   fuse      3 kernel calls {*} s
! error[W0313]: --max-memory 64.0 KiB cannot be promised, because nothing bounds 'batch'
!   hint: give a range, as in --dim batch=1..512
? 1
$ weft compile layers.mlir --max-memory 64K --dim batch=1..1000
!   import    layers.mlir {*} s
!   fuse      3 kernel calls {*} s
! error[W0312]: a call could need {*} (arena 125.0 KiB, scratch {*} per worker) at batch = 1000, but the limit is 64.0 KiB
!   hint: lower the upper bounds with --dim, or raise --max-memory
? 1
$ test -e layers.weft
? 1
$ weft compile layers.mlir -q --max-memory 64K --dim batch=1..200 && test -e layers.weft
$ weft compile layers.mlir --max-memory 0
! error: '--max-memory' must be more than 0
? 2

# The program after a phase, on stdout, and back in.
$ weft compile layers.mlir --stop-after import --dim batch=1..8 | grep -c -e '"batch <= 8"' -e weft.contract
| 2
$ weft compile layers.mlir --stop-after fuse > fused.mlir && grep -c weft.kernel fused.mlir
| 3
!   fuse      3 kernel calls {*} s
$ weft compile -q fused.mlir && weft verify -q fused.mlir fused.weft
$ mkdir planned && weft compile -q layers.mlir --stop-after plan > planned/layers.mlir && grep -c plan.launch planned/layers.mlir
| 3
$ weft compile -q layers.mlir && weft compile -q planned/layers.mlir -o planned/layers.weft && cmp layers.weft planned/layers.weft
$ weft compile layers.mlir --stop-after lunch
! error[W0305]: there is no phase 'lunch'
!   hint: the phases are import, partition, graph, fuse and plan
? 2
$ weft compile layers.mlir --stop-after fuse --json | grep schema
|   "schema": "weft.program/1",
!   fuse      3 kernel calls {*} s

# Programs and temporaries are kept where they are asked for.
$ weft compile layers.mlir --dump-ir ir/deep --save-temps temps && ls ir/deep && ls temps | sed 's/_[0-9a-f]*[.]/_HASH./'
| layers.weft  {*} (weights 0 B, code {*})  x86:{*}  in {#} s
| 0-import.mlir
| 1-partition.mlir
| 2-graph.mlir
| 3-fuse.mlir
| 4-plan.mlir
| weft_host.o
| weft_k_loop_HASH.mlir
| weft_k_loop_HASH.o
| weft_k_product_HASH.mlir
| weft_k_product_HASH.o
| weft_k_row_HASH.mlir
| weft_k_row_HASH.o
!   import    layers.mlir {*} s
!   fuse      3 kernel calls {*} s
!   plan      peak = 128·batch B {*} s
!   code      3 kernels {*} s
!   dump-ir: ir/deep
!   save-temps: temps
!   next: weft run layers.weft · weft inspect layers.weft
$ touch file && weft compile layers.mlir --dump-ir file/x
!   import    layers.mlir{*} s
! error[W0311]: cannot write 'file/x/0-import.mlir': Not a directory
? 1
$ weft compile layers.mlir -o nowhere/layers.weft
!   import    layers.mlir {*} s
!   fuse      3 kernel calls {*} s
!   plan      peak = 128·batch B {*} s
!   code      3 kernels {*} s
! error[W0310]: cannot write 'nowhere/layers.weft': No such file or directory
? 1
$ mkfifo pipe && weft compile layers.mlir -q -o pipe; test -p pipe && echo untouched
! error[W0310]: cannot write 'pipe': it is not a regular file
| untouched

# What is asked for and cannot be.
$ weft compile layers.mlir --target x86:v9
!   import    layers.mlir{*} s
! error[W0301]: unknown target 'x86:v9'; the nearest is 'x86:v2'; known are x86:host, x86:v2, x86:v3, x86:v3+vnni, x86:v4, x86:v4+vnni, x86:v4+bf16, x86:v4+amx; 'weft targets' lists all
? 2
$ weft compile layers.mlir --target x86:v4:exact
!   import    layers.mlir{*} s
! error[W0301]: unknown target 'x86:v4:exact'; known are {*}
!   hint: --target x86:v4 --accuracy exact
? 2
$ weft compile layers.mlir --dim sequence=4
! error[W0302]: fact 'sequence == 4' speaks of 'sequence', which the model does not have
!   hint: its symbols are: batch
? 2
$ weft compile layers.mlir --dim batch=4..2
! error: '--dim batch=4..2' must be a size, a range or a multiple
!   hint: write seq=128, seq=1..512 or seq=multiple-of(8)
? 2
$ weft compile layers.mlir --assume 'batch <='
! error[W0302]: fact 'batch <=': expected a number, a symbol, a function or '(' at character 9
? 2
$ weft compile layers.mlir --dim batch=0
! error[W0303]: no value of 'batch' satisfies all facts
? 1
$ weft compile nothing.onnx
! error[W0200]: cannot read 'nothing.onnx': No such file or directory
? 1
$ weft compile nothing.onnx --json
| {
|   "schema": "weft.error/1",
|   "exit": 1,
|   "code": "W0200",
|   "message": "cannot read 'nothing.onnx': No such file or directory",
|   "hint": ""
| }
! error[W0200]: cannot read 'nothing.onnx': No such file or directory
? 1
$ echo 'func.func @main() { return' > broken.mlir && weft compile broken.mlir
! error[W0201]: broken.mlir:1:27: expected operation name in quotes
? 1

$ weft compile layers.mlir --dim batch=1..4 --assume '5 <= batch'
! error[W0303]: no value of 'batch' satisfies all facts
? 1
$ weft compile layers.mlir --dim batch=5 --assume 'mod(batch, 2) == 0'
! error[W0303]: no value of 'batch' satisfies all facts
? 1

# A size that is given is a number from then on, and checked when the model is called.
$ weft compile -q layers.mlir --dim batch=4 -o four.weft && weft inspect four.weft | grep -e main -e "'x': dimension 0" -e batch
| main(x: f32[4, 48], w: f32[48, 32]) -> (y: f32[4, 32], kept: f32[4, 48])
| checks   input 'x': dimension 0 equals 4
$ npy x3.npy '<f4' 3,48 1 && npy x4.npy '<f4' 4,48 1 && weft run -q four.weft -i x=@x4.npy -i w=rand
$ weft run -q four.weft -i x=@x3.npy -i w=rand
! error[W0411]: input 'x': dimension 0 is 3, but 4 is needed
!   hint: 'x' is f32 [3, 48] (x3.npy)
? 1
$ weft run -q four.weft --dim batch=4
! error: '--dim batch=4': there is no symbol 'batch'
!   hint: all sizes of this model are fixed
? 2

# ONNX models the same, and they are imported with what was promised.
$ python3 make_onnx.py chain.onnx Relu Neg && weft compile -q chain.onnx --dim batch=4 -o four.weft && weft inspect four.weft | grep -e main -e batch
| main(x: f32[4, 4]) -> v2: f32[4, 4]
$ npy x3.npy '<f4' 3,4 1 && weft run -q four.weft -i x=@x3.npy
! error[W0411]: input 'x': dimension 0 is 3, but 4 is needed
!   hint: 'x' is f32 [3, 4] (x3.npy)
? 1
$ weft compile -q chain.onnx --dim batch=1..8 -o eight.weft && weft inspect eight.weft | grep symbols
| symbols  1 ≤ batch ≤ 8
$ weft compile chain.onnx --dim sequence=4
! error[W0302]: fact 'sequence == 4' speaks of 'sequence', which the model does not have
!   hint: its symbols are: batch
? 2
$ weft compile chain.onnx --dim batch=4 --assume '5 <= batch'
! error[W0303]: fact '5 <= batch' cannot hold together with the other facts
? 1

# As a document.
$ weft compile layers.mlir --json --dim batch=1..8
| {
|   "schema": "weft.compile/1",
|   "path": "layers.weft",
|   "target": "x86:{*}",
|   "bytes": {#},
|   "weight_bytes": 0,
|   "code_bytes": {#},
|   "kernels": 3,
|   "tuned_kernels": 0,
|   "peak": "128*batch",
|   "facts": ["1 <= batch", "batch <= 8"],
|   "seconds": {#}
| }
!   import    layers.mlir {*} s
!   fuse      3 kernel calls {*} s
!   plan      peak = 128·batch B {*} s
!   code      3 kernels {*} s

# Rows that meet weights in blocks are rounded to bytes only when asked for; the program says so, and is computed as it says.
$ weft compile -q blocks.mlir --stop-after fuse | grep -c round_blocks
| 0
? 1
$ weft compile -q blocks.mlir --stop-after fuse --accuracy bytes > bytes.mlir && grep -c round_blocks bytes.mlir
| 1
$ weft compile -q blocks.mlir --accuracy bytes -o bytes.weft && weft verify -q bytes.mlir bytes.weft --dim m=7
$ weft compile blocks.mlir --accuracy sloppy
! error: '--accuracy' is 'sloppy', but must be exact, fast or bytes
!   hint: 'weft help compile' lists the options
? 2

# Ctrl-C leaves nothing, and says so with 130.
$ mkdir quiet && cp layers.mlir quiet && cd quiet && sh ../interrupt compile -q layers.mlir -o slow.weft && ls
| interrupted
| layers.mlir

# Several targets are one file, the best first, whatever order they are given in; building twice gives the same bytes.
$ weft compile layers.mlir -t x86:v2,v3 -o both.weft --json 2>/dev/null | grep -e target -e kernels
|   "target": "x86:v3, x86:v2",
|   "kernels": 6,
|   "tuned_kernels": 0,
$ weft compile -q layers.mlir -t x86:v3,v2 -o again.weft && cmp both.weft again.weft
$ weft inspect both.weft | sed -n 1,3p
| both.weft  weft {*}  x86:v3  {*}
| targets  x86:v3  (used here)
|          x86:v2
$ weft inspect both.weft -t x86:v2 -v | sed -n 2,3p
| targets  x86:v3  sse4.2 popcnt avx avx2 fma f16c bmi bmi2 lzcnt movbe
|          x86:v2  (used here)  sse4.2 popcnt
$ weft inspect both.weft --json | python3 -c "
$+ import json, sys
$+ print([(v['target'], v['used'], v['missing'], v['features'][-1]) for v in json.load(sys.stdin)['variants']])"
| [('x86:v3', True, '', 'movbe'), ('x86:v2', False, '', 'popcnt')]
$ weft verify -q layers.mlir both.weft --dim batch=3
$ weft run -q both.weft -t x86:v2 --dim batch=3 -o v2.npz && weft run -q both.weft --dim batch=3 --expect @v2.npz
$ weft run both.weft -t x86:v4 --dim batch=3
! error[W0511]: both.weft: is not compiled for 'x86:v4', but for 'x86:v3', 'x86:v2'
? 1
$ weft inspect layers.mlir -t x86:v2
! error: '--target' is for artifacts, but 'layers.mlir' is not compiled
!   hint: with --why it says what the model is compiled for
? 2
$ weft compile layers.mlir -t x86:v3, -o both.weft
!   import    layers.mlir{*} s
! error[W0301]: unknown target 'x86:v3,'; the nearest is 'x86:v3'; known are {*}
? 2
$ weft compile layers.mlir -t x86:v3,arm:v8 -o both.weft
!   import    layers.mlir{*} s
! error[W0301]: target 'x86:v3,arm:v8' names several families of processors: a file is for one, and for devices beside it
? 2
$ weft compile layers.mlir -t x86:v2,v3 -o both.weft --dump-ir ir2 --save-temps temps2 && ls ir2 && ls temps2 | grep host
| both.weft  {*} (weights 0 B, code {*})  x86:v3, x86:v2  in {#} s
| 0-import.x86-v2.mlir
| 0-import.x86-v3.mlir
| 1-partition.x86-v2.mlir
| 1-partition.x86-v3.mlir
| 2-graph.x86-v2.mlir
| 2-graph.x86-v3.mlir
| 3-fuse.x86-v2.mlir
| 3-fuse.x86-v3.mlir
| 4-plan.x86-v2.mlir
| 4-plan.x86-v3.mlir
| weft_host.x86-v2.o
| weft_host.x86-v3.o
!   import    layers.mlir {*} s
!   fuse      x86:v3: 3 kernel calls {*} s
!   plan      x86:v3: peak = 128·batch B {*} s
!   fuse      x86:v2: 3 kernel calls {*} s
!   plan      x86:v2: peak = 128·batch B {*} s
!   code      6 kernels {*} s
!   dump-ir: ir2
!   save-temps: temps2
!   next: weft run both.weft · weft inspect both.weft

# Lines of elements that share bytes cannot be computed; the message says what to do.
$ echo 'func.func @main(%x: !weft.tensor<[6], i4>) -> !weft.tensor<[6], i4> { %0 = weft.cumulate sum %x axis 0 : (!weft.tensor<[6], i4>) -> !weft.tensor<[6], i4> return %0 : !weft.tensor<[6], i4> }' > narrow.mlir && weft compile -q narrow.mlir
! error[W0300]: narrow.mlir:1:76: results of 4 bits an element are not supported here; compute with 8 bits and convert
? 1
