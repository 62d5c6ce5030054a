# What products read is rounded in the program, which is compiled as it says; against the model as it is, the answer moves.
$ weft compile -q layers.mlir --compute bf16 --stop-after graph > rounded.mlir && grep -c "weft.convert.* to bf16" rounded.mlir
| 2
$ weft compile -q layers.mlir --compute bf16 -o narrow.weft && weft verify -q rounded.mlir narrow.weft --dim batch=5
$ weft verify -q layers.mlir --compute bf16 --dim batch=5
! error: output 'y': {*}
? 3
$ weft verify layers.mlir --compute bf16 --dim batch=5 --tol 0.1 --bisect=passes 2>/dev/null | grep "round-operands\|^first"
|          weft-round-operands        {#}    {#}
| first    no pass changes an output by more than the tolerance
$ weft check layers.mlir --compute f16 -t x86:v3
| layers.mlir: can be compiled for x86:v3; 4 kernels, peak = {*}
$ weft compile layers.mlir --compute f16 -t x86:v3 -o slow.weft 2>&1 | grep note
| note: x86:v3 has no unit for products of f16: they take the time of f32 or more, and save memory only

# The file says what was asked for.
$ weft inspect narrow.weft | sed -n 2,3p
| numerics compute bf16
| main({*}
$ weft compile -q layers.mlir --compute f16 --weights f16 --keep-f32 '/layer/*' --keep-f32 '*MatMul' --accuracy exact -o kept.weft && weft inspect kept.weft | sed -n 2,6p
| numerics accuracy exact
|          weights f16
|          compute f16
|          kept in f32: /layer/*
|          kept in f32: *MatMul
$ weft inspect kept.weft --json | grep -A4 numerics
|   "numerics": {
|     "accuracy": "exact",
|     "weights": "f16",
|     "compute": "f16",
|     "keep_f32": ["/layer/*", "*MatMul"]
$ weft verify -q layers.mlir kept.weft --dim batch=5

# What lies between kernels takes 16 bits, in as many kernels, and the file says so; the rounded program says what it computes.
$ weft compile -q layers.mlir --compute bf16,storage -o stored.weft && weft inspect stored.weft | sed -n 2p
| numerics compute bf16,storage
$ weft compile -q layers.mlir --compute bf16,storage --stop-after graph > stored.mlir && weft verify -q stored.mlir stored.weft --dim batch=5
$ weft verify layers.mlir --compute bf16,storage --dim batch=5 --tol 0.1 --bisect=passes 2>/dev/null | grep "round-storage"
|          weft-round-storage{*}

# Where the target has a unit for it, that multiplies; the file says which kernels have one.
$ head -c 393216 /dev/zero > w.bin && weft inspect tune.mlir --why --compute bf16 -t x86:v4+bf16 | grep -c "^  multiplies pairs of bf16$"
| 1
$ weft inspect tune.mlir --why --compute bf16 -t x86:v4+vnni | grep -c multiplies
| 0
? 1
$ weft compile -q tune.mlir --compute bf16 -t x86:v4+bf16 -o pairs.weft && strings -n 20 pairs.weft | grep -o '"units":{"pairs of bf16":."weft_k_contraction_'
| "units":{"pairs of bf16":["weft_k_contraction_

# The kernel that computes an operand rounds it, too.
$ weft inspect layers.mlir --why --compute bf16 -t x86:v3 | grep "^kernel"
| kernel 1  weft_k_loop_{*}  /layer/MatMul
| kernel 2  weft_k_loop_{*}  /double/Add and 1 more
| kernel 3  {*}  /layer/MatMul
| kernel 4  weft_k_row_{*}  /layer/Softmax

# A cache that grows in place stays f32, and is read as it is without.
$ weft compile -q attend.mlir --compute bf16 -o copy.weft && weft compile -q attend.mlir --compute bf16 --in-place -o grow.weft
$ weft run -q copy.weft --dim b=2 --dim s=3 --dim p=5 -o copied.npz && weft run -q grow.weft --dim b=2 --dim s=3 --dim p=5 --expect @copied.npz --tol 0

# An operator is looked for with what is asked of the whole model, also where its products are not reached yet.
$ weft verify layers.mlir --compute bf16 --keep-f32 /layer/MatMul --dim batch=3 --tol 0 --bisect 2>/dev/null | grep first
| first    weft.contract at '/layer/MatMul', operator 3 of 4

# What cannot be.
$ weft compile layers.mlir --compute int3
! error: '--compute' is 'int3', but must be bf16, f16, bf16,storage or f16,storage
!   hint: 'weft help compile' lists the options
? 2
$ weft compile layers.mlir --compute storage
! error: '--compute' is 'storage', but must be bf16, f16, bf16,storage or f16,storage
!   hint: 'weft help compile' lists the options
? 2
$ weft compile layers.mlir --compute bf16,storage,storage
! error: '--compute' is 'bf16,storage,storage', but must be bf16, f16, bf16,storage or f16,storage
!   hint: 'weft help compile' lists the options
? 2
$ weft compile layers.mlir --keep-f32 '/layer/*'
! error: '--keep-f32' has no effect without '--compute'
!   hint: 'weft help compile' lists the options
? 2
$ weft inspect layers.mlir --compute bf16
! error: '--compute' has no effect without '--why' or '--machine'
!   hint: 'weft help inspect' lists the options
? 2
$ weft compile -q layers.mlir --compute bf16 --keep-f32 '/layers/*'
! error[W0309]: '--keep-f32 /layers/*' names no product or convolution of the model
!   hint: one of them is '/layer/MatMul'
? 2
$ weft compile -q other.mlir --compute bf16 --keep-f32 '[a'
! error[W0309]: '--keep-f32 [a' is no pattern: {*}
!   hint: {*}
? 2
$ weft check layers.mlir --compute bf16 --weights f16
! error[W0309]: weights cannot be stored as f16 where operands of products and convolutions are rounded to bf16
!   hint: '--compute bf16' rounds weights, too
? 2
$ weft compile -q layers.mlir --stop-after fuse > fused.mlir && weft compile -q fused.mlir --compute bf16
! error[W0309]: operands of products and convolutions cannot be rounded any more: the program is grouped into kernels already
!   hint: give the model that it was made from
? 2
