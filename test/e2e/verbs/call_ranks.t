# The example that runs ranks as threads of one process: the numbers of one rank, and what ranks did when one fails.
$ weft compile -q ranks.mlir --target x86:v2 && call_ranks ranks.weft 3
| output 0, of 2 ranks: {#} {#} {#} {#}
$ weft eval ranks.mlir -i 'x=[[-3,-2,-1,0],[1,2,3,-3],[-2,-1,0,1]]' -q --output-dir one && python3 -c "
$+ import struct; print('output 0, of 2 ranks:', *['%g' % v for v in struct.unpack('4f', open('one/y.npy', 'rb').read()[-48:-32])])" > wanted && call_ranks ranks.weft 3 | diff - wanted
$ weft compile -q own_fault.mlir --target x86:v2 && mkdir flight && call_ranks own_fault.weft 1 flight
! error: rank 0: all_reduce after 'line 5': rank 1 has left the group, which came no further than all_gather after 'the inputs'
? 5
$ weft ranks flight -q | head -1
| rank 1 never came to collective 2 over tp, all_reduce after 'line 5'
$ weft compile -q layers.mlir --target x86:v2 && call_ranks layers.weft 4
! error: the model is not for 2 to 64 ranks: weft compile MODEL --mesh tp=2
? 1
$ call_ranks ranks.weft
! error: usage: call_ranks MODEL.weft SIZE [FLIGHT]
? 2
