# Products are compiled, checked and timed against what the machine can do in the same run.
$ weft bench --kernels 16x64x48,1x64x48 --rounds 7
| {*}m{*}k{*}n{*}unit{*}median{*}GFLOP/s{*}GB/s{*}peak{*}of peak{*}error
| {*}16{*}64{*}48{*}f32{*} GFLOP/s{*} %{*}
| {*}1{*}64{*}48{*}f32{*} GB/s{*} %{*}
! x86:{*}, one thread: checked, warm, interleaved, 7 rounds
! geometric mean of 1 with many rows: {#} % of the multiply-add peak
! geometric mean of 1 with few rows: {#} % of what reading the weight allows
$ weft bench --kernels 33x40x50,3x40x50 --rounds 7 --target x86:v3 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); a, b = d['rows']
$+ print(d['schema'], d['target'], a['limit'], b['limit'], 0 < a['share'] < 1.5, a['error'] < 1e-6, a['peak'] > 1e9)"
| weft.bench_kernels/1 x86:v3 multiply read True True True
$ weft bench --kernels 16x64x48 --rounds 7 --format csv -q | head -1
| m,k,n,unit,median,GFLOP/s,GB/s,peak,of peak,error
# Rounded operands are multiplied by the unit that the target has for them, against whose peak they are measured.
$ weft bench --kernels 16x64x48 --rounds 7 --compute bf16 --target x86:v3 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin)['rows'][0]
$+ print(d['unit'], 1e-6 < d['error'] < 1e-2, d['share'] > 0)"
| f32 True True

# What cannot be measured is said before anything is compiled.
$ weft bench
! error: 'weft bench' needs ARTIFACT, --kernels or --collectives
!   hint: usage: weft bench [ARTIFACT] [options]
? 2
$ weft bench --kernels 16x64
! error: '--kernels 16x64' must be all, or sizes as MxKxN
!   hint: write --kernels 128x768x3072,1x768x768
? 2
$ weft bench --kernels 16x0x64
! error: '--kernels 16x0x64' must be all, or sizes as MxKxN
!   hint: write --kernels 128x768x3072,1x768x768
? 2
$ weft bench --kernels 100000x100000x1
! error: '--kernels 100000x100000x1': a matrix has more than 134217728 elements
? 2
$ weft bench --kernels all --threads 2
! error: '--threads' is for artifacts, not for '--kernels'
? 2
$ weft bench model.weft --kernels all
! error: '--kernels' measures no artifact
!   hint: leave out 'model.weft'
? 2
$ weft bench --kernels 16x16x16 --target x86:v9
! error[W0301]: unknown target 'x86:v9'; the nearest is 'x86:v2'; known are {*}
? 2

# A profile against the same peak.
$ weft compile -q layers.mlir && weft profile layers.weft --dim batch=8 --peak --rounds 7
| {*}share{*}time{*}calls{*}GFLOP/s{*}of peak{*}GB/s{*}of memory{*}kernel{*}nodes
| ...
| {*}(between kernels)
! batch=8 {*}
! peak of a thread: {#} GFLOP/s, {#} GB/s from memory
$ weft profile layers.weft --dim batch=8 --peak --rounds 7 --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin)
$+ print(d['peak_flops'] > 1e9, all(0 <= k['share_of_peak'] < 1.5 and k['unit'] == 'f32' for k in d['kernels']))"
| True True
$ weft profile nothing.weft --peak
! error[W0508]: nothing.weft: cannot be opened: No such file or directory
? 1
