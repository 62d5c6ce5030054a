# One row for every combination of sizes and threads.
$ weft bench sample.weft --dim b=4 --dim seq=16,64 --threads 1,2 --rounds 7
| b  seq  threads  {*}median {*}min {*}p95 {*}spread {*}GFLOP/s {*}memory
| 4   16        1  {*}
| 4   16        2  {*}
| 4   64        1  {*}
| 4   64        2  {*}
! {#} CPUs, load {#}: warm, interleaved, 7 rounds
! ...

$ weft bench sample.weft --dim b=4 --dim seq=16 --rounds 7 --format csv -q
| b,seq,threads,median_seconds,min_seconds,p95_seconds,spread,GFLOP/s,memory_bytes
| 4,16,1,{#},{#},{#},{#},{#},{#}
$ weft bench sample.weft --dim b=4 --dim seq=16 --rounds 7 --format md -q | sed 's/ //g' | head -2
| |b|seq|threads|median|min|p95|spread|GFLOP/s|memory|
| |--:|----:|--------:|{*}
$ weft bench sample.weft --dim b=4 --dim seq=16,32 --rounds 8 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); r = d['rows'][1]
$+ print(d['schema'], len(d['rows']), r['symbols'], len(r['samples_seconds']), r['min_seconds'] <= r['median_seconds'])"
| weft.bench/1 2 {'b': 4, 'seq': 32} 8 True

$ weft bench sample.weft --rounds 3
! error: '--rounds' must be at least 7
? 2
$ weft bench sample.weft --dim seq=1..4
! error: '--dim seq=1..4' must be a symbol and whole numbers
!   hint: write --dim seq=32,128
? 2
$ weft bench sample.weft --threads 0
! error: '--threads 0' must be whole numbers >= 1: 1,2
? 2
$ weft bench sample.weft --json --format csv
| {
| ...
| }
! error: '--json' and '--format csv' contradict each other
? 2
$ weft bench sample.weft --dim seq=600
! assumed  b=1  (set with --dim)
! error[W0413]: input 'ids': dimension 1 is 600, but 'seq' is at most 512
! ...
? 1

# Ranks of this machine, as processes and as threads; one row for every kind and size.
$ weft bench --collectives --rounds 7 | sed 's/  */ /g; s/^ //' | grep -E "size|1.00 [KM]iB"
| collective size median us min us bus GB/s
| all_reduce 1.00 KiB {#} {#} {#}
| all_reduce 1.00 MiB {#} {#} {#}
| all_gather 1.00 KiB {#} {#} {#}
| all_gather 1.00 MiB {#} {#} {#}
| reduce_scatter 1.00 KiB {#} {#} {#}
| reduce_scatter 1.00 MiB {#} {#} {#}
! {#} CPUs, 2 ranks over shm, f32: checked, warm, interleaved, 7 rounds
$ weft bench --collectives --ranks 3 --transport threads --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); r = d['rows'][-1]
$+ print(d['schema'], d['transport'], d['ranks'], len(d['rows']), r['collective'], r['bytes'], len(r['samples_seconds']))"
| weft.bench_collectives/1 threads 3 42 reduce_scatter 8388608 7
$ weft bench --collectives --rounds 7 --format csv -q | head -2
| collective,bytes,median_seconds,min_seconds,bus_bytes_per_second
| all_reduce,1024,{#},{#},{#}

$ weft bench sample.weft --collectives
! error: '--collectives' measures no artifact
!   hint: leave out 'sample.weft'
? 2
$ weft bench --collectives --kernels all
! error: '--kernels' is not for '--collectives'
? 2
$ weft bench --collectives --dim seq=4
! error: '--dim' is not for '--collectives'
? 2
$ weft bench --collectives --ranks 1
! error: '--ranks' must be 2 to 64
? 2
$ weft bench --collectives --rounds 3
! error: '--rounds' must be at least 7
? 2
$ weft bench sample.weft --timeout 1s
! error: '--timeout' has no effect: function 'main' is for one rank
!   hint: leave it out
? 2
$ weft bench sample.weft --transport threads
! error: '--transport' has no effect: function 'main' is for one rank
!   hint: leave it out
? 2
$ weft bench sample.weft --ranks 2
! error: function 'main' is for one rank, not for 2
!   hint: leave out --ranks
? 2
