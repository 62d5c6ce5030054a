# A search for a machine that is not here: its data say what programs take, so nothing is timed, and the same search decides the same, to the byte.
$ python3 -c "import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(3 * 64 * 64)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20
$ sed 's/"f32": 1/"f32": 1, "pairs of i16": 8, "pairs of i8": 8/' round.json > pairs.json
$ weft quantize quantize.mlir --calibration calls --machine ./pairs.json -o first.weft
|          layer  becomes{*}
|  /first/MatMul   static{*}
| /second/MatMul   static{*}
! ...
!   time 0.21x of f32 (predicted for 'round', nothing was timed)  size {*}
!   nobody compared predictions for 'round' with a clock
! first.weft
$ weft quantize quantize.mlir --calibration calls --machine ./pairs.json -o second.weft -o second.mlir --report second.html --json > second.json; cmp first.weft second.weft
! ...
$ python3 -c "
$+ import json; d = json.load(open('second.json')); print(d['machine'], d['latency'] == d['predicted_latency'], d['declared_prices'], d['worst_cosine'] > 0.99)
$+ print([[(c['form'], c.get('most_weight')) for c in l['choices']] for l in d['layers']])"
| {'name': 'round', 'about': 'a machine of round figures', 'measured': False} True False True
| [[('static', None), ('rows', None)], [('static', None), ('rows', None)]]
$ grep -o 'predicted for another machine' second.html
| predicted for another machine
# What is written is for the machine's target, and the sizes that count are the machine's files'.
$ weft inspect first.weft | sed -n 2p
| targets  arm:v8{*}
$ python3 -c "
$+ import json, os; d = json.load(open('second.json')); print(d['bytes'] == os.path.getsize('first.weft'))"
| True
# It takes what 'inspect' predicts, at the sizes that latency counts at. Another target may be named, as there.
$ weft quantize -q quantize.mlir --calibration calls --machine ./pairs.json -t x86:v3 --at m=64 -o at.mlir -o at.weft --json > at.json && weft inspect at.weft | sed -n 1p
| at.weft  {*}  x86:v3  {*}
$ for each in quantize at; do weft inspect -q $each.mlir --at m=64 --machine ./pairs.json -t x86:v3 --json > $each.times; done
$ python3 -c "
$+ import json; f, q, d = [json.load(open(n)) for n in ('quantize.times', 'at.times', 'at.json')]
$+ print(abs(q['seconds'] / f['seconds'] - d['latency']) < 1e-6)"
| True
# A bound on time may be a time: that of a call.
$ weft quantize quantize.mlir --calibration calls --machine ./pairs.json --budget 'latency<=100us' -o fast.mlir
| ...
! ...
!   time {*}x of f32 (predicted for 'round', nothing was timed), {*}s a call  size {*}
! ...
$ weft quantize quantize.mlir --calibration calls --machine ./pairs.json --budget 'latency<=1us' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: the nearest takes 0.21x of the time in f32, {*}s a call and {*} with cosine {*}
? 3
# Where integers save nothing there, everything stays as it is, however fast they are here.
$ sed 's/"f32": 1/"f32": 8, "pairs of i16": 1/' round.json > slow.json
$ weft quantize quantize.mlir --calibration calls --machine ./slow.json -o none.weft
|          layer  becomes{*}
|  /first/MatMul      f32{*}not faster in integers
| /second/MatMul      f32{*}not faster in integers
! ...
!   time 1.00x of f32 (predicted for 'round', nothing was timed)  size {*}
! ...
# Where bf16 is multiplied faster than f32, it is a choice for what bytes lose too much for; its strategy says it again.
$ sed 's/"f32": 1/"f32": 1, "pairs of bf16": 4, "pairs of i16": 6, "pairs of i8": 6, "quads of i8": 6/' round.json > halves.json
$ weft quantize quantize.mlir --calibration calls --machine ./halves.json -t x86:v4+bf16 --budget 'cosine>=0.99995' --strategy h.strategy -o half.mlir -o half.weft
|          layer  becomes{*}
|  /first/MatMul     bf16{*}
| /second/MatMul     bf16{*}
! ...
!   0 of 2 layers in integers, 2 in bf16; {*}
! ...
$ weft verify -q half.mlir --dim m=5 && weft quantize -q quantize.mlir --strategy h.strategy --apply -t x86:v4+bf16 -o again.weft && cmp half.weft again.weft
# Weights of 4 bits meet rows of bytes where the target multiplies bytes by four; with more bits less is lost.
$ for level in v3 v4+vnni; do weft quantize -q quantize.mlir --calibration calls --machine ./halves.json -t x86:$level --budget 'size<=0.99x' --budget 'cosine>=0.9' -o blocks.mlir --json > blocks.json; python3 -c "
$+ import json; first = json.load(open('blocks.json'))['layers'][0]; loss = {c['form']: c['loss'] for c in first['choices'] if 'blocks' in c['form']}
$+ print(list(loss), loss.get('blocks4x8', 0) < 1.5 * loss['blocks4'], loss.get('blocks6x8', 0) <= loss.get('blocks5x8', 0) < loss.get('blocks4x8', 1), {c['rounded'] for c in first['choices'] if 'rounded' in c})"; done
| ['blocks4'] True True {'moments'}
| ['blocks4', 'blocks4x8', 'blocks5x8', 'blocks6x8'] True True {'moments'}
# Without time for the price of each choice, bytes are taken to save more than bf16, as they spare more bits.
$ weft quantize quantize.mlir --calibration calls --machine ./halves.json -t x86:v4+bf16 --time 0.001s -o hasty.mlir
| ...
!   2 of 2 layers in integers; {*}
! ...
# A bound on time holds for the whole, which may take more than the prices of its parts say: then it is looked for once more.
$ for bound in 0.385 0.31; do weft quantize -q quantize.mlir --calibration calls --machine ./halves.json -t x86:v4+bf16 --budget "latency<=${bound}x" -o whole.mlir --json > whole.json; python3 -c "
$+ import json; d = json.load(open('whole.json')); print(d['latency'] <= 1.02 * $bound, len(d['tried']))"; done
| True 2
| True 2
# Products of two values, as attention's, decide together; they are listed behind layers, and bf16 is all that they may become.
$ weft quantize attending.mlir --calibration calls --machine ./halves.json -t x86:v4+bf16 --budget 'cosine>=0.9995' --strategy a.strategy -o attend.mlir -o attend.weft
|          layer  becomes{*}
|  /query/MatMul     bf16{*}
| /scores/MatMul     bf16{*}
! ...
!   0 of 2 layers in integers, 2 in bf16; {*}
! ...
$ weft verify -q attend.mlir --dim m=5 && weft quantize -q attending.mlir --strategy a.strategy --apply -t x86:v4+bf16 -o again.weft && cmp attend.weft again.weft
$ sed '2s/bf16/rows/' a.strategy > b.strategy; weft quantize -q attending.mlir --strategy b.strategy --apply -o bad.weft
! error[W0324]: b.strategy: the strategy is for another model: '/scores/MatMul' multiplies two values, which are f32 or bf16
? 1
$ weft quantize attending.mlir --calibration calls --machine ./halves.json -t x86:v4+bf16 --keep-f32 '/sum/*' -o kept.mlir
| ...
| /scores/MatMul      f32{*}kept
! ...
$ weft quantize attending.mlir --calibration calls --machine ./pairs.json -o plain.mlir
| ...
| /scores/MatMul      f32{*}bf16 is not multiplied faster
! ...
# A strategy of before such products were decisions leaves them as they are.
$ sed 1q a.strategy > c.strategy; weft quantize -q attending.mlir --strategy c.strategy --apply -o some.mlir && grep -c 'weft.convert.*to bf16' attend.mlir some.mlir
| attend.mlir:5
| some.mlir:2
# Somebody else's file is predicted, too.
$ weft quantize -q quantize.mlir --calibration calls --machine ./pairs.json --compare second.mlir -o beside.weft --json > beside.json
$ python3 -c "
$+ import json; d = json.load(open('beside.json')); print(d['peers'][0]['latency'] == d['latency'], d['peers'][0]['cosine'] == d['cosine'])"
| True True

# What is missing or makes no sense is said in one line.
$ weft quantize quantize.mlir --calibration calls --machine cortex-a99 -o no.weft
! error[W0309]: there are no data of a machine 'cortex-a99'
!   hint: {*}
? 2
$ weft quantize quantize.mlir --calibration calls --machine ./none.json -o no.weft
! error[W0333]: ./none.json: cannot be opened: no such file or directory
? 1
$ weft quantize quantize.mlir --calibration calls --machine ./round.json -o no.weft
! ...
! error[W0301]: the data of 'round' do not say multiply_adds_per_cycle of 'pairs of i16', by which kernel 'weft_k_integer_contraction_{*}' multiplies
? 2
$ weft quantize quantize.mlir --calibration calls --machine ./pairs.json --prices m.prices -o no.weft
! error: '--machine' and '--prices' exclude each other
!   hint: for a machine that is not here nothing is timed
? 2
$ weft quantize quantize.mlir --calibration calls --machine ./pairs.json --hardware accelerator -o no.weft
! error[W0332]: 'accelerator' declares prices, which leaves nothing to predict for 'round'
? 1
$ weft quantize quantize.mlir --machine ./pairs.json --strategy s.strategy --apply -o no.weft
! error: '--apply' and '--machine' exclude each other
!   hint: a strategy says what each layer becomes, and nothing is measured
? 2
$ ls no.weft m.prices
! ls: {*}
! ls: {*}
? 2
