$ python3 -c "
$+ import array; array.array('f', [(i * 37 % 101) / 64 - 0.75 for i in range(256 * 384)]).tofile(open('w.bin', 'wb'))"

# Kernels of a split program are timed by ranks that run it together; one output lies in parts, which are compared as a whole.
$ cat > tried.py <<'END'
$+ import json, sys
$+ d = json.load(open(sys.argv[1])); kernels = [k for k in d['kernels'] if not k.get('exchange')]; trials = [t for k in kernels for t in k['trials']]
$+ print(len(kernels), d['records'] == d['tuned'] == len(open(d['path']).readlines()), [s['size'] for s in d['sizes']])
$+ print({t['choice'] for t in trials} >= {'rows'}, all(k['trials'] and not k['untried'] for k in kernels), all(t['verdict'] != 'wrong' for t in trials))
$+ END
$ split="--mesh tp=2 --place w=[_,tp]"; weft tune two.mlir -t x86:v3 $split --place 'y=local [_, tp]' --dim m=24 --budget 20m --json -q > two.json && python3 tried.py two.json
| 2 True ['m=24']
| True True True
$ weft compile -q two.mlir -t x86:v3 --mesh tp=2 --place 'w=[_,tp]' --place 'y=local [_, tp]' --tuning two.tuning && weft verify two.mlir two.weft --ranks 2 --dim m=7 -q

# Records are of the kernels that a rank has: 'compile' takes them with the options that split the model, and without these it does not.
$ python3 -c "
$+ import json
$+ for k in json.load(open('two.json'))['kernels']: print('weft-tuning 1 | Test CPU (6/1) | x86:v3 | %s | contraction rows=3 | m=24 | threads=1 | 3.5 %%' % k['kernel'])" > hand.tuning
$ weft compile two.mlir -t x86:v3 --mesh tp=2 --place 'w=[_,tp]' --place 'y=local [_, tp]' --tuning hand.tuning --tuned-for 'Test CPU (6/1)' --json -q | grep tuned_kernels
|   "tuned_kernels": 2,
$ weft compile two.mlir -t x86:v3 --tuning hand.tuning --tuned-for 'Test CPU (6/1)' --json -q | grep tuned_kernels
|   "tuned_kernels": 0,

# A text that is split already, by ranks that are threads and have a link: a call takes two of its latencies at least. What is said at the end compiles the same program.
$ weft tune fused.mlir -t x86:v2 --dim m=8 --budget 20m --transport threads --link 1MB/s,20ms --fuse-comm never > out 2> err; grep -E '^  (ranks|next)' err; grep -cE 'a call takes (([4-9].|[1-9]..)([.][0-9]*)? ms|[0-9.]+ s)' err
|   ranks     tp = 2, over threads with links of 1MB/s,20ms
|   next: weft compile fused.mlir --link 1MB/s,20ms --fuse-comm never --tuning fused.tuning
| 1
$ weft compile -q fused.mlir -t x86:v2 --link 1MB/s,20ms --fuse-comm never --tuning fused.tuning && weft verify fused.mlir fused.weft --dim m=9 -q

# One rank is no other program than none.
$ weft tune two.mlir -t x86:v3 --ranks 1 --dim m=24 --budget 20m --json -q -o one.tuning > one.json && python3 tried.py one.json
| 2 True ['m=24']
| True True True

# What does not go together is said before anything is compiled.
$ weft tune two.mlir --ranks 2 --remote env
! error: ranks are timed on this machine, not on a remote
!   hint: run 'weft tune' there, without --remote
? 2
$ weft tune ranks.mlir --remote env -q
! error: ranks are timed on this machine, not on a remote
!   hint: run 'weft tune' there, without --remote
? 2
$ weft tune two.mlir --ranks 2 --score ./energy
! error: '--score' has no effect without '--remote'
! {*}
? 2
$ for option in '--transport shm' '--link 1GB/s,1us' '--fuse-comm never' '--at m=8'; do weft tune two.mlir $option; done
! error: '--transport' has no effect: the model is for one rank
!   hint: say for how many it shall be: --ranks N, or --mesh
! error: '--link' has no effect: the model is for one rank
!   hint: say for how many it shall be: --ranks N, or --mesh
! error: '--fuse-comm' has no effect: the model is for one rank
!   hint: say for how many it shall be: --ranks N, or --mesh
! error: '--at' has no effect: the model is for one rank
!   hint: say for how many it shall be: --ranks N, or --mesh
? 2
$ weft tune two.mlir --mesh tp=2 --mesh tp=4
! error: option '--mesh' is given twice
! {*}
? 2
$ weft tune ranks.mlir --link tp=1GB/s,1us
! error: link 'tp=1GB/s,1us' is of one axis, but ranks have the same link for all
? 2
$ weft tune ranks.mlir --ranks 3 -q
! error[W0315]: ranks.mlir:{*}: is written for ranks, and cannot be split over others
? 1
$ WEFT_WORLD_SIZE=2 WEFT_RANK=0 weft tune ranks.mlir
! error: 'weft tune' starts ranks of its own, but WEFT_RANK started 2
!   hint: start it alone
? 2
$ weft tune ranks.mlir --timeout 0s
! error: '--timeout' must be more than 0 and at most 24h
? 2

# A rank that fails says why.
$ weft tune own_fault.mlir --dim n=1 --budget 20m -q
! error[W0419]: rank 1: index 1 at [0] is outside 0..0
? 1

# Ctrl-C ends all ranks, and leaves the file as it was.
$ cp two.tuning before.tuning && timeout -s INT --preserve-status 3 weft tune two.mlir -t x86:v3 --mesh tp=2 --place 'w=[_,tp]' --place 'y=local [_, tp]' --dim m=24 --budget 20m -q
! error: interrupted
? 130
$ cmp before.tuning two.tuning
