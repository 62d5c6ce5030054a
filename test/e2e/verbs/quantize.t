# Integers where they are worth it: two products, and calls of different sizes.
$ python3 -c "
$+ import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(64 * 96 + 96 * 8)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 20
$ weft quantize quantize.mlir --calibration calls --budget 'cosine>=0.99' -o q.weft -o q.mlir --json > q.json
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
$ weft quantize quantize.mlir --calibration calls --evaluate calls/003.npz --keep-f32 '/first/*' -o kept.weft
| {*}layer  becomes  equalised{*}loss{*}saves{*}why
| {*}/first/MatMul{*}f32{*}kept
| {*}/second/MatMul{*}
!   observe     20  {*} s
! ...
!   {*} of 2 layers in integers; 20 calls calibrated, 1 measured
!   y: cosine {*}, worst {*}  sqnr {*} dB  top1 {*} %  kl {*}
!   time {*}x of f32 ({*}x by prices)  size {*} of {*}
! kept.weft

# A page shows time against loss, with somebody else's file, and what each layer could have become; it needs no other file.
$ weft quantize quantize.mlir --calibration calls --budget 'cosine>=0.9' --report page.html --compare q.mlir -o paged.weft --json > paged.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('paged.json')); page = open('page.html').read()
$+ print([p['name'] for p in d['peers']], d['layers'][0]['least'] < -1 < 1 < d['layers'][0]['most'], [c['form'] for c in d['layers'][0]['choices']])
$+ print('</html>' in page, '/first/MatMul' in page, '<circle' in page, 'q.mlir' in page, 'http' in page, '<script' in page)"
| ['q.mlir'] True ['static', 'rows']
| True True True True False False
$ weft quantize quantize.mlir --calibration calls --compare layers.mlir --report no.html -o no.weft
! ...
! error[W0328]: layers.mlir: inputs and outputs are not those of the model, in its order
? 1
$ weft quantize quantize.mlir --calibration calls --report nowhere/no.html -o no.weft
! error: nowhere/no.html: cannot be written: No such file or directory
? 1

# What was decided is a file of sorted lines, which realises the same artifact without calls and without a search.
$ weft quantize -q quantize.mlir --calibration calls --budget 'cosine>=0.9' --strategy s.strategy -o found.weft
$ sed 's/ | [0-9a-f]\{16\} |.*//' s.strategy
| weft-strategy 1 | 00000 | /first/MatMul
| weft-strategy 1 | 00001 | /second/MatMul
$ sort -c s.strategy
$ weft quantize quantize.mlir --strategy s.strategy --apply -o again.weft
! again.weft
$ cmp found.weft again.weft
$ weft quantize quantize.mlir --strategy s.strategy --apply -o again.mlir --json | tr -d ' \n'
| {*}"paths":["again.mlir"]{*}

# A strategy is refused for another model, for other weights, and where it is no strategy.
$ weft quantize layers.mlir --strategy s.strategy --apply -o no.weft
! error[W0324]: s.strategy: the strategy is for another model: it decides 2 layers, and the model has 0
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

# What was timed is kept, and a search that knows it decides the same to the byte; records of other processors are passed over.
$ weft quantize -q quantize.mlir --calibration calls --prices m.prices -o first.weft && sort -c m.prices
$ cp m.prices m.before && weft quantize -q quantize.mlir --calibration calls --prices m.prices -o second.weft
$ cmp first.weft second.weft && cmp m.before m.prices
$ sed 's/^weft-price 1 | [^|]* |/weft-price 1 | Another (1\/2) |/' m.prices > o.prices && cp o.prices o.before
$ weft quantize -q quantize.mlir --calibration calls --prices o.prices -o third.weft
$ python3 -c "
$+ before, after = set(open('o.before')), set(open('o.prices'))
$+ print(before < after, len(after) - len(before) == len(before))"
| True True
$ echo text > text.prices && weft quantize quantize.mlir --calibration calls --prices text.prices -o no.weft
! error[W0325]: text.prices: line 1: no price: it does not begin with 'weft-price 1'
? 1
$ weft quantize quantize.mlir --calibration calls --prices nowhere/m.prices -o no.weft
! error{*}nowhere/m.prices{*}
? 1

# Time that is over ends the search with the best so far.
$ weft quantize quantize.mlir --calibration calls --budget 'cosine>=0.9' --time 0.001s -o hasty.weft --json > hasty.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('hasty.json')); print(d['time_over'], d['calibrated'], d['cosine'] >= 0.9)"
| True 1 True
$ weft quantize -q quantize.mlir --calibration calls --time 1h -o calm.weft
$ weft quantize quantize.mlir --calibration calls --time 0 -o no.weft
! error: '--time 0' is no time
!   hint: write 60s, 5m or 1h
? 2

# Channels that are always 0 are no error.
$ python3 make_calls.py zeros 5 zero && weft quantize -q quantize.mlir --calibration zeros -o zeros.weft

# A size is kept where layers in bytes keep it, whatever time they save; out of reach it is refused.
$ weft quantize quantize.mlir --calibration calls --budget 'cosine>=0.9' --budget 'size<=0.995x' -o small.weft --json > small.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('small.json')); print(d['bytes'] <= 0.995 * d['f32_bytes'], d['layers'][0]['form'] != 'f32')"
| True True
$ weft quantize quantize.mlir --calibration calls --budget 'size<=2K' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: the nearest takes {*}
? 3
$ weft quantize quantize.mlir --calibration calls --budget 'size<=much' -o no.weft
! error: '--budget size<=much' has no sensible bound
!   hint: write bytes such as 25M, or a part of the f32 artifact's such as 0.3x
? 2

# Tables of which calls read rows become bytes for a size, too.
$ python3 make_ids.py ids 10
$ weft quantize table.mlir --calibration ids --budget 'cosine>=0.99' --budget 'size<=0.995x' -o table.weft -o small.mlir --strategy t.strategy --json > table.json
! ...
$ python3 -c "
$+ import json; d = json.load(open('table.json')); l = d['layers'][1]
$+ print(l['name'], l['form'], d['bytes'] <= 0.995 * d['f32_bytes'], d['cosine'] > 0.99, abs(d['cosine'] - d['promised_cosine']) < 1e-4)"
| /embed/Gather bytes True True True
$ weft verify -q small.mlir table.weft --dim m=5
$ weft quantize -q table.mlir --strategy t.strategy --apply -o again.weft && cmp table.weft again.weft
$ sed 's/ bytes | -/ rows | -/' t.strategy > r.strategy && weft quantize table.mlir --strategy r.strategy --apply -o no.weft
! error[W0324]: r.strategy: the strategy is for another model: '/embed/Gather' is a table, which is f32 or bytes
? 1
$ weft quantize table.mlir --calibration ids --keep-f32 '/embed/*' --budget 'size<=0.995x' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: {*}
? 3

# Latency counts at sizes that are asked for.
$ weft quantize -q quantize.mlir --calibration calls --at m=3,40 --prices at.prices -o at.weft && cut -d '|' -f 5 at.prices | sort -u
|  x=3x64 x=40x64
$ weft quantize quantize.mlir --calibration calls --at m=few -o no.weft
! error: '--at m=few' must give each symbol whole numbers
!   hint: write --at batch=1,seq=16,128
? 2
$ weft quantize quantize.mlir --calibration calls --at n=3 -o no.weft
! error: '--at n=3': there is no symbol 'n'
!   hint: 'weft inspect MODEL' lists them
? 2

# A program of the user's measures accuracy: it gets a folder with the outputs of every call.
$ weft quantize quantize.mlir --calibration calls --score 'python3 score.py' --budget 'score>=4' -o scored.weft --json > scored.json
! ...
$ python3 -c "
$+ import json; print(json.load(open('scored.json'))['score'])"
| 4{*}
$ weft quantize quantize.mlir --calibration calls --score 'python3 score.py' --budget 'score>=5' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: {*} score 4
? 3
$ weft quantize quantize.mlir --calibration calls --score 'echo well' --budget 'score>=5' -o no.weft
! ...
! error[W0327]: '--score echo well' printed 'well {*}', which is no number
!   hint: the last line that it prints is its score
? 1
$ weft quantize quantize.mlir --calibration calls --score false --budget 'score>=5' -o no.weft
! ...
! error[W0327]: '--score false' ended with exit code 1
? 1
$ weft quantize quantize.mlir --calibration calls --budget 'score>=5' -o no.weft
! error: '--budget score>=5' needs a program that measures it
!   hint: name one with --score
? 2

# Refusals are one line each and write nothing.
$ weft quantize quantize.mlir -o no.weft
! error: 'weft quantize' needs calls to look at
!   hint: name a folder of .npz files with --calibration
? 2
$ weft quantize quantize.mlir --calibration none -o no.weft
| ...
! ...
!   {*} of 2 layers in integers; {*}
!   calls were generated: {*}
! ...
! no.weft
$ rm no.weft
$ mkdir empty && weft quantize quantize.mlir --calibration empty -o no.weft
! error[W0320]: '--calibration empty' has no .npz files
!   hint: each call is a file of its own, with one array for every input
? 1
$ weft quantize quantize.mlir --calibration nowhere -o no.weft
! error[W0320]: '--calibration nowhere' does not exist
!   hint: name a folder of .npz files, or one
? 1
$ python3 make_calls.py named 3 name && weft quantize quantize.mlir --calibration named -o no.weft
! error[W0320]: named/000.npz: input 'x' is missing
? 1
$ python3 make_calls.py extra 3 extra && weft quantize quantize.mlir --calibration extra -o no.weft
! error[W0320]: extra/000.npz: the model has no input 'z'
? 1
$ python3 make_calls.py double 3 double && weft quantize quantize.mlir --calibration double -o no.weft
! error[W0320]: double/000.npz: input 'x' has elements f64, but the model takes f32
? 1
$ python3 make_calls.py wide 3 wide && weft quantize quantize.mlir --calibration wide -o no.weft
! error[W0413]: wide/000.npz: input 'x': dimension 0 is 65, but 'm' is at most 64
? 1
$ python3 make_calls.py nan 3 nan && weft quantize quantize.mlir --calibration nan -o no.weft
! error[W0320]: nan/002.npz: input 'x' holds nan or infinity
? 1
$ weft quantize quantize.mlir --calibration calls --evaluate named -o no.weft
! ...
! error[W0320]: named/000.npz: input 'x' is missing
? 1
$ echo text > text.npz && weft quantize quantize.mlir --calibration text.npz -o no.weft
! error[W0320]: text.npz: is neither a .npy nor a .npz file
!   hint: write it with numpy.save or numpy.savez
? 1
$ weft quantize quantize.mlir --calibration calls --budget 'cosine>=1.5' -o no.weft
! error: '--budget cosine>=1.5' has no sensible bound
!   hint: write a number between 0 and 1
? 2
$ weft quantize quantize.mlir --calibration calls --budget 'beauty>=1' -o no.weft
! error: '--budget beauty>=1' is not understood
!   hint: write 'cosine>=0.998', 'sqnr>=30', 'top1>=0.99', 'kl<=0.01', 'score>=0.9', 'latency<=0.5x' or 'size<=25M', in quotes
? 2
$ weft quantize quantize.mlir --calibration calls -o no.onnx
! error: 'no.onnx' can only be written of a .onnx file
!   hint: -o FILE.weft writes an artifact, -o FILE.mlir a program
? 2
$ weft quantize quantize.mlir --calibration calls -o no.weft -o no.weft
! error: '-o no.weft' is given twice
? 2
$ weft quantize quantize.mlir --calibration calls -o no.weft -o nowhere/no.mlir
! error: nowhere/no.mlir: cannot be written: No such file or directory
? 1
$ weft quantize quantize.mlir --calibration calls --keep-f32 nobody -o no.weft
! error[W0309]: 'nobody' names no product or convolution that integers could compute
? 2
$ weft quantize layers.mlir --calibration calls -o no.weft
! error[W0323]: the model has no product or convolution with a constant weight of f32
? 1
$ weft quantize quantize.mlir --calibration calls --budget 'latency<=0.001x' -o no.weft
! ...
! error[W0322]: no choice keeps all budgets: the nearest takes {*}x of the time in f32 and {*} with cosine {*}
? 3
$ ls no.* 2>/dev/null | wc -l
| 0
