# Integers where they are worth it: two products, and calls of different sizes. What was timed once is not timed again below.
$ python3 -c "
$+ import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 96 + 96 * 8)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20
$ weft quantize quantize.mlir --calibration calls --prices shared.prices --budget 'cosine>=0.99' -o q.weft -o q.mlir --json > q.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('q.json'))
$+ print(d['schema'], d['paths'], d['calibrated'], d['evaluated'], [l['name'] for l in d['layers']])
$+ print(d['cosine'] >= 0.99, abs(d['cosine'] - d['promised_cosine']) < 1e-4, all(l['form'] in ('f32', 'static', 'rows') for l in d['layers']))"
| weft.quantize/1 ['q.weft', 'q.mlir'] 16 4 ['/first/MatMul', '/second/MatMul']
| True True True

# What is written is a program like any other: it is evaluated, compiled and computes the same.
$ weft verify -q q.mlir q.weft --dim m=5

# A table for people: what each layer became, what it loses and saves, and why not.
$ weft quantize quantize.mlir --calibration calls --prices shared.prices --evaluate calls/003.npz --keep-f32 '/first/*' -o kept.weft
| {*}layer{*}becomes  equalised{*}loss{*}saves{*}why
| {*}/first/MatMul{*}f32{*}kept
| {*}/second/MatMul{*}
!   observe     20  {*} s
! ...
!   {*} of 2 layers in integers; 20 calls calibrated, 1 measured
!   y: cosine {*}, worst {*}  sqnr {*} dB  top1 {*} %  kl {*}
!   time {*}x of f32 ({*}x by prices)  size {*} of {*}
! kept.weft

# A page shows time against loss, with somebody else's file, and what each layer could have become; it needs no other file.
$ weft quantize quantize.mlir --calibration calls --prices shared.prices --budget 'cosine>=0.9' --report page.html --compare q.mlir -o paged.weft --json > paged.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('paged.json')); page = open('page.html').read()
$+ print([p['name'] for p in d['peers']], d['layers'][0]['least'] < -1 < 1 < d['layers'][0]['most'], [c['form'] for c in d['layers'][0]['choices'] if 'most_weight' not in c and c['form'] != 'bf16'])
$+ print('</html>' in page, '/first/MatMul' in page, '<circle' in page, 'q.mlir' in page, 'http' in page, '<script' in page)"
| ['q.mlir'] True ['static', 'rows', 'rows16']
| True True True True False False
$ weft quantize quantize.mlir --calibration calls --prices shared.prices --compare layers.mlir --report no.html -o no.weft
! ...
! error[W0328]: layers.mlir: inputs and outputs are not those of the model, in its order
? 1
$ weft quantize quantize.mlir --calibration calls --report nowhere/no.html -o no.weft
! error: nowhere/no.html: cannot be written: No such file or directory
? 1
