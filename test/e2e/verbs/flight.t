# When ranks fail, each writes what it did last, and the files together say who did not come where.
$ weft compile -q own_fault.mlir --target x86:v2
$ for t in threads shm; do weft run own_fault.weft --dim n=1 --ranks 2 --transport $t -q --flight $t; weft ranks $t -q | head -4; done
! error[W0419]: rank 1: index 1 at [0] is outside 0..0
!   hint: 'weft ranks threads' says how far each rank was
! error[W0419]: rank 1: index 1 at [0] is outside 0..0
!   hint: 'weft ranks shm' says how far each rank was
| rank 1 never came to collective 2 over tp, all_reduce after 'line 5'
| 
| group  ranks  together                       next  finished  inside  not come
|    tp   0, 1         1  all_reduce after 'line 5'                 0         1
| rank 1 never came to collective 2 over tp, all_reduce after 'line 5'
| 
| group  ranks  together                       next  finished  inside  not come
|    tp   0, 1         1  all_reduce after 'line 5'                 0         1
$ weft ranks shm -v
| rank 1 never came to collective 2 over tp, all_reduce after 'line 5'
| ...
| rank {*}process {*}host {*}where {*}for
|    0  {*}in all_reduce after 'line 5' over tp{*}
|    1  {*}behind {*}
! run command-{#}: 2 of 2 ranks have written what they did
! rank 0: all_reduce after 'line 5': rank 1 has left the group, which came no further than all_gather after 'the inputs'
! rank 1: index 1 at [0] is outside 0..0
$ weft ranks shm --json -q | python3 -c "
$+ import json, sys; d = json.load(sys.stdin); g = d['groups'][0]
$+ print(d['schema'], d['world'], g['axes'], g['together'], g['inside'], g['absent'], d['ranks'][1]['reason'])"
| weft.ranks/1 2 tp 1 [0] [1] index 1 at [0] is outside 0..0
$ weft ranks shm --format csv -q | head -2
| group,ranks,together,next,finished,inside,not come
| tp,"0, 1",1,all_reduce after 'line 5',,0,1
# The same of bench and profile, which say why a rank failed alone.
$ for verb in bench profile; do weft $verb own_fault.weft --dim n=1 --ranks 2 -q --flight $verb; weft ranks $verb -q | head -1; done
! error[W0419]: rank 1: index 1 at [0] is outside 0..0
!   hint: 'weft ranks bench' says how far each rank was
! error[W0419]: rank 1: index 1 at [0] is outside 0..0
!   hint: 'weft ranks profile' says how far each rank was
| rank 1 never came to collective 2 over tp, all_reduce after 'line 5'
| rank 1 never came to collective 2 over tp, all_reduce after 'line 5'
# A run that ends well leaves nothing, not even what an earlier one left.
$ weft run own_fault.weft --dim n=2 --ranks 2 -q --flight shm && ls shm
$ weft ranks shm
! error: shm has no file rank-N.flight
!   hint: 'weft run FILE --ranks N --flight shm' writes them when ranks fail
? 1
# A rank that wrote nothing is said; files that are damaged or belong to another run are refused.
$ rm bench/rank-0.flight && weft ranks bench
| all ranks have finished what they began
| ...
! run command-{#}: 1 of 2 ranks have written what they did
! rank 0: nothing, for lack of a start or of the time to write
$ cp threads/rank-0.flight bench && weft ranks bench
! error: bench/rank-1.flight: is of run 'command-{#}' of 2 ranks, but rank 0's of 'command-{#}' of 2
!   hint: give a folder with the files of one run
? 1
$ cp threads/rank-0.flight bench/rank-1.flight && weft ranks bench
! error: bench/rank-1.flight: is of rank 0
? 1
$ head -c 200 threads/rank-1.flight > bench/rank-1.flight && weft ranks bench
! error: bench/rank-1.flight: line {#} is cut off
? 1
$ head -4 threads/rank-1.flight > bench/rank-1.flight && weft ranks bench
! error: bench/rank-1.flight: its end is missing
? 1
$ sed 's/^group 1/group x/' threads/rank-1.flight > bench/rank-1.flight && weft ranks bench
! error: bench/rank-1.flight: line 4 is damaged
? 1
$ cp own_fault.weft bench/rank-1.flight && weft ranks bench
! error: bench/rank-1.flight: is not what a rank did last
? 1
$ weft ranks nowhere
! error: nowhere: No such file or directory
? 1
$ weft run own_fault.weft --dim n=2 --ranks 2 -q --flight own_fault.weft
! error: own_fault.weft: Not a directory
? 1
$ weft run own_fault.weft --dim n=2 --flight shm
! error: function 'main' is for 2 ranks (tp = 2)
!   hint: weft run own_fault.weft --ranks 2
? 2
# SIGUSR1 of the command writes the files while ranks go on; a rank that is stopped is named with what it did last.
$ weft compile -q ranks.mlir --target x86:v2
$ weft bench ranks.weft --dim n=4 --ranks 2 --rounds 1000000 --timeout 0.8s -q --flight live 2> said & command=$!
$+ for i in $(seq 100); do test -s /proc/$command/task/$command/children && break; sleep 0.05; done; sleep 0.3
$+ kill -USR1 $command; sleep 0.3; ls live; rm live/*; kill -STOP $(cat /proc/$command/task/$command/children); wait $command; echo $?
$+ cat said; weft ranks live -q | head -1
| rank-0.flight
| rank-1.flight
| 5
| error[W0606]: {*}: waited 0.8 s for rank 1, which {*}
|   hint: 'weft ranks live' says how far each rank was
| rank{*}collective {#} over {*}
