# What is read is never replaced, and nothing is written twice.
$ python3 -c "import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(3 * 64 * 64)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20
$ weft quantize quantize.mlir --calibration calls -o ./quantize.mlir
! error: '-o ./quantize.mlir' would replace what is read
!   hint: name another file
? 2
$ weft quantize quantize.mlir --calibration calls --report w.bin -o a.weft
! error: '--report w.bin' would replace what is read
!   hint: name another file
? 2
$ weft quantize quantize.mlir --calibration calls --strategy calls/003.npz -o a.weft
! error: '--strategy calls/003.npz' would replace what is read
!   hint: name another file
? 2
$ weft quantize quantize.mlir --calibration calls --report ./a.weft -o a.weft
! error: '--report ./a.weft' is also '-o a.weft'
!   hint: name another file
? 2
$ weft compile quantize.mlir -o w.bin
! error: '-o w.bin' would replace what is read
!   hint: name another file
? 2
$ wc -c < w.bin; ls calls | wc -l; ls a.weft* *.partial* 2>/dev/null | wc -l
| 49152
| 20
| 0
# An artifact beside the calls is none of them, and one that was there is written anew.
$ weft compile -q quantize.mlir -o calls/a.weft && weft compile -q quantize.mlir -o calls/a.weft
# An artifact is no model, and what stands in other numbers is named.
$ weft quantize calls/a.weft --calibration calls -o b.weft
! error[W0202]: calls/a.weft: is a compiled artifact and no model
!   hint: name the model that it was compiled from
? 1
$ weft quantize half_product.mlir --calibration calls -o b.weft
! error[W0323]: half_product: there is no product or convolution with a constant weight of f32: weights are f16
!   hint: quantise the model in f32 that it was made of
? 1
$ sed 's/"f32": 1/"f32": 1, "pairs of i16": 8, "pairs of i8": 8/' round.json > pairs.json
$ weft quantize -q quantize.mlir --calibration calls --machine ./pairs.json -o bytes.mlir && weft quantize bytes.mlir --calibration calls -o b.weft
| ...
! error[W0323]: bytes: there is no product or convolution with a constant weight of f32: weights are integers already
!   hint: quantise the model in f32 that it was made of
? 1
# Programs of another processor cannot be called here; its data are another way.
$ weft quantize quantize.mlir --calibration calls -t arm:v8 -o b.weft
! error[W0502]: programs for 'arm:v8' cannot be called on this machine, so nothing can be timed or compared
!   hint: '--machine NAME' searches for a machine by its data
? 1
# Of few calls none is kept from calibration, and the report says so.
$ python3 make_calls.py four 4 && weft quantize -q quantize.mlir --calibration four --machine ./pairs.json -o b.weft --json > b.json; weft quantize quantize.mlir --calibration four --machine ./pairs.json -o b.weft
| ...
! ...
!   too few calls to keep any from calibration: accuracy is that of the calls that ranges come from
! ...
$ python3 -c "
$+ import json; d = json.load(open('b.json')); print(d['judged_by_calibration'], d['model'], d['budgets'], d['threads'], d['target'].startswith('arm:'))"
| True quantize.mlir [] 1 True
# What no choice keeps stays in f32, which differs by nothing.
$ weft quantize -q quantize.mlir --calibration calls --machine ./pairs.json --budget 'sqnr>=300' --budget 'top1>=1' -o b.weft --json > b.json; python3 -c "
$+ import json; d = json.load(open('b.json')); print([l['form'] for l in d['layers']], d['sqnr'], d['top1'], d['budgets'])"
| ['f32', 'f32'] None 1 ['sqnr>=300', 'top1>=1']
# A peer that takes other sizes is named before anything is measured; so is a size that nobody said.
$ sed 's/m, 64\]/m, 32]/g; s/64, 96/32, 96/g; s/24576/12288/g' quantize.mlir > narrow.mlir
$ weft quantize quantize.mlir --calibration calls --machine ./pairs.json --compare narrow.mlir --report r.html -o b.weft
! ...
! error[W0328]: narrow.mlir: it does not take the model's calls: input 'x': dimension 1 is 64, but 32 is needed
? 1
$ weft quantize quantize.mlir --calibration none --machine ./pairs.json --budget 'cosine>=0.1' -o b.weft
| ...
! assumed  m=1  (set with --at)
! ...
