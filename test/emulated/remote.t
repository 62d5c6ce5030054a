$ python3 -c "
$+ import array; array.array('f', [(i * 37 % 101) / 64 - 0.75 for i in range(256 * 384)]).tofile(open('w.bin', 'wb'))"

# What asks most of the processor there is what is compiled, and nothing that is tried there is wrong or fails.
$ weft tune tune.mlir --assume 'm == 1' --budget 20m --timeout 60s --remote "$REMOTE" --json -q > tune.json
$ python3 -c "
$+ import json; d = json.load(open('tune.json')); k, = d['kernels']
$+ print(d['target'], d['processor'], d['records'] == d['tuned'] <= 1, k['untried'])
$+ print(len(k['trials']) > 1, *{t['verdict'] for t in k['trials']} - {'faster', 'not faster'})"
| arm:v8 generic True 0
| True

# Records name the processor there, and are used for it here.
$ weft compile -q tune.mlir -t arm:v8 --tuning tune.tuning --tuned-for generic

# Or by what it executes, under an emulator here: the same number in every run, so twice the same is found.
$ weft tune tune.mlir --assume 'm == 6' --budget 20m --timeout 60s --remote "$REMOTE" --score "$SCORE" --json -q -o counted.tuning > counted.json
$ python3 -c "
$+ import json; d = json.load(open('counted.json')); k, = d['kernels']; size, = d['sizes']
$+ print(d['records'] == d['tuned'] <= 1, k['untried'], len(k['trials']) > 1, *{t['verdict'] for t in k['trials']} - {'faster', 'not faster'})
$+ print(d['tuned'] == 0 or size['tuned_score'] < size['estimated_score'])"
| True 0 True
| True

# A level that it does not have is refused before anything is compiled.
$ weft tune tune.mlir -t arm:v8.2 --remote "$REMOTE"
! error: the remote '{*}' (aarch64) lacks 'fullfp16', which arm:v8.2 needs
!   hint: --target arm:v8 is the most that it has
? 4
