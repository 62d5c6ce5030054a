# Strategies as files, on two products, and tables in bytes. There is little time for looking, as what is found does not matter.
$ python3 -c "
$+ import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 96 + 96 * 8)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20

# What was decided is a file of sorted lines, which realises the same artifact without calls and without a search.
$ weft quantize -q quantize.mlir --calibration calls --time 0.2s --budget 'cosine>=0.9' --strategy s.strategy -o found.weft
$ sed 's/ | [0-9a-f]\{16\} |.*//' s.strategy
| weft-strategy 1 | 00000 | /first/MatMul
| weft-strategy 1 | 00001 | /second/MatMul
$ sort -c s.strategy
$ weft quantize quantize.mlir --strategy s.strategy --apply -o again.weft
! again.weft
$ cmp found.weft again.weft
$ weft quantize quantize.mlir --strategy s.strategy --apply -o again.mlir --json | tr -d ' \n'
| {*}"paths":["again.mlir"]{*}

# A weight in blocks of 4 bits is one more form, which lines may be edited to; what is summed has to be whole blocks.
$ sed 's/ | [^|]* | [^|]*$/ | blocks4 | -/' s.strategy > b.strategy && grep -c 'blocks4 | -' b.strategy
| 2
$ weft quantize -q quantize.mlir --strategy b.strategy --apply -o blocks.weft -o blocks.mlir && weft verify -q blocks.mlir blocks.weft --dim m=5
$ grep -c 'dequantize_blocks .* axis 0 block 32 : (.*ui4>, .*f16>, .*ui4>) ->' blocks.mlir
| 2
$ sed 's/64, /40, /g; s/ 64\]/ 40]/g; s/24576/15360/g' quantize.mlir > odd.mlir && weft quantize -q odd.mlir --calibration none --time 0.2s --strategy odd.strategy -o odd.weft
$ sed 's/ | [^|]* | [^|]*$/ | blocks4 | -/' odd.strategy > odd4.strategy && weft quantize odd.mlir --strategy odd4.strategy --apply -o no.weft
! error[W0324]: odd4.strategy: the strategy is for another model: layer '/first/MatMul' has no blocks of 32
? 1

# What meets them may be bytes in blocks alike, in lines of whole blocks.
$ sed 's/blocks4/blocks4x8/' b.strategy > x.strategy && weft quantize -q quantize.mlir --strategy x.strategy --apply -o bytes.weft -o bytes.mlir && weft verify -q bytes.mlir bytes.weft --dim m=5
$ grep -c 'round_blocks .* block 32' bytes.mlir
| 2
# Its numbers may have 5 or 6 bits, of which kernels read no more; programs have bytes.
$ for f in blocks4x8 blocks5x8 blocks6x8; do sed "s/blocks4/$f/" b.strategy > x.strategy && weft quantize -q quantize.mlir --strategy x.strategy --apply -o $f.mlir && weft compile -q $f.mlir -t x86:v3+vnni && weft inspect $f.weft --json | python3 -c "
$+ import json, sys; print(json.load(sys.stdin)['weight_bytes'])" && weft verify -q $f.mlir --dim m=5; done
| 4800
| 5552
| 6512
$ sed 's/blocks4/blocks4x8/' odd4.strategy > oddx.strategy; weft quantize odd.mlir --strategy oddx.strategy --apply -o no.weft
! error[W0324]: oddx.strategy: the strategy is for another model: layer '/first/MatMul' has no rows of whole blocks of 32
? 1

# Rows of 16 bits are another, which are multiplied in pairs; hardware may have none, and convolutions have no rows.
$ sed 's/ | [^|]* | [^|]*$/ | rows16 | -/' s.strategy > r.strategy && weft quantize -q quantize.mlir -t x86:v3 --strategy r.strategy --apply -o rows.weft -o rows.mlir && weft verify -q rows.mlir rows.weft --dim m=5
$ grep -c ' weft.quantize .*, i16>' rows.mlir
| 2
$ weft inspect --why rows.mlir -t x86:v3 | grep -c 'multiplies pairs of i16'
| 2
$ weft check rows.mlir --hardware x86-v3 | tail -1
| rows.mlir: keeps to 'x86-v3'; {*} in integers, {*} in floats{*}
$ weft check rows.mlir --hardware qdq
|   /first/MatMul: quantize: gives or reads i16, which the description has nowhere
|   /first/MatMul: dequantize: gives or reads i16, which the description has nowhere
|   /first/MatMul: contract: what it reads is i16, the description allows ui8, i8
|   /second/MatMul: quantize: gives or reads i16, which the description has nowhere
|   /second/MatMul: dequantize: gives or reads i16, which the description has nowhere
|   /second/MatMul: contract: what it reads is i16, the description allows ui8, i8
! error[W0331]: rows.mlir: 6 operations break the description 'qdq'
? 1
$ sed 's/| rows16 |/| rows16 weight<=64 |/' r.strategy > n.strategy && weft quantize -q quantize.mlir --strategy n.strategy --apply -o narrow.mlir && grep -c ' weft.quantize .*, i16>' narrow.mlir
| 2
$ weft quantize -q images.mlir --calibration none --time 0.2s --strategy i.strategy -o i.weft
$ sed 's/ | [^|]* | [^|]*$/ | rows16 | -/' i.strategy > i16.strategy && weft quantize images.mlir --strategy i16.strategy --apply -o no.weft
! error[W0324]: i16.strategy: the strategy is for another model: layer '{*}' has no rows with scales of their own
? 1

# What a weight in blocks was rounded to stands beside the line that names it; without it, or with other numbers, the strategy is refused.
$ python3 -c "
$+ import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 2048)]).tofile(open('wide.bin', 'wb'))"
$ sed 's/96/2048/g; s/24576/524288/; s/w.bin/wide.bin/' one.mlir > wide.mlir
$ weft quantize wide.mlir -t x86:v3 --calibration calls --budget 'size<=0.45x' --strategy w.strategy --report wide.html -o wide.weft --json > wide.json
! ...
$ python3 -c "
$+ import json; l = json.load(open('wide.json'))['layers'][0]; print(l['form'], l['rounded'], [c.get('rounded') for c in l['choices'] if 'most_weight' not in c])"
| blocks4 moments [None, None, None, 'moments']
$ grep -c '<td>blocks4</td><td>moments</td>' wide.html
| 1
$ sed 's/[0-9a-f]\{16\}/KEY/g' w.strategy
| weft-strategy 1 | 00000 | /first/MatMul | KEY | blocks4 rounded=KEY | {*}
$ weft quantize -q wide.mlir -t x86:v3 --strategy w.strategy --apply -o again.weft && cmp wide.weft again.weft
$ mv w.strategy.safetensors kept && weft quantize wide.mlir --strategy w.strategy --apply -o no.weft
! error[W0324]: w.strategy.safetensors: cannot be opened: no such file or directory
!   hint: it is written beside the strategy, and belongs to it
? 1
$ python3 -c "
$+ b = bytearray(open('kept', 'rb').read()); b[-1] ^= 1; open('w.strategy.safetensors', 'wb').write(b)"
$ weft quantize wide.mlir --strategy w.strategy --apply -o no.weft
! error[W0324]: w.strategy.safetensors: the numbers of layer '/first/MatMul' are not those that the strategy names
? 1
$ echo text > w.strategy.safetensors && weft quantize wide.mlir --strategy w.strategy --apply -o no.weft
! error[W0324]: w.strategy.safetensors: {*}
!   hint: it is written beside the strategy, and belongs to it
? 1
$ cp kept w.strategy.safetensors && sed 's/blocks4 r/blocks5x8 r/' w.strategy > five.strategy && cp kept five.strategy.safetensors && weft quantize wide.mlir --strategy five.strategy --apply -o no.weft
! error[W0324]: five.strategy.safetensors: the numbers of layer '/first/MatMul' are not those that the strategy names
? 1
$ sed 's/ rounded=[0-9a-f]*//' w.strategy > nearest.strategy && weft quantize -q wide.mlir --strategy nearest.strategy --apply -o nearest.weft

# A strategy is refused for another model, for other weights, and where it is no strategy.
$ weft quantize layers.mlir --strategy s.strategy --apply -o no.weft
! error[W0324]: s.strategy: the strategy is for another model: it decides 2 layers, and the model has 1
? 1
$ sed 's/second/third/' quantize.mlir > renamed.mlir && weft quantize renamed.mlir --strategy s.strategy --apply -o no.weft
! error[W0324]: s.strategy: the strategy is for another model: layer 1 of the model is '/third/MatMul', not '/second/MatMul'
? 1
$ sed 's/ at 24576/ at 24572/' quantize.mlir > shifted.mlir && weft quantize shifted.mlir --strategy s.strategy --apply -o no.weft
! error[W0324]: s.strategy: the strategy is for another model: layer '/second/MatMul' has other weights
? 1
$ echo text > text.strategy && weft quantize quantize.mlir --strategy text.strategy --apply -o no.weft
! error[W0324]: text.strategy: line 1: no decision: it does not begin with 'weft-strategy 1'
? 1
$ weft quantize quantize.mlir --strategy nowhere.strategy --apply -o no.weft
! error[W0324]: nowhere.strategy: {*}
? 1
$ weft quantize quantize.mlir --strategy s.strategy --apply --calibration calls -o no.weft
! error: '--apply' and '--calibration' exclude each other
!   hint: a strategy says what each layer becomes, and nothing is measured
? 2
$ weft quantize quantize.mlir --apply -o no.weft
! error: '--apply' has no effect without '--strategy'
!   hint: 'weft help quantize' lists the options
? 2

# Tables of which calls read rows become bytes for a size, too.
$ python3 make_ids.py ids 10
$ weft quantize table.mlir --calibration ids --prices table.prices --budget 'cosine>=0.99' --budget 'size<=0.95x' -o table.weft -o small.mlir --strategy t.strategy --json > table.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('table.json')); l = d['layers'][1]
$+ print(l['name'], l['form'], d['bytes'] <= 0.95 * d['f32_bytes'], d['cosine'] > 0.99, abs(d['cosine'] - d['promised_cosine']) < 1e-4)"
| /embed/Gather bytes True True True
$ weft verify -q small.mlir table.weft --dim m=5
$ weft quantize -q table.mlir --strategy t.strategy --apply -o again.weft && cmp table.weft again.weft
$ sed -i 's/ bytes | -/ rows | -/' t.strategy && weft quantize table.mlir --strategy t.strategy --apply -o no.weft
! error[W0324]: t.strategy: the strategy is for another model: '/embed/Gather' is a table, which is f32 or bytes
? 1
$ weft quantize table.mlir --calibration ids --prices table.prices --keep-f32 '/embed/*' --budget 'size<=0.95x' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: {*}
? 3
