# What a search can be told, and what it refuses, on one product. What was timed once is not timed again below.
$ python3 -c "
$+ import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 96 + 96 * 8)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20

# What was timed is kept, and a search that knows it decides the same to the byte; records of other processors are passed over: all choices are
# timed again, and those that were found together, of which there may be one more or less since they depend on the times.
$ weft quantize -q one.mlir --calibration calls --prices m.prices -o first.weft && sort -c m.prices && cp m.prices shared.prices
$ cp m.prices m.before && weft quantize -q one.mlir --calibration calls --prices m.prices -o second.weft
$ cmp first.weft second.weft && cmp m.before m.prices
$ sed 's/^weft-price 3 | [^|]* |/weft-price 3 | Another (1\/2) |/' m.prices > o.prices && cp o.prices o.before
$ weft quantize -q one.mlir --calibration calls --prices o.prices -o third.weft
$ python3 -c "
$+ before, after = set(open('o.before')), set(open('o.prices'))
$+ print(before < after, abs(len(after) - 2 * len(before)) <= 1)"
| True True
# So are those of a Weft whose kernels are others, which make room for what is timed now.
$ sed 's/weft [0-9.]* ([0-9a-f]*)/weft 0.0.9 (0123456789abcdef)/' m.prices > l.prices && cut -d'|' -f4 l.prices | sort -u
|  weft 0.0.9 (0123456789abcdef)
$ weft quantize -q one.mlir --calibration calls --prices l.prices -o fourth.weft && cut -d'|' -f4 l.prices | sort -u
|  weft {*} ({*})
$ python3 -c "print(abs(len(set(open('l.prices'))) - len(set(open('m.prices')))) <= 1, 'weft 0.0.9' in open('l.prices').read())"
| True False
$ echo text > text.prices && weft quantize one.mlir --calibration calls --prices text.prices -o no.weft
! error[W0325]: text.prices: line 1: no price: it does not begin with 'weft-price 3'
? 1
$ weft quantize one.mlir --calibration calls --prices nowhere/m.prices -o no.weft
! error{*}nowhere/m.prices{*}
? 1

# Time that is over ends the search with the best so far.
$ weft quantize one.mlir --calibration calls --budget 'cosine>=0.9' --time 0.001s -o hasty.weft --json > hasty.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('hasty.json')); print(d['time_over'], d['calibrated'], d['cosine'] >= 0.9)"
| True 4 True
$ weft quantize -q one.mlir --calibration calls --prices shared.prices --time 1h -o calm.weft
$ weft quantize one.mlir --calibration calls --time 0 -o no.weft
! error: '--time 0' is no time
!   hint: write 60s, 5m or 1h
? 2

# Channels that are always 0 are no error.
$ python3 make_calls.py zeros 5 zero && weft quantize -q one.mlir --calibration zeros -o zeros.weft

# A size is kept where layers in bytes keep it, whatever time they save; out of reach it is refused.
$ weft quantize one.mlir --calibration calls --prices shared.prices --budget 'cosine>=0.9' --budget 'size<=0.995x' -o small.weft --json > small.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('small.json')); print(d['bytes'] <= 0.995 * d['f32_bytes'], d['layers'][0]['form'] != 'f32')
$+ print([c['form'] for c in d['layers'][0]['choices'] if 'most_weight' not in c and c['form'] != 'bf16' and 'x8' not in c['form']])"
| True True
| ['static', 'rows', 'rows16', 'blocks4']
$ weft quantize one.mlir --calibration calls --prices shared.prices --budget 'size<=2K' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: the nearest takes {*}
? 3
$ weft quantize one.mlir --calibration calls --budget 'size<=much' -o no.weft
! error: '--budget size<=much' has no sensible bound
!   hint: write bytes such as 25M, or a part of the f32 artifact's such as 0.3x
? 2

# Latency counts at sizes that are asked for.
$ weft quantize -q one.mlir --calibration calls --at m=3,40 --prices at.prices -o at.weft && cut -d '|' -f 6 at.prices | sort -u
|  x=3x64 x=40x64
$ weft quantize one.mlir --calibration calls --at m=few -o no.weft
! error: '--at m=few' must give each symbol whole numbers
!   hint: write --at batch=1,seq=16,128
? 2
$ weft quantize one.mlir --calibration calls --at n=3 -o no.weft
! error: '--at n=3': there is no symbol 'n'
!   hint: 'weft inspect MODEL' lists them
? 2

# A program of the user's measures accuracy: it gets a folder with the outputs of every call.
$ weft quantize one.mlir --calibration calls --prices shared.prices --score 'python3 score.py' --budget 'score>=4' -o scored.weft --json > scored.json
! ...
$ python3 -c "
$+ import json; said = json.load(open('scored.json')); print(said['score'], said['f32_score'])"
| 4{*} 4{*}
$ weft quantize one.mlir --calibration calls --prices shared.prices --score 'python3 score.py' --budget 'score>=5' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: {*} score 4
? 3
$ weft quantize one.mlir --calibration calls --prices shared.prices --score 'echo well' --budget 'score>=5' -o no.weft
! ...
! error[W0327]: '--score echo well' printed 'well {*}', which is no number
!   hint: the last line that it prints is its score
? 1
$ weft quantize one.mlir --calibration calls --prices shared.prices --score false --budget 'score>=5' -o no.weft
! ...
! error[W0327]: '--score false' ended with exit code 1
? 1
$ weft quantize one.mlir --calibration calls --prices shared.prices --budget 'score>=5' -o no.weft
! error: '--budget score>=5' needs a program that measures it
!   hint: name one with --score
? 2

# Refusals are one line each and write nothing.
$ weft quantize one.mlir -o no.weft
! error: 'weft quantize' needs calls to look at
!   hint: name a folder of .npz files with --calibration
? 2
$ weft quantize one.mlir --calibration none -o no.weft
| ...
! ...
!   {*} of 1 layers in integers; {*}
!   calls were generated: {*}
! ...
! no.weft
$ rm no.weft
$ mkdir empty && weft quantize one.mlir --calibration empty -o no.weft
! error[W0320]: '--calibration empty' has no .npz files
!   hint: each call is a file of its own, with one array for every input
? 1
$ weft quantize one.mlir --calibration nowhere -o no.weft
! error[W0320]: '--calibration nowhere' does not exist
!   hint: name a folder of .npz files, or one
? 1
$ python3 make_calls.py named 3 name && weft quantize one.mlir --calibration named -o no.weft
! error[W0320]: named/000.npz: input 'x' is missing
? 1
$ python3 make_calls.py extra 3 extra && weft quantize one.mlir --calibration extra -o no.weft
! error[W0320]: extra/000.npz: the model has no input 'z'
? 1
$ python3 make_calls.py double 3 double && weft quantize one.mlir --calibration double -o no.weft
! error[W0320]: double/000.npz: input 'x' has elements f64, but the model takes f32
? 1
$ python3 make_calls.py wide 3 wide && weft quantize one.mlir --calibration wide -o no.weft
! error[W0413]: wide/000.npz: input 'x': dimension 0 is 65, but 'm' is at most 64
? 1
$ python3 make_calls.py nan 3 nan && weft quantize one.mlir --calibration nan -o no.weft
! error[W0320]: nan/002.npz: input 'x' holds nan or infinity
? 1
$ weft quantize one.mlir --calibration calls --prices shared.prices --evaluate named -o no.weft
!   observe     20  {*}
!   observe     20  {*}
! error[W0320]: named/000.npz: input 'x' is missing
? 1
$ echo text > text.npz && weft quantize one.mlir --calibration text.npz -o no.weft
! error[W0320]: text.npz: is neither a .npy nor a .npz file
!   hint: write it with numpy.save or numpy.savez
? 1
$ weft quantize one.mlir --calibration calls --budget 'cosine>=1.5' -o no.weft
! error: '--budget cosine>=1.5' has no sensible bound
!   hint: write a number between 0 and 1
? 2
$ weft quantize one.mlir --calibration calls --budget 'beauty>=1' -o no.weft
! error: '--budget beauty>=1' is not understood
!   hint: write 'cosine>=0.998', 'sqnr>=30', 'top1>=0.99', 'kl<=0.01', 'score>=0.9', 'latency<=0.5x', 'latency<=3ms' or 'size<=25M', in quotes
? 2
$ weft quantize one.mlir --calibration calls -o no.onnx
! error: 'no.onnx' can only be written of a .onnx file
!   hint: -o FILE.weft writes an artifact, -o FILE.mlir a program
? 2
$ weft quantize one.mlir --calibration calls -o no.weft -o no.weft
! error: '-o no.weft' is given twice
? 2
$ weft quantize one.mlir --calibration calls -o no.weft -o nowhere/no.mlir
! error: nowhere/no.mlir: cannot be written: No such file or directory
? 1
$ weft quantize one.mlir --calibration calls --keep-f32 nobody -o no.weft
! error[W0309]: 'nobody' names no product or convolution that could become anything else
? 2
$ weft quantize layers.mlir --calibration calls -o no.weft
! error[W0323]: layers: there is no product or convolution with a constant weight of f32
? 1
$ weft quantize one.mlir --calibration calls --prices shared.prices --budget 'latency<=0.001x' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: the nearest takes {*}x of the time in f32 and {*} with cosine {*}
? 3
$ ls no.* 2>/dev/null | wc -l
| 0
