# A program over two ranks: computed on both, and what they send is counted.
$ weft eval ranks.mlir --dim n=3
| outputs  y  f32[3, 4]  min -67.4       mean -11.28      max 71.46       nan 0
| sent     over tp: 48 B in 2 messages by rank 0, 96 B by all 2
$ weft eval ranks.mlir --dim n=1 --json | grep -A 15 '"sent"'
|   "sent": [
|     {
|       "axes": "tp",
|       "ranks": [
|         {
|           "bytes": 16,
|           "messages": 2
|         },
|         {
|           "bytes": 16,
|           "messages": 2
|         }
|       ]
|     }
|   ]
| }
# Compiled, it runs on local ranks, which are processes or threads; rank 0's results are printed, as one rank would.
$ weft compile -q ranks.mlir --target x86:v2
$ weft run ranks.weft --dim n=3 --ranks 2 2>/dev/null
| outputs  y  f32[3, 4]  min -67.4       mean -11.28      max 71.46       nan 0
$ for n in 0 1 5 8; do weft eval ranks.mlir --dim n=$n -q --output-dir one && weft run ranks.weft --dim n=$n --ranks 2 --transport threads -q --expect one/y.npy; done
# The file says how many ranks it is for, and what each sends.
$ weft inspect ranks.weft | grep -E '^(mesh|facts|sent)'
| mesh     tp = 2  (2 ranks: weft run --ranks 2)
| sent     over tp: bytes = 16·n B    messages = 2 by one rank
$ weft inspect ranks.weft --at n=3,rank_tp=1 | grep -E '^(at|sent)'
| at       n = 3
| sent     over tp: 48 B in 2 messages by one rank
$ weft inspect ranks.weft --json | grep -A 12 '"mesh"'
|       "mesh": [
|         {
|           "axis": "tp",
|           "size": 2
|         }
|       ],
|       "sent": [
|         {
|           "axes": "tp",
|           "bytes": "16*n",
|           "messages": "2"
|         }
|       ],
# Where one rank fails by itself, its reason is said, not that the others miss it.
$ weft compile -q own_fault.mlir && weft run own_fault.weft --dim n=2 --ranks 2 -q
$ for t in threads shm; do weft run own_fault.weft --dim n=1 --ranks 2 --transport $t -q; done
! error[W0419]: rank 1: index 1 at [0] is outside 0..0
! error[W0419]: rank 1: index 1 at [0] is outside 0..0
? 1
$ weft run own_fault.weft --dim n=2 --ranks 2 --timeout soon
! error: '--timeout' is 'soon', but must be a time such as 60s, 5m or 1h
!   hint: 'weft help run' lists the options
? 2
# Another number of ranks is refused, and so is one process alone.
$ weft run ranks.weft --dim n=3
! error: function 'main' is for 2 ranks (tp = 2)
!   hint: weft run ranks.weft --ranks 2
? 2
$ weft run ranks.weft --dim n=3 --ranks 3
! error: function 'main' is for 2 ranks (tp = 2), not for 3
!   hint: weft run ranks.weft --ranks 2
? 2
$ weft profile ranks.weft --dim n=3
! error: function 'main' is for 2 ranks (tp = 2)
!   hint: weft profile ranks.weft --ranks 2
? 2
# A profile has rank 0's kernels, and what every rank exchanges: what the file's formulas say, and 8 bytes that all compare first; the trace has all ranks.
$ for t in threads shm; do weft profile ranks.weft --dim n=3 --ranks 2 --transport $t --rounds 7 --trace $t.json -q | grep -A2 '^rank '; done
| rank  axes  collectives  sent {*}time {*}waiting {*}most for
|    0    tp            2  56 B  {*}
|    1    tp            2  56 B  {*}
| rank  axes  collectives  sent {*}time {*}waiting {*}most for
|    0    tp            2  56 B  {*}
|    1    tp            2  56 B  {*}
$ weft profile ranks.weft --dim n=3 --ranks 2 --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); e = d['exchanges']
$+ print([(x['rank'], x['axes'], x['collectives'], x['bytes_sent'], x['seconds'] >= x['waiting_seconds'] >= 0) for x in e], len(d['kernels']) > 0)
$+ print([w['rank'] != x['rank'] and 0 < w['share'] <= 1 for x in e for w in x['waited_for']].count(False))"
| [(0, 'tp', 2, 56, True), (1, 'tp', 2, 56, True)] True
| 0
$ python3 -c "
$+ import json; d = json.load(open('shm.json'))['traceEvents']; t = json.load(open('threads.json'))['traceEvents']
$+ named = {e['args']['name']: e['pid'] for e in d if e['name'] == 'process_name'}; sums = [e for e in d if e['name'] == 'all_reduce']
$+ print(named, [(e['pid'], e['args']['sent']) for e in sums], min(e['ts'] for e in d if 'ts' in e) == 0, len(d) == len(t))
$+ print(max(e['ts'] for e in sums) < min(e['ts'] + e['dur'] for e in sums))"
| {'rank 0': 0, 'rank 1': 1} [(0, 48), (1, 48)] True True
| True
$ weft profile ranks.weft --dim n=3 --ranks 2 --rounds 200000
! error: ranks do not remember the collectives of 200000 calls
!   hint: give fewer --rounds
? 2
$ weft bench own_fault.weft --dim n=1 --ranks 2 -q
! error[W0419]: rank 1: index 1 at [0] is outside 0..0
? 1
$ weft compile -q layers.mlir && weft run layers.weft --ranks 2
! error: function 'main' is for one rank, not for 2
!   hint: leave out --ranks
? 2
# The plan is a program, too: it is evaluated on all ranks, and compiled.
$ weft compile ranks.mlir --stop-after plan --target x86:v2 2>/dev/null > plan.mlir && weft eval plan.mlir --dim n=3
| outputs  y  f32[3, 4]  min -67.4       mean -11.28      max 71.46       nan 0
| sent     over tp: 48 B in 2 messages by rank 0, 96 B by all 2
$ weft compile -q plan.mlir --target x86:v2 && weft run plan.weft --dim n=3 --ranks 2 2>/dev/null
| outputs  y  f32[3, 4]  min -67.4       mean -11.28      max 71.46       nan 0
# Results that differ between ranks are an error.
$ sed 's/weft.all_reduce sum %part over<tp = 2>/weft.permute %part by 1 over<tp = 2>/' ranks.mlir > differs.mlir && weft compile -q differs.mlir && weft run differs.weft --dim n=3 --ranks 2 2>&1 | tail -1
| error[W0410]: output 'y' differs between ranks 0 and 1
# Also where no size depends on the place of a rank, what it sends may.
$ weft compile -q whole_sum.mlir --target x86:v2 && weft eval whole_sum.mlir --dim n=5 -q --output-dir whole && weft run whole_sum.weft --dim n=5 --ranks 3 -q --expect whole/output0.npy
$ weft inspect whole_sum.weft --at n=5,rank_tp=2 | grep sent
| sent     over tp: 104 B in 4 messages by one rank
