# One row per kernel, slowest first, and what is left.
$ weft profile sample.weft --dim b=4 --dim seq=64 --rounds 7
| {*}share {*}time  calls  GFLOP/s  GB/s{*}kernel{*}nodes
| {*} % {*} 1 {*}
| {*} % {*} 1 {*}
| {*} % {*} (between kernels){*}
! b=4 seq=64 threads=1: {*} a call, median of 7 rounds
$ weft profile sample.weft --dim b=4 --dim seq=64 --threads 2 --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin)
$+ k = {x['name']: x for x in d['kernels']}
$+ print(d['schema'], d['symbols'], sorted(k), k['multiply']['calls'], k['multiply']['flops'], k['multiply']['nodes'])"
| weft.profile/1 {'b': 4, 'seq': 64} ['add_and_sum', 'multiply'] 1 192 ['/mul', '/mask']

# The trace holds the kernels of one call in order.
$ weft profile sample.weft --dim b=4 --dim seq=64 --rounds 7 --trace trace.json -q >/dev/null
$ python3 -c "
$+ import json; t = json.load(open('trace.json'))['traceEvents']
$+ print([e['name'] for e in t], t[0]['ts'], t[1]['ts'] >= t[0]['dur'], t[0]['ph'], t[0]['args']['units'])"
| ['multiply', 'add_and_sum'] 0 True X 4

$ weft profile sample.weft --rounds 3
! error: '--rounds' must be at least 7
? 2
$ weft profile sample.weft --dim seq=600 --trace none.json
! error[W0413]: input 'ids': dimension 1 is 600, but 'seq' is at most 512
!   hint: needed by /embeddings/position
? 1
$ test -e none.json
? 1
