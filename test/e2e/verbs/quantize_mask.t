# Calls that are padded: where an input is 0, nothing is looked at or compared.
$ python3 -c "
$+ import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 96)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20 padded
$ weft quantize masked.mlir --calibration calls --budget 'cosine>=0.9' --mask mask -o masked.weft --json > masked.json
! ...
$ weft quantize masked.mlir --calibration calls --budget 'cosine>=0.1' -o whole.weft --json > whole.json
! ...
$ python3 -c "
$+ import json; masked, whole = (json.load(open(f))['layers'][0] for f in ('masked.json', 'whole.json'))
$+ print(masked['most'] < 100, whole['most'] == 1e6, masked['choices'][0]['loss'] < 1e-3, whole['choices'][0]['loss'] > 0.1)"
| True True True True
$ weft quantize masked.mlir --calibration calls --mask none -o no.weft
! error[W0320]: {*}there is no input 'none' to mask positions with
? 1
$ weft quantize masked.mlir --calibration calls --mask x -o no.weft
! error[W0320]: no product or convolution reads something with the positions of input 'x'
? 1
