# Ranks with a link between them that is not there: the same results, later. Here two latencies of an all_reduce, in each of two calls.
$ weft compile -q ranks.mlir --target x86:v2 && weft eval ranks.mlir --dim n=3 -q --output-dir one
$ for t in threads shm; do weft run ranks.weft --dim n=3 --ranks 2 --transport $t --link 1GB/s,50ms --expect one/y.npy -q && echo $t; done
| threads
| shm
$ weft bench ranks.weft --dim n=3 --ranks 2 --link 1MB/s,10ms --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin)
$+ print(d['link'], d['rows'][0]['min_seconds'] >= 20e-3)"
| 1MB/s,10ms True
$ weft bench ranks.weft --dim n=3 --ranks 2 --link 1MB/s,1ms --rounds 7 2>&1 | grep -o 'over shm with links of 1MB/s,1ms,'
| over shm with links of 1MB/s,1ms,
# What each rank exchanges stays, its time is the link's; ranks that agree what they do next take none of it.
$ weft profile ranks.weft --dim n=3 --ranks 2 --link 1MB/s,10ms --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin)
$+ print([(x['rank'], x['collectives'], x['bytes_sent'], 20e-3 <= x['seconds']) for x in d['exchanges']])"
| [(0, 2, 56, True), (1, 2, 56, True)]
$ weft bench --collectives --ranks 2 --link 100MB/s,1ms --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); rows = [r for r in d['rows'] if r['collective'] == 'all_reduce']
$+ print(d['link'], len(rows), sum(r['min_seconds'] < (r['bytes'] / 1e8 + 2e-3) * 0.9999 for r in rows))"
| 100MB/s,1ms 14 0
# Ranks that a launcher started have one, too.
$ weft compile -q whole_sum.mlir --target x86:v2 && weft eval whole_sum.mlir --dim n=5 -q --output-dir whole
$ for r in 2 1 0; do WEFT_WORLD_SIZE=3 WEFT_RANK=$r WEFT_RENDEZVOUS=link-$$ weft run whole_sum.weft --dim n=5 --link 1MB/s,1ms --expect whole/output0.npy -q & done; wait
# What is none is refused, and what would have no effect.
$ weft run ranks.weft --dim n=3 --ranks 2 --link fast
! error: link 'fast' is no bandwidth with a latency, such as 2GB/s,20us
? 2
$ weft run ranks.weft --dim n=3 --ranks 2 --link tp=1GB/s,1us
! error: link 'tp=1GB/s,1us' is of one axis, but ranks have the same link for all
? 2
$ weft bench --collectives --link 1GB/s
! error: link '1GB/s' is no bandwidth with a latency, such as 2GB/s,20us
? 2
$ weft run ranks.weft --dim n=3 --link 1GB/s,1us
! error: '--link' has no effect without '--ranks'
? 2
$ weft profile ranks.weft --dim n=3 --link 1GB/s,1us
! error: '--link' has no effect without '--ranks'
!   hint: 'weft help profile' lists the options
? 2
$ weft compile -q layers.mlir && weft bench layers.weft --link 1GB/s,1us
! error: '--link' has no effect: function 'main' is for one rank
!   hint: leave it out
? 2
$ weft bench --kernels all --link 1GB/s,1us
! error: '--link' is for artifacts, not for '--kernels'
? 2
$ WEFT_WORLD_SIZE=2 WEFT_RANK=0 weft run ranks.weft --dim n=3 --transport mpi --link 1GB/s,1us
! error: --link needs ranks that share memory; transport 'mpi' has none
!   hint: --transport shm, for ranks on one machine
? 2
