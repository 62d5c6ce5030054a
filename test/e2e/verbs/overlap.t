# Ranks that compute while an exchange goes on: which exchanges, how long they take, and what of that does not show.
$ weft compile -q fused.mlir --target x86:v2 --fuse-comm always && weft inspect fused.weft | sed -n 2,3p
| fused    all_gather after 'in'  (--fuse-comm always)
|          reduce_scatter after 'out'
$ weft compile -q fused.mlir --target x86:v2 --fuse-comm never -o apart.weft && weft inspect apart.weft --json | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); print(d['fuse_comm'], d['fused_exchanges'])"
| never []
$ weft compile -q layers.mlir --target x86:v2 && weft inspect layers.weft --json | grep -c fuse_comm
| 0
? 1
# What is sent is the same in both forms. Of an exchange in pieces a part is hidden, of one that is waited for none.
$ cat > exchanges.py << 'END'
$+ import json, sys
$+ own = [x for x in json.load(sys.stdin)['exchange_times'] if x['rank'] == 0 and x['bytes_sent'] > 1000]
$+ is_whole = lambda x: abs(x['hidden_seconds'] + x['exposed_seconds'] - x['seconds']) < 1e-9
$+ for x in own: print(x['kind'], x['after'], x['calls'], x['pieces'], x['bytes_sent'], is_whole(x), x['hidden_seconds'] > 0, 'efficiency' in x, x.get('link_seconds'))
$+ END
$ weft profile fused.weft --dim m=100 --ranks 2 --link 1MB/s,1ms --rounds 7 --json -q | python3 exchanges.py | sort
| all_gather ['in'] 1 6 6400 True True True 0.0074
| reduce_scatter ['out'] 1 2 6400 True True True 0.0074
$ weft profile apart.weft --dim m=100 --ranks 2 --link 1MB/s,1ms --rounds 7 --json -q | python3 exchanges.py | sort
| all_gather ['in'] 1 0 6400 True False False None
| reduce_scatter ['out'] 1 0 6400 True False False None
$ weft profile fused.weft --dim m=100 --ranks 2 --rounds 7 -q | awk '/^ *exchange/ || / in$/ || / out$/ {print $1, $2, $3, $4, $5, $(NF - 1), $NF}' | sort
| all_gather tp 1 6 6.25 - in
| exchange axes calls pieces sent E after
| reduce_scatter tp 1 2 6.25 - out
# Over a link on which it is short an exchange is cut into few pieces.
$ weft compile -q fused.mlir --target x86:v2 --fuse-comm always --link 10GB/s,1us --at m=100 -o short.weft && weft profile short.weft --dim m=100 --ranks 2 --link 1MB/s,1ms --rounds 7 --json -q | python3 exchanges.py | cut -d' ' -f1-4 | sort
| all_gather ['in'] 1 2
| reduce_scatter ['out'] 1 2
# Kernels that run as pieces come are counted with the work that they do.
$ weft profile fused.weft --dim m=100 --ranks 2 --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); print(200 * 16 * 16 * 4 * 0.98 <= sum(k['flops'] for k in d['kernels']) <= 200 * 16 * 16 * 4)"
| True
# A trace has a lane for each piece, and the waits for them.
$ weft profile fused.weft --dim m=100 --ranks 2 --link 1MB/s,1ms --rounds 7 --trace t.json -q > table && python3 -c "
$+ import json; events = json.load(open('t.json'))['traceEvents']
$+ own = [e for e in events if e['pid'] == 0 and e['ph'] == 'X']
$+ print(sorted({e['tid'] for e in own if e['name'] == 'all_gather' and e['args']['after'] == 'in'}))
$+ waits = [e for e in own if e['name'] == 'wait for all_gather']
$+ print({(e['tid'], e['args']['pieces'], e['args']['after']) for e in waits}, 0 < sum(e['dur'] for e in waits))
$+ print(sorted(e['args']['name'] for e in events if e['name'] == 'thread_name' and e['pid'] == 1)[:3])"
| [3, 4, 5, 6, 7, 8]
| {(2, 6, 'in')} True
| ['exchanges and waits', 'kernels', 'piece 1']
# Both forms of one file, beside each other.
$ weft bench fused.weft --dim m=100 --ranks 2 --link 1MB/s,1ms --fuse-comm never,always --rounds 7 --json -q | python3 -c "
$+ import json, sys
$+ for r in json.load(sys.stdin)['rows']: print(r['fuse_comm'], 14e-3 < r.get('exchange_seconds', 0), 'efficiency' in r)"
| never True False
| always False True
$ for t in threads shm; do weft bench fused.weft --dim m=9,100 --ranks 2 --transport $t --fuse-comm always,never --rounds 7 --format csv -q | cut -d, -f1-3; done
| m,fuse-comm,threads
| 9,always,1
| 9,never,1
| 100,always,1
| 100,never,1
| m,fuse-comm,threads
| 9,always,1
| 9,never,1
| 100,always,1
| 100,never,1
# A file without such steps is told so.
$ weft bench apart.weft --dim m=100 --ranks 2 --fuse-comm never,always
! error: '--fuse-comm' has no effect: apart.weft computes beside no exchange
!   hint: compile it with --fuse-comm always
? 2
$ weft bench layers.weft --fuse-comm never
! error: '--fuse-comm' has no effect: function 'main' is for one rank
!   hint: leave it out
? 2
$ for forms in auto never,never never,; do weft bench fused.weft --dim m=100 --ranks 2 --fuse-comm $forms; done
! error: '--fuse-comm auto' must be never, always or both
! error: '--fuse-comm never,never' must be never, always or both
! error: '--fuse-comm never,' must be never, always or both
? 2
$ weft bench --kernels all --fuse-comm never
! error: '--fuse-comm' is for artifacts, not for '--kernels'
? 2
$ weft bench --collectives --fuse-comm never
! error: '--fuse-comm' is not for '--collectives'
? 2
