# Convolutions, also with a filter for each channel, whose channels differ by a factor of 1,000: what the first makes large, the last has small weights for.
$ python3 -c "
$+ import array, random; r = random.Random(1); size = [10.0 ** (3 * c / 15 - 2) for c in range(16)]
$+ first = [size[i // 36] * r.gauss(0, 0.2) for i in range(16 * 36)]; each = [r.gauss(0, 0.3) for i in range(16 * 9)]
$+ last = [r.gauss(0, 0.1) / size[i // 9 % 16] for i in range(8 * 16 * 9)]
$+ array.array('f', first + each + last).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20
$ weft quantize channels.mlir --calibration calls --time 5s --budget 'cosine>=0.9' --strategy s.strategy -o found.weft --json > found.json
! ...

# One scale for all of them keeps every channel, as channels are divided by factors first; without, the last one would lose 0.4.
$ python3 -c "
$+ import json; d = json.load(open('found.json')); best = [l['choices'][0] for l in d['layers']]
$+ print([l['name'] for l in d['layers']], [[c['form'] for c in l['choices'] if 'most_weight' not in c and c['form'] != 'bf16'] for l in d['layers']])
$+ print(['strength' in c for c in best[1:]], [c['loss'] < 1e-2 for c in best])"
| ['/first/Conv', '/each/Conv', '/last/Conv'] [['static'], ['static'], ['static']]
| [True, True] [True, True, True]

# All of them in bytes, whatever is faster here: the artifact computes what the program says.
$ sed 's/ | \(f32\|bf16\) | -$/ | static scale=0.0625 zero=128 | -/' s.strategy > all.strategy
$ weft quantize -q channels.mlir --strategy all.strategy --apply -o all.weft -o all.mlir && weft verify -q all.mlir all.weft --dim m=5
$ grep -c 'weft.quantize ' all.mlir
| 3

# Where bytes are multiplied in pairs that saturate, the same is looked for with weights so small that none does: not of convolutions in groups, whose kernels take no pairs.
$ weft quantize -q channels.mlir --calibration calls -t x86:v3 --budget 'cosine>=0.5' --search all --strategy small.strategy -o small.mlir --json > small.json
$ python3 -c "
$+ import json; d = json.load(open('small.json'))
$+ for l in d['layers']: print(l['name'], l.get('most_weight'), [(c['form'], c.get('most_weight')) for c in l['choices']])"
| /first/Conv 64 [('static', None), ('static', 64)]
| /each/Conv None [('static', None)]
| /last/Conv 64 [('static', None), ('static', 64)]
$ grep -c 'weight<=64' small.strategy
| 2
$ weft inspect small.mlir --why -t x86:v3 | grep multiplies | sort | uniq -c
|       2   multiplies pairs of i8, which saturate in 16 bits: the weight lets none
# The page and the table name them.
$ weft quantize channels.mlir --calibration calls -t x86:v3 --budget 'cosine>=0.5' --search all --report small.html -o small.weft | grep -o 'static<=64 .*' | cut -c 1-10
! ...
| static<=64
| static<=64
$ grep -c 'static&lt;=64' small.html
| 2
