# Other ways to find strategies than the exact one, for comparison. With declared rates nothing is timed, so the same search finds the same again, to the byte.
$ python3 -c "import array, random; r = random.Random(1); array.array('f', [r.gauss(0, 0.1) for i in range(3 * 64 * 64)]).tofile(open('w.bin', 'wb'))"
$ python3 make_calls.py calls 5
$ echo 'weft quantize residual.mlir --calibration calls --budget "sqnr>=34" --hardware accelerator --search $1 --strategy $2.strategy --report $2.html -o $2.weft --json > $2.json 2> /dev/null || echo $?' > by.sh
$ sh by.sh exact exact; sh by.sh greedy greedy; sh by.sh random:7 random; sh by.sh random:7 again
$ cmp random.strategy again.strategy && cmp random.weft again.weft

# At the same budget none is faster than the exact search, and all keep it. The report and the page say who searched.
$ python3 -c "
$+ import json; each = {n: json.load(open(n + '.json')) for n in ('exact', 'greedy', 'random')}
$+ print([d['search'] for d in each.values()], [d['sqnr'] >= 34 for d in each.values()], [d['latency'] < 1 for d in each.values()])
$+ print([each['exact']['latency'] <= d['latency'] for d in each.values()], [len(d['tried']) > 1 for d in each.values()])"
| ['exact', 'greedy', 'random:7'] [True, True, True] [True, True, True]
| [True, True, True] [True, True, True]
$ grep -c 'the search was greedy' greedy.html
| 1

# What storing a sum's operand as bytes alone takes is less than half a percent for each of four kinds, and is priced. (What the last sum reads costs more.)
$ python3 make_sums.py 64 72 80 88 96 104 > sums.mlir
$ weft quantize sums.mlir --calibration calls -t arm:v8.2 --machine cortex-a76 --at s=64 --budget 'cosine>=0.9' -o sums.weft --json 2> /dev/null | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); each = [{c['form']: c['saved_seconds'] for c in layer['choices']} for layer in d['layers']]
$+ parts = [abs(saved['static'] - saved['everywhere']) for saved in each[:-1] if 'everywhere' in saved]
$+ print(len(parts), {0 < part < 0.005 * d['seconds'] for part in parts})"
| 4 {True}

$ weft quantize residual.mlir --calibration calls --search best -o no.weft
! error: '--search best' is none of exact, all, random, random:SEED and greedy
? 2
$ weft quantize residual.mlir --calibration calls --search random:-1 -o no.weft
! error: '--search random:-1' is none of exact, all, random, random:SEED and greedy
? 2
$ weft quantize residual.mlir --apply --strategy random.strategy --search all -o no.weft
! error: '--apply' and '--search' exclude each other
!   hint: a strategy says what each layer becomes, and nothing is measured
? 2
