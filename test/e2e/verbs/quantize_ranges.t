# A number in some thousands is far from all others, and what reads it saturates: ranges that methods find in a histogram lose much less than parts of the extremes would.
$ python3 -c "
$+ import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 96)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20 spikes
$ sed 's/return %y/%z = weft.tanh %y : (!weft.tensor<[m, 96], f32>) -> !weft.tensor<[m, 96], f32>\n  return %z/' one.mlir > tanh.mlir
$ weft quantize tanh.mlir --calibration calls --hardware accelerator --budget 'cosine>=0.5' --strategy s.strategy --report page.html -o cut.weft --json > cut.json
! ...
$ python3 -c "
$+ import json; layer = json.load(open('cut.json'))['layers'][0]
$+ print(layer['form'], layer['most'], layer['range'] < 0.3, layer['range_by'] in ('least squares', 'entropy', 'percentile 99.9', 'percentile 99.99'), layer['loss'] < 0.015)"
| static 1000 True True True
$ grep -c -E 'cut at [0-9]+ % by (least squares|entropy|percentile)' page.html
| 1

# The strategy says the range that was taken, so it makes the same file again.
$ weft quantize -q tanh.mlir --strategy s.strategy --apply -o again.weft && cmp cut.weft again.weft
