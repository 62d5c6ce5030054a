# Wrong inputs: one line, exit 1, no output file.
$ npy ids.npy '<f4' 2,41 1 && npy mask.npy '<f4' 2,37 1 && npy wide.npy '<f8' 2,41 1 && npy flat.npy '<f4' 82 1
$ weft run sample.weft -i ids=@ids.npy -i mask=@mask.npy --output-dir out
! error[W0411]: input 'mask': dimension 1 is 37, but 'seq' is 41 (bound by input 'ids', dimension 1)
!   hint: 'mask' is f32 [2, 37] (mask.npy)
? 1
$ weft run sample.weft -i ids=@wide.npy -i mask=@mask.npy --output-dir out
! error[W0403]: input 'ids': element type is f64, but f32 is needed
!   hint: wide.npy is f64 [2, 41]
? 1
$ weft run sample.weft -i ids=@flat.npy -i mask=@mask.npy --output-dir out
! error[W0404]: input 'ids': rank is 1, but 2 is needed
!   hint: the shape is [b, seq]
? 1
$ weft run sample.weft --dim seq=600 --output-dir out
! error[W0413]: input 'ids': dimension 1 is 600, but 'seq' is at most 512
!   hint: {*}
? 1
$ weft run sample.weft -i ids=@ids.npy --output-dir out
! error[W0402]: input 'mask' is missing
!   hint: add --input mask=@FILE.npy, or mask=rand to generate it
? 1
$ weft run sample.weft -i ids=@ids.npy -i mask=ones -i extra=ones --output-dir out
! error[W0402]: there is no input 'extra'
!   hint: the inputs are ids, mask
? 1
$ weft run sample.weft -i idz=@ids.npy -i mask=ones --output-dir out
! error[W0402]: there is no input 'idz'
!   hint: the closest is 'ids'
? 1
$ weft run sample.weft -i ids=@ids.npy -i ids=ones -i mask=ones --output-dir out
! error: input 'ids' is given twice
? 2
$ weft run sample.weft -i ids=@ids.npy -i mask=ones --dim seq=40 --output-dir out
! error[W0411]: input 'ids': dimension 1 is 41, but --dim says 'seq' is 40
? 1
$ weft run sample.weft --dim sep=40 --output-dir out
! error: '--dim sep=40': there is no symbol 'sep'
!   hint: the closest is 'seq'
? 2
$ weft run sample.weft -i @ids.npy --output-dir out
! error: '--input @ids.npy' does not say which input it is
!   hint: write NAME=@ids.npy; the inputs are ids, mask
? 2
$ test -e out
? 1

# Wrong files.
$ weft run nothing.weft
! error[W0508]: nothing.weft: cannot be opened: No such file or directory
? 1
$ touch model.onnx && weft run model.onnx
! error[W0501]: model.onnx: {*}
!   hint: compile it first: weft compile model.onnx
? 1
$ weft run sample.weft -i ids=@nothing.npy -i mask=ones
! error: input 'ids': nothing.npy: cannot be read: No such file or directory
? 1
$ echo hello >text.npy && weft run sample.weft -i ids=@text.npy -i mask=ones
! error[W0441]: input 'ids': text.npy: is neither a .npy nor a .npz file
!   hint: write it with numpy.save or numpy.savez
? 1
$ head -c 200 ids.npy >short.npy && weft run sample.weft -i ids=@short.npy -i mask=ones
! error[W0441]: input 'ids': short.npy: npy: {*}
? 1
$ npy packed.npz --deflate ids.npy mask.npy && weft run sample.weft -i @packed.npz
! error[W0442]: packed.npz: member 'ids.npy' is compressed, which is not supported
!   hint: write the file with numpy.savez instead of numpy.savez_compressed
? 1
$ npy in.npz ids.npy && head -c 300 in.npz >cut.npz && weft run sample.weft -i @cut.npz
! error[W0442]: cut.npz: the archive's directory is missing; the file is cut off or no archive
? 1
$ printf '\377' | dd of=in.npz bs=1 seek=300 conv=notrunc status=none && weft run sample.weft -i @in.npz
! error[W0442]: in.npz: member 'ids.npy' is damaged: its checksum differs
? 1
$ mkdir folder && weft run sample.weft -i ids=@folder -i mask=ones
! error[W0441]: input 'ids': folder: is not a regular file
? 1

# Values on the command line that are none.
$ weft run sample.weft -i 'ids=[[1,2],[3]]' -i mask=ones
! error[W0441]: input 'ids': its lists have different lengths: 2 and 1
? 1
$ weft run sample.weft -i 'ids=[[1,x]]' -i mask=ones
! error[W0441]: input 'ids': 'x' is not a number
? 1
$ weft run sample.weft -i ids=one -i mask=ones
! error: '--input ids=one': 'one' is not understood
!   hint: write NAME=@FILE.npy, @FILE.npz, NAME=zeros|ones|rand|range or NAME=[1,2]
? 2
$ weft run sample.weft --function halve -i 'x=[1.5,2]' -i z=ones
! error[W0403]: input 'x': element 0 does not fit i32
? 1

# Absurd sizes are refused before memory is asked for.
$ weft run sample.weft --dim b=99999 --dim seq=999999999999
! error: input 'ids': a tensor f32 [99999, 999999999999] needs 355 PiB, but this machine has {*}
? 4
$ weft run sample.weft --dim b=9223372036854775807 --dim seq=9
! error: input 'ids': a tensor f32 [9223372036854775807, 9] is not possible: its size overflows
? 1

# A folder that cannot be written: exit 1 and nothing half-written.
$ touch file && weft run sample.weft -q --output-dir file/out
! error: file/out: the folder cannot be made: Not a directory
? 1
$ weft run sample.weft -q -o nowhere/out.npz
! error: nowhere/out.npz: cannot be written: No such file or directory
? 1
