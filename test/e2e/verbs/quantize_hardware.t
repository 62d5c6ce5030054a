# A search that keeps to a description of hardware, on models of products, convolutions, sums and tables: 'check', which does not know what the search decided, finds nothing in
# what it made, the artifact computes the same, and the strategy alone makes the same artifact again.
$ python3 -c "import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(3 * 64 * 64)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 10 && python3 make_ids.py ids 10
$ echo 'weft quantize -q $1.mlir --calibration $3 --time 1s --budget "cosine>=0.5" --hardware $2 --strategy s.strategy -o q.mlir -o q.weft && weft check q.mlir --hardware $2 && weft verify -q q.mlir q.weft --dim m=5 && weft quantize -q $1.mlir --strategy s.strategy --apply -o again.weft && cmp q.weft again.weft; rm s.strategy' > each.sh
$ sh each.sh quantize accelerator calls
| q.mlir: keeps to 'accelerator'; {*} in integers, {*} in floats
$ sh each.sh residual accelerator calls
| q.mlir: keeps to 'accelerator'; {*} in integers, {*} in floats
$ sh each.sh images accelerator calls
| q.mlir: keeps to 'accelerator'; {*} in integers, {*} in floats
$ sh each.sh table accelerator ids
| q.mlir: keeps to 'accelerator'; {*} in integers, {*} in floats
$ sh each.sh quantize x86-v3-pairs calls
| q.mlir: keeps to 'x86-v3-pairs'; {*} in integers, {*} in floats{*}
$ sh each.sh residual x86-v3-pairs calls
| q.mlir: keeps to 'x86-v3-pairs'; {*} in integers, {*} in floats{*}
$ sh each.sh images x86-v3-pairs calls
| q.mlir: keeps to 'x86-v3-pairs'; {*} in integers, {*} in floats{*}
$ sh each.sh table x86-v3-pairs ids
| q.mlir: keeps to 'x86-v3-pairs'; {*} in integers, {*} in floats{*}
$ sh each.sh images x86-v3 calls
| q.mlir: keeps to 'x86-v3'; {*} in integers, {*} in floats
# Where pairs saturate, weights have about half the values; what a strategy says makes the same bytes.
$ weft quantize -q quantize.mlir --calibration calls --time 1s --budget 'cosine>=0.5' --hardware x86-v3-pairs --strategy p.strategy -o p.weft -o p.mlir; grep -c -E 'weight<=6[4-9]|[|] f32 ' p.strategy
| 2
# All that is computed in integers is by that instruction.
$ weft inspect p.mlir --why -t x86:v3 | grep 'multiplies' | sort -u
|   multiplies pairs of i8, which saturate in 16 bits: the weight lets none
$ sed 's/ weight<=6[4-9]//' p.strategy > large.strategy; weft quantize -q quantize.mlir --strategy large.strategy --apply -o large.mlir; weft check large.mlir --hardware x86-v3-pairs | sed 's/reach [0-9-]*/reach more/'
| {*}/MatMul: contract: sums of 2 products reach more with some input, which saturates in 16 bits
| ...
! error[W0331]: large.mlir: {*} the description 'x86-v3-pairs'

# Declared rates price all that is chosen: nothing is timed, which the report says, and the same search decides the same. A layer of other sizes than the hardware's stays, and says why.
$ weft quantize images.mlir --calibration calls --budget 'cosine>=0.5' --hardware accelerator --strategy a.strategy -o a.weft
| {*}layer  becomes  equalised{*}why
| {*}/first/Conv   static{*}
| {*}/second/Conv   static{*}
| {*}/third/Conv      f32{*}6 columns are no multiple of 4
| {*}/head/MatMul   static{*}
! ...
!   time 0.07x of f32 (declared: by the rates of 'accelerator', nothing was timed)  size {*}
! a.weft
$ weft quantize images.mlir --calibration calls --budget 'cosine>=0.5' --hardware accelerator --strategy b.strategy -o b.weft --json > b.json; cmp a.strategy b.strategy && cmp a.weft b.weft
! ...
$ python3 -c "import json; d = json.load(open('b.json')); print(d['hardware'], d['declared_prices'], d['latency'] == d['predicted_latency'], [l['form'] == 'f32' for l in d['layers']], d['layers'][2]['reason'])"
| accelerator True True [False, False, True, False] 6 columns are no multiple of 4
# Bytes of what is read and of weights are those of the hardware, in the strategy, too.
$ cut -d '|' -f 5 a.strategy | sed 's/scale=[0-9.]* //; s/ *$//'
|  static zero=128 signed one_scale powers_of_two
|  static zero=128 signed one_scale powers_of_two
|  f32
|  static zero=128 signed one_scale powers_of_two

# A description of one's own takes no more than a file. Sums of 16 bits take smaller weights.
$ sed 's/"floats": \[\]/"floats": "all"/; s/"zero_points": \[0\]}, {/"scales_per": ["tensor", "row"]}, {/; s/\["i8"\], "scales/["ui8"], "scales/' small.json > mine.json
$ sed 's/"contract"/"contract", "conv"/' mine.json > all.json; sh each.sh images ./all.json calls
| q.mlir: keeps to 'small'; {*} in integers, {*} in floats{*}

# What cannot be is refused in one line, and nothing is written.
$ weft quantize quantize.mlir --calibration calls --hardware acelerator -o no.weft
! error[W0330]: there is no description of hardware 'acelerator'
!   hint: there are accelerator, qdq, x86-v2, x86-v3-pairs, x86-v3-vnni, x86-v3, x86-v4-amx, x86-v4-vnni, x86-v4; or name a file: ./mine.json
? 1
$ weft quantize quantize.mlir --calibration calls --hardware ./small.json -o no.weft
! error[W0332]: /first/MatMul: the model breaks the description 'small': contract: computes in floats, the description has no floats of it, and 2 more
!   hint: 'weft check --hardware' names them all
? 1
$ sed 's/"floats": \[/"floats": ["contract"/' small.json > few.json; weft quantize quantize.mlir --calibration calls --hardware ./few.json -o no.weft
! error[W0332]: quantize.mlir:10: the model breaks the description 'small': activation: computes in floats, the description has no floats of it
!   hint: 'weft check --hardware' names them all
? 1
$ sed 's/"contract"/"matmul"/' small.json > bad.json; weft quantize quantize.mlir --calibration calls --hardware ./bad.json -o no.weft
! error[W0330]: ./bad.json: 'operators' 1: there is no operator 'matmul'
? 1
$ weft quantize quantize.mlir --calibration calls --hardware x86-v3-pairs -t x86:v2 -o no.weft
! error[W0332]: 'x86-v3-pairs' computes contract with avx2, which 'x86:v2' lacks
? 1
$ weft quantize quantize.mlir --calibration calls --hardware accelerator --compare quantize.mlir -o no.weft
! error[W0332]: with declared prices nothing is timed, so files of others have no times to compare with
? 1
$ weft quantize images.mlir --strategy a.strategy --apply --hardware accelerator -o no.weft
! error: '--apply' and '--hardware' exclude each other
!   hint: a strategy says what each layer becomes, and nothing is measured
? 2
$ ls no.weft
! {*}
? 2
