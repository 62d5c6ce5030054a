# A decoder whose cache is to be in bytes: calls are those of the model as it is, and what rounding the cache loses is in what budgets see.
$ python3 -c "import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 4160)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20 kept
$ weft quantize kept.mlir --cache i8 --calibration calls -t x86:v3 --machine zen5 --budget 'cosine>=0.99' --strategy k.strategy -o k.weft -o k.mlir
| {*}becomes{*}
| {*}/key/MatMul         f32{*}not faster in integers
| {*}/out/MatMul  static<=64{*}
! ...
!   1 of 2 layers in integers; 16 calls calibrated, 4 measured
!   y: cosine 0.99{*}
!   caches of i8 alone: cosine 0.999{*}
!   time {*} of f32 with such caches {*}
! ...
$ weft inspect -q k.weft | grep main
| main(x: f32[s, 64], past: i8[p, 64], past_scale: f32[p, 1]) -> (y: f32[s, 4096], present: i8[p + s, 64], present_scale: f32[p + s, 1])
$ weft verify -q k.mlir k.weft --dim s=3 --dim p=17 && weft verify -q k.mlir k.weft --dim s=1 --dim p=0

# The report has it, what is promised is what is measured, and halves go as well.
$ weft quantize kept.mlir --cache bf16 --calibration calls -t x86:v3 --machine zen5 --budget 'cosine>=0.99' -o bf16.weft --json > bf16.json
! ...
$ python3 -c "
$+ import json; each = json.load(open('bf16.json'))
$+ print(each['cache']['element'], [output['name'] for output in each['outputs']], each['cosine'] < each['cache']['cosine'] < 1)
$+ print(abs(each['cosine'] - each['promised_cosine']) <= 0.02 * (1 - each['cosine']))"
| bf16 ['y'] True
| True
$ weft inspect -q bf16.weft | grep main
| main(x: f32[s, 64], past: bf16[p, 64]) -> (y: f32[s, 4096], present: bf16[p + s, 64])

# A cache in f32 is an output, too, whose rows are no distributions.
$ weft quantize kept.mlir --calibration calls -t x86:v3 --machine zen5 --budget 'kl<=0.5' -o plain.weft
| ...
! ...
!   y: cosine {*}  sqnr {*} dB  top1 {*} %  kl {*}
!   present: cosine 1.00000, worst 1.0000  sqnr inf dB
! ...
$ weft quantize -q kept.mlir --calibration calls -t x86:v3 --machine zen5 --budget 'kl<=0.5' -o plain.weft --json > plain.json; python3 -c "
$+ import json; print([(output['name'], output['kl'] is None, output['top1'] is None) for output in json.load(open('plain.json'))['outputs']])"
| [('y', False, False), ('present', True, True)]

# A strategy is of the model with such a cache.
$ weft quantize -q kept.mlir --cache i8 -t x86:v3 --strategy k.strategy --apply -o applied.weft && cmp k.weft applied.weft

# A budget that the cache alone breaks is out of reach, and the line says so.
$ weft quantize -q kept.mlir --cache i8 --calibration calls -t x86:v3 --machine zen5 --budget 'cosine>=0.999999' -o no.weft
! error[W0322]: no choice keeps all budgets: {*}; caches of i8 alone: cosine 0.999{*}
? 3

# What cannot be is refused, and nothing is written.
$ weft quantize -q kept.mlir --cache i4 --calibration calls -o no.weft
! error: '--cache' is 'i4', but must be i8, f16 or bf16
!   hint: 'weft help quantize' lists the options
? 2
$ weft quantize -q kept.mlir --cache i8 --calibration calls --hardware accelerator -o no.weft
! error[W0332]: kept.mlir:11: the model with such caches breaks the description 'accelerator': concat: computes in integers, the description has none of it
!   hint: 'weft check --hardware' names them all
? 1
$ weft quantize -q layers.mlir --cache i8 --calibration calls -o no.weft
! error[W0209]: there is no cache: no output is an input of floats with something behind it
? 1
$ weft quantize -q kept.mlir --cache i8 --calibration calls --compare kept.mlir -o no.weft
! error[W0328]: files of others have no rounded caches to compare with
? 1
$ python3 make_onnx.py chain.onnx Relu && weft quantize -q chain.onnx --cache i8 --calibration calls -o no.onnx
! error[W0326]: rounded caches are not written into ONNX files
? 1
$ python3 make_calls.py wrong 3
$ weft quantize -q kept.mlir --cache i8 --calibration wrong -o no.weft
! error[W0320]: wrong/000.npz: input 'past' is missing
? 1
$ ls no.weft no.onnx 2>/dev/null
? 2
