# What a description of hardware says of a program, whoever wrote that. Nothing is found here.
$ weft check hardware.mlir --hardware accelerator
| hardware.mlir: keeps to 'accelerator'; 3 operations in integers, 1 in floats
$ weft check hardware.mlir --hardware accelerator --json | tr -d ' \n'
| {"schema":"weft.hardware-check/1","model":"hardware.mlir","hardware":"accelerator","keeps":true,"integers":3,"floats":1,"narrow_sums":0,"findings":[]}

# Programs with one thing broken each: every operation that it concerns, where it stands, and why. A zero point of the weight, and one of everything else:
$ sed '/%none = /s/fill 0/fill 3/' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: zero point 3 of its weight, the description allows 0
! error[W0331]: broken.mlir: 1 operation breaks the description 'accelerator'
? 1
$ sed '/%zero = /s/fill 0/fill -5/' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: zero point -5 of what it reads, the description allows 0; zero point -5 of what it gives, the description allows 0
|   /sum: add: zero point -5 of operand 1, the description allows 0; zero point -5 of operand 2, the description allows 0; zero point -5 of what it gives, the description allows 0
|   /pool: pool: zero point -5 of what it reads, the description allows 0
! error[W0331]: broken.mlir: 3 operations break the description 'accelerator'
? 1
# A scale that is no power of two, of the weight, of a result, and one that the program computes.
$ sed 's/fill 0.25/fill 0.3/' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: scale 0.3 of its weight, the description allows powers of two
! error[W0331]: broken.mlir: 1 operation breaks the description 'accelerator'
? 1
$ sed '/%aq = /s/%s/%u/; /%ar = /s/%s/%u/; /%none = /a\  %u = weft.fill 0.75 : f32 -> !weft.tensor<[], f32>' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: scale 0.75 of what it gives, the description allows powers of two
|   /sum: add: scale 0.75 of operand 1, the description allows powers of two
! error[W0331]: broken.mlir: 2 operations break the description 'accelerator'
? 1
$ sed '/%s = /d; s/(%x: /(%s: !weft.tensor<[], f32>, %x: /' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: the scale of what it reads is computed, the description allows powers of two; the scale of what it gives is computed, the description allows powers of two
|   /sum: add: the scale of operand 1 is computed, the description allows powers of two; the scale of operand 2 is computed, the description allows powers of two; the scale of what it gives is computed, the description allows powers of two
|   /pool: pool: the scale of what it reads is computed, the description allows powers of two
! error[W0331]: broken.mlir: 3 operations break the description 'accelerator'
? 1
# Scales per column, and per row.
$ sed 's/%t = .*/%t = weft.constant dense<0.5> : tensor<1x4xf32> -> !weft.tensor<[1, 4], f32>/; /%wr = /s/<\[\], f32>/<[1, 4], f32>/' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: its weight has a scale per column, the description allows one per tensor
! error[W0331]: broken.mlir: 1 operation breaks the description 'accelerator'
? 1
$ sed '/%none = /a\  %r = weft.constant dense<[[0.5], [0.25], [1.0]]> : tensor<3x1xf32> -> !weft.tensor<[3, 1], f32>' hardware.mlir | sed 's/\[m, /[3, /g; s/#weft.symbols<.*>}/#weft.symbols<>}/; /%x[qr] = /s/%s/%r/; /%x[qr] = /s/<\[\], f32>/<[3, 1], f32>/' > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: what it reads has a scale per row, the description allows one per tensor
|   /sum: add: operand 2 has a scale per row, the description allows one per tensor
! error[W0331]: broken.mlir: 2 operations break the description 'accelerator'
? 1
# Other bytes; sizes that are no multiples; a weight that is computed.
$ sed '/%\(none\|w\|wr\) = /s/\bi8/ui8/g; s/4x4xi8/4x4xui8/; /%w = /s/-\([0-9]\)/\1/g' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: its weight is ui8, the description allows i8
! error[W0331]: broken.mlir: 1 operation breaks the description 'accelerator'
? 1
$ sed 's/m, 4/m, 6/g; s/m, 2/m, 3/g; s/4x4/6x6/; s/\[4, 4\]/[6, 6]/g; s/dense<.*> : tensor/dense<1> : tensor/' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: the size that is summed is 6, the description allows multiples of 4; the number of columns is 6, the description allows multiples of 4
! error[W0331]: broken.mlir: 1 operation breaks the description 'accelerator'
? 1
$ sed '/%w = /d; s/(%x: /(%w: !weft.tensor<[4, 4], i8>, %x: /' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   /product: contract: its second operand is computed, the description allows a constant
! error[W0331]: broken.mlir: 1 operation breaks the description 'accelerator'
? 1
# Integers where it has none: an operator of bytes, and integers of 16 bits.
$ sed '/%bq = /a\  %d = weft.maximum %bq, %bq : (!weft.tensor<[m, 4], i8>, !weft.tensor<[m, 4], i8>) -> !weft.tensor<[m, 4], i8>' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   broken.mlir:16: maximum: computes in integers, the description has none of it
! error[W0331]: broken.mlir: 1 operation breaks the description 'accelerator'
? 1
$ sed '/%y = /i\  %i = weft.fill 0 : i16 -> !weft.tensor<[], i16>\n  %yq = weft.quantize %cr, %s, %i : (!weft.tensor<[m, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i16>) -> !weft.tensor<[m, 2], i16>' hardware.mlir > broken.mlir; weft check broken.mlir --hardware accelerator
|   broken.mlir:19: quantize: gives or reads i16, which the description has nowhere
! error[W0331]: broken.mlir: 1 operation breaks the description 'accelerator'
? 1

# Sums in fewer bits than all: which hold what any input makes of these weights, and which do not. What is read are bytes from 0 to 255 here, and two products of
# weights 64 are the most that 16 bits hold, or one of 65 in a column of small ones.
$ sed '/%w = /!{/%wr = /!{/%none = /!s/\bi8/ui8/g}}' hardware.mlir > pairs.mlir; weft check pairs.mlir --hardware x86-v3-pairs
| pairs.mlir: keeps to 'x86-v3-pairs'; 2 operations in integers, 2 in floats; narrow sums cannot overflow for any input (tested with the worst one)
$ sed '/%w = /s/-64, 1,/65, 1,/' pairs.mlir > larger.mlir; weft check larger.mlir --hardware x86-v3-pairs
| larger.mlir: keeps to 'x86-v3-pairs'; 2 operations in integers, 2 in floats; narrow sums cannot overflow for any input (tested with the worst one)
$ sed '/%w = /s/-64, 1,/-66, -65,/; /%w = /s/1, -2/-66, -2/' pairs.mlir > broken.mlir; weft check broken.mlir --hardware x86-v3-pairs
|   /product: contract: sums of 2 products reach -33660 with some input, which saturates in 16 bits
! error[W0331]: broken.mlir: 1 operation breaks the description 'x86-v3-pairs'
? 1
$ weft check broken.mlir --hardware x86-v3
| broken.mlir: keeps to 'x86-v3'; 2 operations in integers, 2 in floats

# What x86's kernels multiply: a constant weight, whose scales differ by columns only; pairs have one group.
$ sed '/%w = /d; s/(%x: /(%w: !weft.tensor<[4, 4], i8>, %x: /' hardware.mlir > broken.mlir; weft check broken.mlir --hardware x86-v3
|   /product: contract: its second operand is computed, the description allows a constant
! error[W0331]: broken.mlir: 1 operation breaks the description 'x86-v3'
? 1
$ sed 's/%t = .*/%t = weft.constant dense<0.5> : tensor<4x1xf32> -> !weft.tensor<[4, 1], f32>/; /%wr = /s/<\[\], f32>/<[4, 1], f32>/' hardware.mlir > broken.mlir; weft check broken.mlir --hardware x86-v3
|   /product: contract: its weight has a scale that differs along what is summed or moved, the description allows one per tensor, column
! error[W0331]: broken.mlir: 1 operation breaks the description 'x86-v3'
? 1
$ sed '/%none = /s/i8/i16/g; /%w = /s/\bi8/i16/; s/4x4xi8/4x4xi16/; /%wr = /s/i8/i16/g' hardware.mlir > broken.mlir; weft check broken.mlir --hardware x86-v3
|   /product: contract: its weight is i16, the description allows i8, ui8
! error[W0331]: broken.mlir: 1 operation breaks the description 'x86-v3'
? 1
$ weft check groups.mlir --hardware x86-v3-pairs
|   /conv: conv: it has 2 groups, the description allows one
! error[W0331]: groups.mlir: 1 operation breaks the description 'x86-v3-pairs'
? 1
$ weft check groups.mlir --hardware qdq
| groups.mlir: keeps to 'qdq'; 1 operation in integers, 0 in floats

# A description of one's own takes no more than a file: hardware that sums in 16 bits, and has no floats but for what it reads and gives.
$ weft check hardware.mlir --hardware ./small.json
|   /softmax: softmax: computes in floats, the description has no floats of it
! error[W0331]: hardware.mlir: 1 operation breaks the description 'small'
? 1
$ sed 's/"floats": \[/"floats": ["softmax"/' small.json > floats.json; weft check hardware.mlir --hardware ./floats.json
| hardware.mlir: keeps to 'small'; 3 operations in integers, 1 in floats; narrow sums cannot overflow for any input (tested with the worst one)
$ sed 's/"bits": 16/"bits": 15/' floats.json > narrow.json; weft check hardware.mlir --hardware ./narrow.json
|   /product: contract: its sums reach -24896 with some input, which wraps in 15 bits
! error[W0331]: hardware.mlir: 1 operation breaks the description 'small'
? 1

# What needs more than a target's processors does not count for it.
$ weft check pairs.mlir --hardware x86-v3-pairs -t x86:v2
|   /product: contract: computes in integers, the description has none of it
! error[W0331]: pairs.mlir: 1 operation breaks the description 'x86-v3-pairs'
? 1
$ weft check pairs.mlir --hardware x86-v3-pairs -t x86:v9
! error[W0308]: unknown target 'x86:v9'; the nearest is 'x86:v2'; known are x86:host, x86:v2, x86:v3, x86:v3+vnni, x86:v4, x86:v4+vnni, x86:v4+bf16, x86:v4+amx; 'weft targets' lists all
? 1

# What is no description is refused in one line.
$ weft check hardware.mlir --hardware accelerators
! error[W0330]: there is no description of hardware 'accelerators'
!   hint: there are accelerator, qdq, x86-v2, x86-v3-pairs, x86-v3-vnni, x86-v3, x86-v4-amx, x86-v4-vnni, x86-v4; or name a file: ./mine.json
? 1
$ weft check hardware.mlir --hardware ./nowhere.json
! error[W0330]: ./nowhere.json: cannot be opened: no such file or directory
? 1
$ sed 's/weft.hardware\/1/weft.hardware\/2/' small.json > bad.json; weft check hardware.mlir --hardware ./bad.json
! error[W0330]: ./bad.json: 'schema' must be "weft.hardware/1"
? 1
$ sed 's/"price"/"prize"/' small.json > bad.json; weft check hardware.mlir --hardware ./bad.json
! error[W0330]: ./bad.json: 'price' is missing, but must be "measure" or "declared"
? 1
$ sed 's/"contract"/"matmul"/' small.json > bad.json; weft check hardware.mlir --hardware ./bad.json
! error[W0330]: ./bad.json: 'operators' 1: there is no operator 'matmul'
? 1
$ sed 's/"bits": 16/"bits": "16"/' small.json > bad.json; weft check hardware.mlir --hardware ./bad.json
! error[W0330]: ./bad.json: 'operators' 1: 'sums' 1: 'bits' must be a whole number from 8 to 64, but is "16"
? 1
$ sed '0,/"i8"/s//"int8"/' small.json > bad.json; weft check hardware.mlir --hardware ./bad.json
! error[W0330]: ./bad.json: 'operators' 1: operand 1: there are no elements 'int8', but i4, ui4, i8, ui8, i16, ui16, i32, f16, bf16, f32
? 1
$ echo '{' > bad.json; weft check hardware.mlir --hardware ./bad.json
! error[W0330]: ./bad.json: is not valid JSON at line 2, column 1: syntax error while parsing object key - unexpected end of input; expected string literal
? 1
