# How an exchange goes on beside products is a choice: apart or together, and there in how many pieces. What is chosen without records is the estimate.
$ cat > offers.py <<'END'
$+ import json, sys
$+ for e in json.load(sys.stdin)['exchanges']: print(e['kind'], e['node'], e['kernel'], e['together'], *e['schedules'], *[(c['choice'], c['picked'], *c['candidates']) for c in e['choices']], sep='|')
$+ END
$ weft inspect fused.mlir --why -t x86:v2 --link 1MB/s,1ms --at m=100 --json | python3 offers.py > apart; cut -d'|' -f1,2,4- apart
| all_gather|in|False|apart|together
| reduce_scatter|out|False|apart|together

# Its key is that of the exchange with its kernels and the link, at any size.
$ for link in 2MB/s,1ms 1MB/s,1ms; do weft inspect fused.mlir --why -t x86:v2 --link $link --at m=300 --json | python3 offers.py | cut -d'|' -f3 > other; cut -d'|' -f3 apart | cmp -s - other && echo same || echo other; done
| other
| same

# Records are followed: in the plan, in the file, and to the bit.
$ cat > record.sh <<'END'
$+ echo "weft-tuning 1 | Test CPU (6/1) | x86:v2 | $(grep "^$1" apart | cut -d'|' -f3) | $2 | m=100 | threads=1 | 12.5 %"
$+ END
$ : > none.tuning; (sh record.sh all_gather "together pieces=4"; sh record.sh reduce_scatter together) > hand.tuning
$ for tuned in none.tuning hand.tuning; do weft compile fused.mlir -t x86:v2 --link 1MB/s,1ms --at m=100 --tuning $tuned --tuned-for 'Test CPU (6/1)' --stop-after plan -q | grep -oE 'plan.overlap.*' | tr '\n' ' '; echo $tuned; done
| none.tuning
| plan.overlap pieces 4 { plan.overlap pieces 2 { hand.tuning
$ weft compile fused.mlir -t x86:v2 --link 1MB/s,1ms --at m=100 -o plain.weft -q
$ weft compile fused.mlir -t x86:v2 --link 1MB/s,1ms --at m=100 --tuning hand.tuning --tuned-for 'Test CPU (6/1)'
| fused.weft {*}
! ...
!   tuning    0 of {#} kernels and 2 exchanges as measured on Test CPU (6/1) {*}
! ...
$ weft inspect fused.weft | sed -n 2,3p; grep -ao '"tuned_for":"[^"]*"' fused.weft
| fused    all_gather after 'in'  (--fuse-comm auto)
|          reduce_scatter after 'out'
| "tuned_for":"Test CPU (6/1)"
$ weft profile fused.weft --dim m=100 --ranks 2 --link 1MB/s,1ms --rounds 7 --json -q | python3 -c "
$+ import json, sys
$+ print(sorted({(x['kind'], x['pieces']) for x in json.load(sys.stdin)['exchange_times'] if x['bytes_sent'] > 1000}))"
| [('all_gather', 4), ('reduce_scatter', 2)]
$ for m in 0 1 9 100; do weft run plain.weft --dim m=$m --ranks 2 -q --output-dir plain && weft run fused.weft --dim m=$m --ranks 2 -q --expect plain/y.npy --tol 0; done
$ weft inspect fused.mlir --why -t x86:v2 --link 1MB/s,1ms --at m=100 --tuning hand.tuning --tuned-for 'Test CPU (6/1)' | grep -A1 ^exchange
| exchange  in: all_gather and products: {*} together, not {*} apart: tuned, 12.5 % faster on Test CPU (6/1) at m=100
|   pieces 4, not 6, 2, 5, 7, 8: tuned, 12.5 % faster on Test CPU (6/1) at m=100
| exchange  out: reduce_scatter and products: {*} together, not {*} apart: tuned, 12.5 % faster on Test CPU (6/1) at m=100
|   pieces 2, not 3, 4, 8: estimated

# What is not offered is passed over; so are records of another link.
$ for picks in "together pieces=9" "together rows=3" "apart pieces=2" contraction apart; do sh record.sh all_gather "$picks" > odd.tuning && weft compile -q fused.mlir -t x86:v2 --link 1MB/s,1ms --at m=100 --tuning odd.tuning --tuned-for 'Test CPU (6/1)' -o odd.weft && cmp odd.weft plain.weft; done
$ weft compile -q fused.mlir -t x86:v2 --link 2MB/s,1ms --at m=100 --tuning hand.tuning --tuned-for 'Test CPU (6/1)' --stop-after plan | grep -c plan.overlap
| 0
? 1

# What --fuse-comm leaves is what there is to choose.
$ (sh record.sh all_gather "together pieces=4"; sh record.sh reduce_scatter apart) > hand.tuning
$ for fuse in never auto always; do weft compile -q fused.mlir -t x86:v2 --link 1MB/s,1ms --at m=100 --fuse-comm $fuse --tuning hand.tuning --tuned-for 'Test CPU (6/1)' --stop-after plan | grep -oE 'plan.overlap.*' | tr '\n' ' '; echo $fuse; done
| never
| plan.overlap pieces 4 { auto
| plan.overlap pieces 4 { plan.overlap pieces 2 { always

# What goes around a ring travels beside kernels or is waited for, whole.
$ weft inspect attention.mlir --why -t x86:v2 --mesh sp=2 --place 'x=[_, sp, _]' --json | python3 offers.py > ring; cut -d'|' -f1,4- ring | sort -u
| permute|False|apart|together
$ cut -d'|' -f3 ring | sort -u | sed 's/.*/weft-tuning 1 | Test CPU (6\/1) | x86:v2 | & | together | - | threads=1 | 5.0 %/' > ring.tuning
$ for tuned in none.tuning ring.tuning; do weft compile -q attention.mlir -t x86:v2 --mesh sp=2 --place 'x=[_, sp, _]' --tuning $tuned --tuned-for 'Test CPU (6/1)' --stop-after plan | grep -c ' beside '; done
| 0
| {#}
$ weft compile -q attention.mlir -t x86:v2 --mesh sp=2 --place 'x=[_, sp, _]' -o plain.weft && weft compile -q attention.mlir -t x86:v2 --mesh sp=2 --place 'x=[_, sp, _]' --tuning ring.tuning --tuned-for 'Test CPU (6/1)' && weft run plain.weft --dim b=2 --dim s=7 --ranks 2 -q --output-dir plain && weft run attention.weft --dim b=2 --dim s=7 --ranks 2 -q --expect plain/y.npy --tol 0

# 'weft tune' tries what there is, one exchange at a time, and judges by calls. What is faster here is nobody's promise, but the file can be used.
$ cat > tried.py <<'END'
$+ import json, sys
$+ d = json.load(open(sys.argv[1])); own = [k for k in d['kernels'] if k.get('exchange')]
$+ tried = [{t['choice'] + '=' + t['pick'] for t in k['trials']} for k in own]
$+ for k, t in zip(own, tried): print(k['name'], *k['nodes'], t >= set(sys.argv[2:]), k['untried'], all(t['verdict'] != 'wrong' for t in k['trials']))
$+ print(d['records'] == len(open(d['path']).readlines()), d['tuned'] == sum('gain_percent' in k for k in d['kernels']))
$+ END
$ weft tune fused.mlir -t x86:v2 --dim m=100 --at m=100 --link 100MB/s,1ms --transport threads --budget 20m --json -q > tune.json && python3 tried.py tune.json schedule=together
| all_gather in True 0 True
| reduce_scatter out True 0 True
| True True
$ weft compile -q fused.mlir -t x86:v2 --at m=100 --link 100MB/s,1ms --tuning fused.tuning && weft verify fused.mlir fused.weft --dim m=100 -q
$ weft tune fused.mlir -t x86:v2 --dim m=100 --at m=100 --link 100MB/s,1ms --fuse-comm always --budget 20m -o always.tuning 2> err > table && grep -E '^ +all_gather +pieces ' table | wc -l; grep -c 'round .*: 1 exchange otherwise' err; grep -o '2 exchanges; a call takes' err
| 1
| {#}
| 2 exchanges; a call takes
