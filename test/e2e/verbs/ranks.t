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
# It has no code yet.
$ weft compile -q ranks.mlir
! error[W0314]: function 'main' is for 2 ranks, which is not compiled yet
!   hint: 'weft eval' computes it over all ranks
? 1
$ ls ranks.weft
! ls: cannot access 'ranks.weft': No such file or directory
? 2
