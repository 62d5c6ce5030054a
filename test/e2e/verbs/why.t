# For every value that goes from kernel to kernel, why there are two; for every kernel, what nearly computed it.
$ weft inspect why.mlir --why -t x86:v4
| why.mlir  x86:v4  6 kernel calls, 5 values between them
|      1 x  the value between them is an output of the model
|      1 x  a product begins a kernel: it reads its operands many times
|      1 x  they have different dimensions
|      1 x  whole rows are read, which the tiles of the product do not hold
|      1 x  data change their places or dimensions between them
| kernel 1  weft_k_loop_{*}  /Neg
| kernel 2  weft_k_row_{*}  /Softmax
|   reads kernel 1  /Neg -> /Softmax
|     the value between them is an output of the model
| kernel 3  weft_k_loop_{*}  /Bias
| kernel 4  weft_k_product_{*}  /MatMul and 1 more
|   reads kernel 2  /Softmax -> /MatMul
|     a product begins a kernel: it reads its operands many times
|   reads kernel 3  /Bias -> /Add
|     they have different dimensions
|   not block_dots, contraction: the second matrix is no constant that panels are made of
|   tiles 8, not 16: estimated
| kernel 5  weft_k_row_{*}  /Rows
|   reads kernel 4  /Add -> /Rows
|     whole rows are read, which the tiles of the product do not hold
| kernel 6  weft_k_loop_{*}  /Abs
|   reads kernel 4  /Add -> /Abs
|     data change their places or dimensions between them: /Transpose

# Of one kernel also who reads it, and every schedule that was asked before.
$ weft inspect why.mlir --why=/MatMul -t x86:v4
| why.mlir  x86:v4  6 kernel calls, 5 values between them
| kernel 4  weft_k_product_{*}  /MatMul and 1 more
|   reads kernel 2  /Softmax -> /MatMul
|     a product begins a kernel: it reads its operands many times
|   reads kernel 3  /Bias -> /Add
|     they have different dimensions
|   read by kernel 5  /Add -> /Rows
|     whole rows are read, which the tiles of the product do not hold
|   read by kernel 6  /Add -> /Abs
|     data change their places or dimensions between them: /Transpose
|   not block_dots, contraction: the second matrix is no constant that panels are made of
|   not tile_contraction: the target has no unit for tiles
|   not integer_tile_contraction, integer_contraction: the product is not of integers summed in i32
|   not depthwise, depthwise_last, winograd, winograd_last, winograd_bytes, convolution, window_convolution: there is no convolution
|   not pool: there is no pooling
|   tiles 8, not 16: estimated

# The target decides: fewer products need fused multiply-adds, and round more than 'exact' allows.
$ weft inspect window.mlir --why -t x86:v4
| window.mlir  x86:v4  2 kernel calls, 1 value between them
|      1 x  a convolution or pooling begins a kernel: its windows read elements many times
| kernel 1  weft_k_convolution_{*}  /Skip
|   not winograd: windows are not of 3 by 3 elements, one apart
|   rows 13, not 6: estimated
|   pixels 256, not 128, 512: estimated
| kernel 2  weft_k_winograd_{*}  /Next
|   reads kernel 1  /Skip -> /Next
|     a convolution or pooling begins a kernel: its windows read elements many times
|   schedule winograd, not convolution: estimated
$ weft inspect window.mlir --why=/Next -t x86:v4 --accuracy exact
| window.mlir  x86:v4  2 kernel calls, 1 value between them
| kernel 2  weft_k_convolution_{*}  /Next
|   reads kernel 1  /Skip -> /Next
|     a convolution or pooling begins a kernel: its windows read elements many times
|   not block_dots, tile_contraction, contraction, integer_tile_contraction, integer_contraction: there is no product
|   not depthwise: the channels do not have a filter each
|   not depthwise_last, winograd_last, winograd_bytes: channels are not the last dimension
|   not winograd: it rounds more than the operators do, and exact results are asked for
|   rows 13, not 6: estimated
|   pixels 256, not 128, 512: estimated

# So do sizes: tiles cover a small image in vain.
$ weft inspect window.mlir --why=2 --dim n=1 -t x86:v4
| window.mlir  x86:v4  2 kernel calls, 1 value between them
| kernel 2  weft_k_convolution_{*}  /Next
|   reads kernel 1  /Skip -> /Next
|     a convolution or pooling begins a kernel: its windows read elements many times
|   not block_dots, tile_contraction, contraction, integer_tile_contraction, integer_contraction: there is no product
|   not depthwise: the channels do not have a filter each
|   not depthwise_last, winograd_last, winograd_bytes: channels are not the last dimension
|   not winograd: the image is so small that tiles of results cover much in vain
|   rows 13, not 6: estimated
|   pixels 256, not 128, 512: estimated

# A unit for tiles multiplies bf16.
$ truncate -s 393216 w.bin && weft inspect tune.mlir --why -t x86:v4+amx | grep "^kernel 1\|not tile"
| kernel 1  weft_k_contraction_{*}  /layer/MatMul
|   not tile_contraction: the rows are not bf16 in memory
$ weft inspect tune.mlir --why --compute bf16 -t x86:v4+amx | grep "^kernel\|not tile"
| kernel 1  weft_k_loop_{*}  /layer/MatMul
| kernel 2  weft_k_tile_contraction_{*}  /layer/MatMul

$ weft inspect why.mlir --why=6 --json -t x86:v4
| {
|   "schema": "weft.why/1",
|   "file": "why.mlir",
|   "target": "x86:v4",
|   "kernels": [
|     {
|       "number": 6,
|       "function": "main",
|       "name": "weft_k_loop_{*}",
|       "schedule": "loop",
|       "unit": "f32",
|       "nodes": ["/Abs"],
|       "reads": [
|         {
|           "kernel": 4,
|           "from": "/Add",
|           "to": "/Abs",
|           "reason": "data change their places or dimensions between them",
|           "by": "/Transpose"
|         }
|       ],
|       "declined": [
|         {
|           "schedule": "block_dots",
|           "reason": "there is no product",
|           "other_kind": true
|         },
|         {
|           "schedule": "tile_contraction",
|           "reason": "there is no product",
|           "other_kind": true
|         },
|         {
|           "schedule": "contraction",
|           "reason": "there is no product",
|           "other_kind": true
|         },
|         {
|           "schedule": "integer_tile_contraction",
|           "reason": "there is no product",
|           "other_kind": true
|         },
|         {
|           "schedule": "integer_contraction",
|           "reason": "there is no product",
|           "other_kind": true
|         },
|         {
|           "schedule": "depthwise",
|           "reason": "there is no convolution",
|           "other_kind": true
|         },
|         {
|           "schedule": "depthwise_last",
|           "reason": "there is no convolution",
|           "other_kind": true
|         },
|         {
|           "schedule": "winograd",
|           "reason": "there is no convolution",
|           "other_kind": true
|         },
|         {
|           "schedule": "winograd_last",
|           "reason": "there is no convolution",
|           "other_kind": true
|         },
|         {
|           "schedule": "winograd_bytes",
|           "reason": "there is no convolution",
|           "other_kind": true
|         },
|         {
|           "schedule": "convolution",
|           "reason": "there is no convolution",
|           "other_kind": true
|         },
|         {
|           "schedule": "window_convolution",
|           "reason": "there is no convolution",
|           "other_kind": true
|         },
|         {
|           "schedule": "pool",
|           "reason": "there is no pooling",
|           "other_kind": true
|         },
|         {
|           "schedule": "product",
|           "reason": "there is no product",
|           "other_kind": true
|         },
|         {
|           "schedule": "tile_attention",
|           "reason": "there is no softmax between two products",
|           "other_kind": true
|         },
|         {
|           "schedule": "attention",
|           "reason": "there is no softmax between two products",
|           "other_kind": true
|         },
|         {
|           "schedule": "serial",
|           "reason": "no operator has loops of its own",
|           "other_kind": true
|         },
|         {
|           "schedule": "row",
|           "reason": "there is no softmax, normalisation or reduction",
|           "other_kind": true
|         },
|         {
|           "schedule": "columns",
|           "reason": "there is no reduction",
|           "other_kind": true
|         }
|       ],
|       "kernel": "{*}",
|       "schedules": ["loop"],
|       "choices": []
|     }
|   ]
| }

# What cannot be told.
$ weft inspect why.mlir --why=/Sigmoid
! error: '--why=/Sigmoid': no kernel has that number, name or node
!   hint: weft inspect why.mlir --why lists them
? 2
$ weft inspect why.mlir --why=7
! error: '--why=7': no kernel has that number, name or node
!   hint: weft inspect why.mlir --why lists them
? 2
$ weft inspect why.mlir --why -t x86:v9
! error[W0301]: unknown target 'x86:v9'; the nearest is 'x86:v2'; known are x86:host, x86:v2, x86:v3, x86:v3+vnni, x86:v4, x86:v4+vnni, x86:v4+bf16, x86:v4+amx; 'weft targets' lists all
? 2
$ weft compile why.mlir -q && weft inspect why.weft --why
! error: 'why.weft' is compiled already, and artifacts keep no reasons
!   hint: weft inspect MODEL --why, with the model it was compiled from
? 2
