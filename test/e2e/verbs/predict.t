# How long a call takes on a machine of one's own, kernel by kernel, without running.
$ weft inspect why.mlir --at batch=1000 --machine ./round.json
| why.mlir  arm:v8  on round  batch=1000 threads=1
| predicted  4.39 ms a call
|  share     time  calls    limit                       kernel       nodes
| 70.7 %  3.10 ms      1  compute  weft_k_product_{*}  /MatMul +1
|  8.8 %   385 us      1   memory     weft_k_loop_{*}        /Neg
|  8.8 %   385 us      1  compute      weft_k_row_{*}    /Softmax
|  5.9 %   257 us      1  compute      weft_k_row_{*}       /Rows
|  5.9 %   257 us      1   memory     weft_k_loop_{*}        /Abs
|  0.0 %  1.26 us      1    start     weft_k_loop_{*}       /Bias
! nobody compared predictions for 'round' with a clock
$ weft inspect why.mlir --at batch=1000 --machine ./round.json --threads 2 | sed -n '1,2p'
| why.mlir  arm:v8  on round  batch=1000 threads=2
| predicted  2.84 ms a call
! nobody compared predictions for 'round' with a clock

# Machines that Weft knows are for their own targets, unless another is named.
$ weft inspect why.mlir --at batch=8 --machine neoverse-v1 | sed -n 1p
| why.mlir  arm:neoverse-v1  on neoverse-v1  batch=8 threads=1
! nobody compared predictions for 'neoverse-v1' with a clock
$ weft inspect why.mlir --at batch=8 --machine neoverse-v1 -t arm:v8 -q | sed -n 1p
| why.mlir  arm:v8  on neoverse-v1  batch=8 threads=1

# The same as one JSON document.
$ weft inspect why.mlir --at batch=1000 --machine ./round.json --json | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); k = d['kernels'][0]
$+ print(d['schema'], d['machine'], d['threads'], d['at'], d['seconds'], k['loops'], k['multiply_adds'], k['operations'], k['bytes'], k['limit'])"
| weft.prediction/1 {'name': 'round', 'about': 'a machine of round figures', 'measured': False} 1 {'batch': 1000} 0.004390256 products 1536000 32000 326272 compute

# What is missing or wrong is said in one line.
$ weft inspect why.mlir --machine cortex-a72
! error: '--at' gives no value to symbol 'batch'
!   hint: the symbols are batch
? 2
$ weft inspect why.mlir --at batch=1,seq=2 --machine cortex-a72
! error: '--at': there is no symbol 'seq'
!   hint: the symbols are batch
? 2
$ weft inspect why.mlir --at batch=1 --machine cortex-a99
! error[W0309]: there are no data of a machine 'cortex-a99'
!   hint: there are those of zen5, a64fx, apple-m1, cortex-a53, cortex-a55, cortex-a72, cortex-a76, neoverse-n1, neoverse-n2, neoverse-v1; or name a file: ./mine.json
? 2
$ weft inspect why.mlir --at batch=1 --machine ./none.json
! error[W0333]: ./none.json: cannot be opened: no such file or directory
? 1
$ sed 's/"clock_ghz": 1/"clock_ghz": -1/' round.json >wrong.json; weft inspect why.mlir --at batch=1 --machine ./wrong.json
! error[W0333]: ./wrong.json: 'clock_ghz' must be above 0 and at most 100
? 1
$ sed 's/"f32": 1/"quads of i8": 1/' round.json >other.json; weft inspect why.mlir --at batch=1 --machine ./other.json
! error[W0301]: the data of 'round' do not say multiply_adds_per_cycle of 'f32', by which kernel 'weft_k_product_{*}' multiplies
? 2
$ weft inspect why.mlir --threads 2
! error: '--threads' has no effect without '--machine'
!   hint: 'weft help inspect' lists the options
? 2
