$ python3 -c "
$+ import array; array.array('f', [(i * 37 % 101) / 64 - 0.75 for i in range(256 * 384)]).tofile(open('w.bin', 'wb'))"

# What a kernel lets be chosen, and what it is called in records.
$ weft inspect tune.mlir --why -t x86:v3
| tune.mlir  x86:v3  1 kernel call, 0 values between them
| kernel 1  weft_k_contraction_{*}  /layer/MatMul
|   schedule contraction, not product: estimated
|   rows 6, not 4, 3: estimated
|   block 400, not 200: estimated

# Everything is tried within the budget; what is faster here is nobody's promise, but the file can always be used.
$ weft tune tune.mlir -t x86:v3 --dim m=24 --budget 20m --json -q > tune.json
$ python3 -c "
$+ import json; d = json.load(open('tune.json')); k, = d['kernels']
$+ tried = {t['choice'] + '=' + t['pick'] for t in k['trials']}
$+ print(d['schema'], d['path'], d['target'], [s['size'] for s in d['sizes']], d['records'] == d['tuned'] <= 1)
$+ print(tried >= {'schedule=product', 'rows=4', 'rows=3', 'block=200'}, k['untried'], k['nodes'])
$+ print(d['records'] == len(open('tune.tuning').readlines()), all(t['verdict'] != 'wrong' for t in k['trials']))"
| weft.tune/1 tune.tuning x86:v3 ['m=24'] True
| True 0 ['/layer/MatMul']
| True True
$ weft compile -q tune.mlir -t x86:v3 --tuning tune.tuning && weft verify tune.mlir tune.weft --dim m=7 -q

# Sums in another order may be rounded to other numbers of 16 bits: that is no fault.
$ sed 's/-> (!weft.tensor<\[m, 384\], f32>/-> (!weft.tensor<[m, 384], bf16>/; s/return %y .*/%z = weft.convert %y to bf16 : (!weft.tensor<[m, 384], f32>) -> !weft.tensor<[m, 384], bf16>\n  return %z : !weft.tensor<[m, 384], bf16>/' tune.mlir > half.mlir
$ weft tune half.mlir -t x86:v3 --dim m=96 --budget 20m --json -q > half.json
$ python3 -c "
$+ import json; d = json.load(open('half.json')); k, = d['kernels']
$+ print(len(k['trials']) > 2, all(t['verdict'] != 'wrong' for t in k['trials']))"
| True True

# The table names every choice, what was estimated, picked and rejected. Records of before stay, those that were measured again go.
$ echo "weft-tuning 1 | Other CPU (1/2) | x86:v3 | 0123456789abcdef | contraction rows=3 | - | threads=1 | 1.0 %" > more.tuning
$ weft tune tune.mlir -t x86:v3 --dim m=24 --budget 20m -o more.tuning
| {*}share{*}kernel{*}choice{*}estimated{*}picked{*}gain{*}rejected
| {*} %{*}weft_k_contraction_{*}block{*}
| ...
! {*}1 kernels, 1 of them with choices; a call takes {*} at m=24
! {*}round 1: 1 kernel otherwise, {*} of 1200 s
! ...
! more.tuning  {*} of this run
!   next: weft compile tune.mlir --tuning more.tuning
$ grep -c "Other CPU" more.tuning
| 1

# A record as people merge them: for a processor that is named, followed to the letter, seen in the kernel's name.
$ key=$(weft inspect tune.mlir --why -t x86:v3 --json | python3 -c "import json, sys; print(json.load(sys.stdin)['kernels'][0]['kernel'])")
$+ for rows in 3 4; do echo "weft-tuning 1 | Test CPU (6/1) | x86:v3 | $key | contraction rows=$rows | m=24 | threads=1 | $rows.5 %"; done > hand.tuning
$ weft compile tune.mlir -t x86:v3 --tuning hand.tuning --tuned-for 'Test CPU (6/1)'
| tune.weft {*}
! ...
!   tuning    1 of 1 kernels as measured on Test CPU (6/1) {*}
! ...
$ weft inspect tune.weft | grep -o "weft_k_contraction_rows4_"
| weft_k_contraction_rows4_
$ weft verify tune.mlir tune.weft --dim m=9 -q
$ weft inspect tune.mlir --why=1 -t x86:v3 --tuning hand.tuning --tuned-for 'Test CPU (6/1)' | grep rows
| kernel 1  weft_k_contraction_rows4_{*}
|   not block_dots: the rows are not {*}
|   rows 4, not 6, 3: tuned, 4.5 % faster on Test CPU (6/1) at m=24
$ weft compile tune.mlir -t x86:v3 --tuning hand.tuning
| tune.weft {*}
! ...
! warning: no record of the tuning files is for '{*}'; they are for 'Test CPU (6/1)'
! ...
$ weft compile -q tune.mlir -t x86:v3 -o plain.weft && cmp plain.weft tune.weft

# What is no record is refused with its line; so is what cannot be measured, before anything is.
$ echo "<<<<<<< ours" >> hand.tuning; weft compile tune.mlir --tuning hand.tuning
! ...
! error[W0307]: hand.tuning: line 3: no record: it does not begin with 'weft-tuning 1'
? 1
$ weft tune tune.mlir -o hand.tuning
! error[W0307]: hand.tuning: line 3: no record: it does not begin with 'weft-tuning 1'
? 1
$ weft compile tune.mlir --tuning missing.tuning
! ...
! error[W0307]: missing.tuning{*}
? 1
$ weft compile tune.mlir --tuned-for 'Test CPU (6/1)'
! error: '--tuned-for' has no effect without '--tuning'
! {*}
? 2
$ weft tune tune.mlir --budget 0.001s
! ...
! error: a budget of 0 s is too small: to compile and measure once takes {#} s
!   hint: --budget {#}s
? 2
$ weft tune tune.mlir --budget soon
! error: '--budget' is 'soon', but must be a time such as 60s, 5m or 1h
!   hint: 'weft help tune' lists the options
? 2
$ weft tune tune.mlir -t x86:v3,v2
! error: kernels are tuned for one target at a time
!   hint: write --target once for each and the same -o
? 2
$ weft tune tune.mlir --threads 0
! error: '--threads' must be from 1 to 4096
? 2
$ weft tune tune.mlir -o missing/folder/x.tuning --budget 1s
! error{*}missing/folder/x.tuning{*}
? 1

# Ctrl-C leaves the file as it was.
$ cp more.tuning before.tuning && timeout -s INT --preserve-status 3 weft tune tune.mlir -o more.tuning --budget 20m -q
! error: interrupted
? 130
$ cmp before.tuning more.tuning
