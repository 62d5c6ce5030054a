# What grows in place is listed, with the room that a call needs.
$ weft compile -q cache.mlir -o copy.weft && weft compile -q cache.mlir --in-place -o grow.weft
$ weft inspect grow.weft | grep "^in place\|has room"
| in place past becomes present, with room for p + s along dimension 1
|          input 'past': dimension 1 has room for p + s
$ weft inspect grow.weft --json | python3 -c "
$+ import json, sys; f = json.load(sys.stdin)['functions'][0]
$+ print(f['in_place'], [s['name'] for s in f['symbols']], f['formulas']['bytes_moved'])"
| [{'input': 'past', 'output': 'present', 'dim': 1, 'room': 'p + s'}] ['b', 's', 'p'] 32*b*p + 96*b*s + 32*b
$ weft inspect copy.weft | grep -c "in place"
| 0
? 1

# The verbs make the room, and outputs have no gaps.
$ weft run -q copy.weft --dim b=2 --dim s=3 --dim p=5 -o copied.npz
$ weft run grow.weft --dim b=2 --dim s=3 --dim p=5 --expect @copied.npz --tol 0
| outputs  present  f32[2, 8, 8]  {*}
|          sum      f32[2, 8]     {*}
! inputs   x     f32[2, 3, 8]  generated, seed 1, uniform in -1..1
!          past  f32[2, 5, 8]  generated, seed 1, uniform in -1..1
! {*} (first call), {*} (second)
! output 'present': as expected, worst error 0: {*}
! output 'sum': as expected, worst error 0: {*}
$ weft run -q grow.weft --dim b=2 --dim s=3 --dim p=0 && weft run -q grow.weft --dim b=0 --dim s=3 --dim p=2
$ weft bench -q grow.weft --dim b=2 --dim s=1 --dim p=3,30 --rounds 7 --format csv | cut -d, -f1-4
| b,s,p,threads
| 2,1,3,1
| 2,1,30,1
$ weft profile -q grow.weft --dim b=2 --dim s=1 --dim p=3 --rounds 7 | head -1
| {*}share{*}
$ weft verify cache.mlir --in-place --dim b=2 --dim s=2 --dim p=3 -q
$ weft verify cache.mlir grow.weft --dim b=2 --dim s=2 --dim p=3 -q

# What cannot is refused, with the reason.
$ weft compile -q cache.mlir --in-place=x
! error[W0300]: cache.mlir:1:1: input 'x' cannot grow in place: no output is this input with something behind it
? 1
$ weft compile -q cache.mlir --in-place=past,keys
! error[W0300]: there is no input 'keys' that could grow in place
? 1
$ weft compile -q layers.mlir --in-place
! error[W0300]: no input can grow in place: no output is an input with something behind it
? 1
$ ls cache.weft layers.weft 2>/dev/null
? 2
