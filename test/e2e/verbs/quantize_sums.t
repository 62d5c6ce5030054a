# What is added to a product's result, and read by a product, may be bytes for both.
$ python3 -c "
$+ import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(3 * 64 * 64)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20
$ weft quantize residual.mlir --calibration calls --time 0.2s --budget 'cosine>=0.9' --strategy s.strategy -o found.weft --json > found.json
! ...

# It is a choice of layers that read what something else reads, too, and of no others.
$ python3 -c "
$+ import json; d = json.load(open('found.json'))
$+ print([[c['form'] for c in l['choices'] if 'most_weight' not in c and c['form'] != 'bf16'] for l in d['layers']], abs(d['cosine'] - d['promised_cosine']) < 1e-4)"
| [['static', 'rows', 'rows16'], ['static', 'everywhere', 'rows', 'rows16'], ['static', 'rows', 'rows16']] True

# A line may say it, and the sum reads what was stored as bytes: no kernel stores f32 but the last.
$ sed 's/ | [^|]* | [^|]*$/ | static scale=0.125 zero=128 | -/; 2s/static scale=0.125 zero=128/everywhere scale=0.03125 zero=0/' s.strategy > e.strategy
$ weft quantize -q residual.mlir --strategy e.strategy --apply -o e.weft -o e.mlir && weft verify -q e.mlir e.weft --dim m=5
$ weft quantize -q residual.mlir --strategy e.strategy --apply -o again.weft && cmp e.weft again.weft
$ weft compile -q e.mlir --stop-after fuse > fused.mlir
$ grep -c 'weft.kernel .*, ui8> {$' fused.mlir; grep -c 'weft.kernel .*, f32> {$' fused.mlir
| 3
| 1

# It takes no equalisation.
$ sed '2s/ | -$/ | 0.5: 1.0/' e.strategy > f.strategy && weft quantize residual.mlir --strategy f.strategy --apply -o no.weft
! error[W0324]: f.strategy: line 2: '0.5: 1.0' is no equalisation such as 0.8: 1.5 0.75
? 1
