# What compiled code refuses: one line, exit 1, no file.
$ weft compile -q contract.mlir
$ npy ids.npy '<i8' 2,8 1 && npy mask.npy '<f4' 2,8 1 && npy past.npy '<f4' 6,2 1 && npy y.npz ids.npy mask.npy past.npy
$ weft run -q contract.weft -i @y.npz --output good.npz && npy --show good.npz | tail -1
| z.npy <f4 [2] 6 6

# Element types and ranks.
$ npy bad.npy '<i4' 2,8 1 && weft run contract.weft -i ids=@bad.npy -i mask=@mask.npy -i past=@past.npy --output-dir out
! error[W0403]: input 'ids': element type is i32, but i64 is needed
!   hint: bad.npy is i32 [2, 8]
? 1
$ npy bad.npy '<f8' 2,8 1 && weft run contract.weft -i ids=@ids.npy -i mask=@bad.npy -i past=@past.npy --output-dir out
! error[W0403]: input 'mask': element type is f64, but f32 is needed
!   hint: bad.npy is f64 [2, 8]
? 1
$ npy bad.npy '<f4' 16 1 && weft run contract.weft -i ids=@ids.npy -i mask=@bad.npy -i past=@past.npy --output-dir out
! error[W0404]: input 'mask': rank is 1, but 2 is needed
!   hint: the shape is [batch, seq]
? 1
$ npy bad.npy '<f4' scalar 1 && weft run contract.weft -i ids=@ids.npy -i mask=@mask.npy -i past=@bad.npy --output-dir out
! error[W0404]: input 'past': rank is 0, but 2 is needed
!   hint: the shape is [2*half, batch]
? 1

# Dimensions that disagree: with another input, and with a form such as 2*half.
$ npy bad.npy '<f4' 2,12 1 && weft run contract.weft -i ids=@ids.npy -i mask=@bad.npy -i past=@past.npy --output-dir out
! error[W0411]: input 'mask': dimension 1 is 12, but 'seq' is 8 (bound by input 'ids', dimension 1)
!   hint: 'mask' is f32 [2, 12] (bad.npy)
? 1
$ npy bad.npy '<f4' 3,8 1 && weft run contract.weft -i ids=@ids.npy -i mask=@bad.npy -i past=@past.npy --output-dir out
! error[W0411]: input 'mask': dimension 0 is 3, but 'batch' is 2 (bound by input 'ids', dimension 0)
!   hint: 'mask' is f32 [3, 8] (bad.npy)
? 1
$ npy bad.npy '<f4' 6,3 1 && weft run contract.weft -i ids=@ids.npy -i mask=@mask.npy -i past=@bad.npy --output-dir out
! error[W0411]: input 'past': dimension 1 is 3, but 'batch' is 2 (bound by input 'ids', dimension 0)
!   hint: 'past' is f32 [6, 3] (bad.npy)
? 1
$ npy bad.npy '<f4' 7,2 1 && weft run contract.weft -i ids=@ids.npy -i mask=@mask.npy -i past=@bad.npy --output-dir out
! error[W0415]: input 'past': dimension 0 is 7, but it is '2*half', and no 'half' gives 7
!   hint: 'past' is f32 [7, 2] (bad.npy)
? 1

# Out of range: at least, at most, a multiple, and a fact about two symbols.
$ npy ids0.npy '<i8' 0,8 && npy mask0.npy '<f4' 0,8 && npy past0.npy '<f4' 6,0
$ weft run contract.weft -i ids=@ids0.npy -i mask=@mask0.npy -i past=@past0.npy --output-dir out
! error[W0412]: input 'ids': dimension 0 is 0, but 'batch' is at least 1
!   hint: 'ids' is i64 [0, 8] (ids0.npy)
? 1
$ weft run contract.weft --dim batch=65 --dim seq=8 --dim half=1 --output-dir out
! error[W0413]: input 'ids': dimension 0 is 65, but 'batch' is at most 64
!   hint: 'ids' is i64 [65, 8] (generated, seed 1, 0..99)
? 1
$ weft run contract.weft --dim batch=1 --dim seq=6 --dim half=1 --output-dir out
! error[W0414]: input 'ids': dimension 1 is 6, but 'seq' is a multiple of 4
!   hint: 'ids' is i64 [1, 6] (generated, seed 1, 0..99)
? 1
$ weft run contract.weft --dim batch=1 --dim seq=80 --dim half=21 --output-dir out
! error[W0416]: 'half + seq <= 100' does not hold (batch = 1, seq = 80, half = 21)
? 1
$ weft run -q contract.weft --dim batch=1 --dim seq=80 --dim half=20 --output edge.npz && test -e edge.npz

# Sizes that are broadcast together: equal, or one of them 1.
$ weft compile -q broadcast.mlir
$ for sizes in '3 3' '1 3' '3 1' '1 1' '0 1' '1 0'; do npy a.npy '<f4' ${sizes% *} 2 && npy b.npy '<f4' ${sizes#* } 3 && weft run -q broadcast.weft -i a=@a.npy -i b=@b.npy --output s.npz && npy --show s.npz | tail -1; done
| y.npy <f4 [3] 5 5 5
| y.npy <f4 [3] 5 5 5
| y.npy <f4 [3] 5 5 5
| y.npy <f4 [1] 5
| y.npy <f4 [0]
| y.npy <f4 [0]
$ weft run broadcast.weft --dim n=3 --dim m=5 --output s.npz
! error[W0416]: 'n == m or n == 1 or m == 1' does not hold (n = 3, m = 5)
? 1
$ weft run broadcast.weft --dim n=0 --dim m=2 --output s.npz
! error[W0416]: 'n == m or n == 1 or m == 1' does not hold (n = 0, m = 2)
? 1

# Missing, unknown, given twice.
$ weft run contract.weft -i ids=@ids.npy -i mask=@mask.npy --output-dir out
! error[W0402]: input 'past' is missing
!   hint: add --input past=@FILE.npy, or past=rand to generate it
? 1
$ weft run contract.weft -i @y.npz -i extra=ones --output-dir out
! error[W0402]: there is no input 'extra'
!   hint: the inputs are ids, mask, past
? 1
$ weft run contract.weft -i @y.npz -i ids=ones --output-dir out
! error: input 'ids' is given twice
? 2

# The same wrong inputs stop the reference evaluator.
$ npy bad.npy '<f4' 7,2 1 && weft eval contract.mlir -i ids=@ids.npy -i mask=@mask.npy -i past=@bad.npy --output-dir out
! error[W0410]: input 'past': dimension 0 is 7, but it must have the form 2*half
? 1
$ weft eval contract.mlir --dim batch=1 --dim seq=6 --dim half=1 --output-dir out
! error[W0410]: input 'ids': dimension 1 is 6, but 'seq' must be a multiple of 4
? 1

# Positions from data that are outside, unless the model was compiled to take others or to trust them.
$ weft compile -q embedding.mlir && npy table.npy '<f4' 3,4 1 && npy far.npy '<i8' 2,8 100
$ weft run -q embedding.weft -i table=@table.npy -i ids=@far.npy --output-dir out
! error[W0419]: 'words': index 100 at [0, 0] of input 'ids' is outside 0..2
? 1
$ weft eval embedding.mlir -i table=@table.npy -i ids=@far.npy --output-dir out
! error[W0410]: words: cannot be evaluated: index 100 at [0, 0] is outside 0..2
? 1
$ weft run embedding.weft --dim batch=2 --dim seq=9 2>&1 | grep ids
|          ids    i64[2, 9]   generated, seed 1, 0..2
$ weft verify embedding.mlir --dim batch=2 --dim seq=9 --dim width=4 2>&1 | grep ids
|          ids  i64[2, 9]  generated, seed 1, 0..2
$ weft compile -q embedding.mlir --indices clamp -o clamped.weft && weft run -q clamped.weft -i table=@table.npy -i ids=@far.npy --output far.npz && npy --show far.npz | cut -c1-30
| y.npy <f4 [2, 8, 4] 1 1 1 1 1
$ weft compile embedding.mlir --indices wrap
! error: '--indices' is 'wrap', but must be check, clamp or unchecked
!   hint: 'weft help compile' lists the options
? 2

# More memory than is allowed, and a damaged artifact.
$ weft run contract.weft -i @y.npz --max-memory 1 --output-dir out
! inputs   ids   i64[2, 8]  y.npz
!          mask  f32[2, 8]  y.npz
!          past  f32[6, 2]  y.npz
! error[W0421]: this call needs {#} bytes (batch = 2, seq = 8, half = 3) but the limit is 1 byte
? 1
$ cp contract.weft cut.weft && truncate -s -1 cut.weft && weft run cut.weft -i @y.npz --output-dir out
! error[W0503]: cut.weft: is truncated: it has {#} bytes, but should have {#}
!   hint: copy the file again or compile the model again
? 1
$ cp contract.weft hit.weft && printf '\377' | dd of=hit.weft bs=1 seek=9000 conv=notrunc status=none && weft run hit.weft -i @y.npz --output-dir out
! error[W0506]: hit.weft: is damaged: its SHA-256 is not the one that was written into it
!   hint: copy the file again or compile the model again
? 1
$ test -e out
? 1

# A value inside of the program that would have fewer elements than none.
$ weft compile -q shortened.mlir && weft run shortened.weft --dim n=0
! error[W0412]: input 'input0': dimension 0 is 0, but 'n' is at least 1
!   hint: 'input0' is f32 [0] (generated, seed 1, uniform in -1..1)
? 1
$ weft eval shortened.mlir --dim n=0
! error[W0410]: this call needs a tensor with a dimension of 'n - 1', which is -1
? 1
$ weft run -q shortened.weft --dim n=1
