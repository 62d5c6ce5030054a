# Two products have the same error, so together they lose four times what one does. Where that is far from the sum, choices are measured beside each other, and what is promised is what the whole loses.
$ python3 -c "import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(3 * 64 * 64)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 40
$ sed 's/"f32": 1/"f32": 1, "pairs of i16": 8, "pairs of i8": 8/' round.json > pairs.json
$ weft quantize same_errors.mlir --calibration calls --machine ./pairs.json --budget 'latency<=0.5x' -o fast.mlir --json > fast.json
!   observe     32  {*}
!   observe     32  {*}
!   losses      16  {*}
!   prices      1  {*}
!   strategies  1  {*}
!   losses      16  {*}
!   strategies  1  {*}
$ python3 -c "
$+ import json; d = json.load(open('fast.json')); alone = sum(l['loss'] for l in d['layers']); whole = 1 - d['promised_cosine']
$+ print([l['form'] for l in d['layers']], whole > 1.5 * alone, 0.8 < (1 - d['predicted_cosine']) / whole < 1.25)"
| ['rows', 'rows'] True True
# Where nothing faster is left to be found, one measurement of the whole is enough.
$ weft quantize same_errors.mlir --calibration calls --machine ./pairs.json --budget 'cosine>=0.99' -o good.mlir --json > good.json
!   observe     32  {*}
!   observe     32  {*}
!   losses      16  {*}
!   prices      1  {*}
$ python3 -c "
$+ import json; d = json.load(open('good.json')); alone = sum(l['loss'] for l in d['layers']); whole = 1 - d['promised_cosine']
$+ print([l['form'] for l in d['layers']], whole > 1.5 * alone, 0.8 < (1 - d['predicted_cosine']) / whole < 1.25)"
| ['static', 'static'] True True
# What is near the sum is not measured again.
$ weft quantize -q same_errors.mlir --calibration calls --machine ./pairs.json --budget 'latency<=0.9x' -o one.mlir --json > one.json
$ python3 -c "
$+ import json; d = json.load(open('one.json'))
$+ print([l['form'] for l in d['layers']], 1 - d['predicted_cosine'] == d['layers'][0]['loss'])"
| ['rows', 'f32'] True
