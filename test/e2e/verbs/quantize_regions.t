# Products in loops and branches are layers as all others: what they read is observed in every turn that calls make, and a loop's price is that
# of all its turns. Their matrices are parts of one weight. A branch that no call takes stays in f32.
$ python3 -c "import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 96 + 2 * 96 * 96)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20 && python3 make_calls.py spikes 20 spikes
$ weft quantize recurrent.mlir --calibration calls --hardware accelerator --budget 'cosine>=0.9' --strategy r.strategy -o r.weft -o r.mlir
| {*}becomes{*}
| {*}/in/MatMul   static{*}
| {*}/loop/MatMul   static{*}
| {*}/branch/MatMul      f32{*}no call reaches it
! ...
!   2 of 3 layers in integers; 16 calls calibrated, 4 measured
! ...
$ weft quantize recurrent.mlir --calibration spikes --hardware accelerator --budget 'cosine>=0.9' -o s.weft --json > s.json
! ...
$ python3 -c "
$+ import json; each = json.load(open('s.json'))
$+ print([(l['name'], l['form'], l['least'], l['most']) for l in each['layers'][1:]])
$+ print(each['cosine'] > 0.9, abs(each['cosine'] - each['promised_cosine']) <= 0.02 * (1 - each['cosine']))"
| [('/loop/MatMul', 'static', -1, 1), ('/branch/MatMul', 'static', -1, 1)]
| True True

# It computes what it says, for any number of turns, and its strategy alone makes it again.
$ weft check r.mlir --hardware accelerator
| r.mlir: keeps to 'accelerator'; 2 operations in integers{*}
$ weft verify -q r.mlir r.weft --dim m=1 && weft verify -q r.mlir r.weft --dim m=9
$ weft quantize -q recurrent.mlir --strategy r.strategy --apply -o again.weft && cmp r.weft again.weft

# Weights of 4 bits are rounded by what all turns read.
$ weft quantize recurrent.mlir --calibration calls --budget 'size<=0.9x' --time 20s -o blocks.weft --json > blocks.json
! ...
$ python3 -c "
$+ import json; found = {l['name']: l['choices'] for l in json.load(open('blocks.json'))['layers']}
$+ print([c['rounded'] for c in found['/loop/MatMul'] if c['form'] == 'blocks4'])"
| ['moments']

# A prediction counts what a loop repeats as often as sizes say.
$ weft inspect r.mlir -t x86:v4 --machine zen5 --json --at m=3 > three.json && weft inspect r.mlir -t x86:v4 --machine zen5 --json --at m=50 > fifty.json
$ python3 -c "
$+ import json; read = [json.load(open(name)) for name in ('three.json', 'fifty.json')]
$+ print([(each['repeated_calls'], max(kernel['calls'] for kernel in each['kernels'])) for each in read])"
| [(2, 3), (2, 50)]
