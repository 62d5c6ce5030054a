# Alone, it assumes small sizes, says which, and generates the inputs.
$ weft run sample.weft
| outputs  y      f32[1, 16]  min {#} {*}mean {#} {*}max {#} {*}nan 0
|          total  f32[1]      min {#} {*}mean {#} {*}max {#} {*}nan 0
! assumed  b=1 seq=16  (set with --dim)
! inputs   ids   f32[1, 16]  generated, seed 1, uniform in -1..1
!          mask  f32[1, 16]  generated, seed 1, uniform in -1..1
! {#} {*} (first call), {#} {*} (second)

# Generated inputs depend on the seed only: y = ids * mask + 0, 1, 2.
$ weft run sample.weft --dim b=1 --dim seq=3 -i ids=rand -i mask=zeros -q --output-dir a && npy --show a/y.npy
| a/y.npy <f4 [1, 3] 0 1 2
$ weft run sample.weft --dim b=2 --dim seq=3 --seed 7 -q --output-dir b
$ weft run sample.weft --dim b=2,seq=3 --seed 7 -q --output-dir c && cmp b/y.npy c/y.npy
$ weft run sample.weft --dim b=2 --dim seq=3 --seed 8 -q --output-dir d; cmp -s b/y.npy d/y.npy
? 1

# Inputs from .npy files give the sizes; outputs go to a folder, made when it is missing.
$ npy ids.npy '<f4' 2,3 1 2 3 4 5 6 && npy mask.npy '<f4' 2,3 1 0 1 0 1 0
$ weft run sample.weft --input ids=@ids.npy --input mask=@mask.npy --output-dir deep/out
| outputs  y      f32[2, 3]  min 0  {*}mean 2.5  {*}max 6  {*}nan 0
|          total  f32[2]     min 7  {*}mean 7.5  {*}max 8  {*}nan 0
! inputs   ids   f32[2, 3]  ids.npy
!          mask  f32[2, 3]  mask.npy
! {*}
! wrote 2 files to deep/out
$ npy --show deep/out/y.npy; npy --show deep/out/total.npy; ls deep/out
| deep/out/y.npy <f4 [2, 3] 1 1 5 0 6 2
| deep/out/total.npy <f4 [2] 7 8
| total.npy
| y.npy

# .npz in and out, as numpy.savez writes it; values on the command line.
$ npy in.npz ids.npy mask.npy && weft run sample.weft -i @in.npz -o out.npz -q && npy --show out.npz
| y.npy <f4 [2, 3] 1 1 5 0 6 2
| total.npy <f4 [2] 7 8
$ weft run sample.weft -i 'ids=[[1, 2.5], [-3, 4e0]]' -i mask=ones -q --output-dir w && npy --show w/y.npy
| w/y.npy <f4 [2, 2] 1 3.5 -3 5

# A file in Fortran order holds columns; it is the same input.
$ npy --fortran columns.npy '<f4' 2,3 1 4 2 5 3 6 && weft run sample.weft -i ids=@columns.npy -i mask=@mask.npy -q --output-dir f
$ npy --show f/y.npy
| f/y.npy <f4 [2, 3] 1 1 5 0 6 2

# Outputs whose names lead to the same file are kept apart, and which is where is said.
$ weft run twins.weft -i ids=@ids.npy -i mask=@mask.npy --output-dir t
| ...
! ...
! wrote 2 files to t
! output 'a_b' is in a_b-2.npy
$ npy --show t/a_b.npy; npy --show t/a_b-2.npy
| t/a_b.npy <f4 [2, 3] 1 1 5 0 6 2
| t/a_b-2.npy <f4 [2] 7 8

# --expect compares: exit 3 and the worst element when something differs.
$ weft run sample.weft -i @in.npz --expect @out.npz -q
$ npy y.npy '<f4' 2,3 1 1 5 0 6.5 2.00001 && weft run sample.weft -i @in.npz --expect y=@y.npy -q
! error: output 'y': 1 of 6 elements differ, worst error 0.0769: got 6, expected 6.5 at [1, 1]
? 3
$ weft run sample.weft -i @in.npz --expect y=@y.npy --tol 0.1
| ...
! ...
! output 'y': as expected, worst error 0.0769: got 6, expected 6.5
$ npy wide.npy '<f8' 2,3 1 1 5 0 6 2 && weft run sample.weft -i @in.npz --expect y=@wide.npy -q
$ npy small.npy '<f4' 3 1 1 5 && weft run sample.weft -i @in.npz --expect y=@small.npy -q
! error: output 'y': its shape is [2, 3], but [3] is expected
? 3
$ weft run sample.weft -i @in.npz --expect z=@y.npy -q
! error: y.npy: there is no output 'z'
!   hint: the outputs are y, total
? 1

# One JSON document.
$ weft run sample.weft -i @in.npz --expect y=@y.npy --json 2>/dev/null >run.json
? 3
$ python3 -c "
$+ import json; d = json.load(open('run.json')); c = d['comparisons'][0]
$+ print(d['schema'], d['symbols'], d['outputs'][1]['mean'], c['good'], c['index'], c['wrong'])"
| weft.run/1 {'b': 2, 'seq': 3} 7.5 False [1, 1] 1

# Other functions; integers are generated in 0..99.
$ weft run sample.weft --function halve --dim n=4 --dim m=2 -i x=range -q --output-dir h && npy --show h/y.npy
| h/y.npy <i4 [4] 1 5 9 13
$ weft run sample.weft --function mian
! error: there is no function 'mian'
!   hint: the functions are main, halve, spin, who, beside, unpaired
? 2

# Ctrl-C ends the call; nothing is left.
$ timeout --preserve-status -s INT 0.5 weft run sample.weft --function spin -i steps=1000000000 --output-dir spun -q
! error: interrupted
? 130
$ ls spun
! ls: cannot access 'spun': No such file or directory
? 2

# Limits and options of the runtime.
$ weft run sample.weft --dim seq=512 --dim b=1000 --max-memory 1M -q --output-dir limited
! error[W0421]: this call needs {*} (b = 1000, seq = 512) but the limit is 1 MiB
? 1
$ test -e limited
? 1
$ weft run sample.weft --verify --threads 2 --spin-us 0 -q

# A flipped byte of the weights, the first of which lies at 2 MiB, is found when asked.
$ cp sample.weft hit.weft && printf '\177' | dd of=hit.weft bs=1 seek=2097153 conv=notrunc status=none && weft run hit.weft -q
$ weft run hit.weft --verify -q
! error[W0510]: hit.weft: has damaged weights: piece 1 of 1 (around 'w') has another SHA-256 than was written into it
!   hint: copy the file again or compile the model again
? 1

# Empty tensors are tensors.
$ weft run sample.weft --dim b=0 --dim seq=3 --output-dir e && npy --show e/y.npy
| outputs  y      f32[0, 3]  min nan  {*}nan 0
|          total  f32[0]     min nan  {*}nan 0
| e/y.npy <f4 [0, 3]
! ...

# An emulator runs another processor's weft with the rest of the command line; the verb's exit code is its.
$ weft run sample.weft --emulator "echo -L root other/weft" --dim b=0
| -L root other/weft run sample.weft --dim b=0
$ weft bench sample.weft --emulator=false
? 1
$ weft profile sample.weft --emulator "no-such-emulator weft"
! error: emulator 'no-such-emulator': No such file or directory
? 4
$ weft run sample.weft --emulator " "
! error: --emulator names no command
!   hint: such as --emulator "qemu-aarch64 -L DIR arm/weft"
? 2

# What is read is not replaced.
$ weft run sample.weft --dim b=1 --dim seq=3 -o ./sample.weft -q
! error: '--output ./sample.weft' would replace what is read
!   hint: name another file
? 2
$ weft run sample.weft --dim b=1 --dim seq=3 --output-dir expected -q && weft run sample.weft --dim b=1 --dim seq=3 --expect y=@expected/y.npy --output-dir expected -q
! error: '--output-dir expected/y.npy' would replace what is read
!   hint: name another file
? 2
$ weft profile sample.weft --dim b=1 --dim seq=3 --trace sample.weft -q
! error: '--trace sample.weft' would replace what is read
!   hint: name another file
? 2
$ weft run sample.weft --dim b=1 --dim seq=3 -q && ls | grep partial
? 1
