# Everything that can be compiled for, and what of it this machine runs.
$ weft targets | grep -c -e '^x86:v3  *[a-z-]*  *sse4.2 popcnt avx avx2 ' -e '^arm:v8.2  *[a-z-]*  *fp neon fullfp16 dotprod$'
| 2
! this machine: {*}
$ weft targets -q | grep -c '  host  '
| 1
$ weft targets -q --json | head -1
| {
$ weft targets -q --json | grep -c '"name": "arm:v8.6"'
| 1
$ weft targets x86
! error: 'x86' is one argument too many
!   hint: {*}
? 2

# Code for another processor is compiled here, and refused by name where it does not run.
$ weft compile -q layers.mlir -t arm:v8,v8.2,v8.6 -o arm.weft && weft compile -q layers.mlir -t arm:v8,v8.2,v8.6 -o again.weft && cmp arm.weft again.weft
$ weft compile layers.mlir -t arm:v8.6,v8 -o arm2.weft
| arm2.weft  {*} (weights 0 B, code {*})  arm:v8.6, arm:v8  in {#} s
!   import    layers.mlir {*} s
!   fuse      arm:v8.6: 3 kernel calls {*} s
!   plan      arm:v8.6: peak = 128·batch B {*} s
!   fuse      arm:v8: 3 kernel calls {*} s
!   plan      arm:v8: peak = 128·batch B {*} s
!   code      6 kernels {*} s
!   next: weft inspect arm2.weft
$ weft compile -q layers.mlir -t arm:host -o host.weft
! error[W0301]: 'arm:host' is the level of this machine, but that is of family 'x86'
? 2
$ weft inspect arm2.weft --at batch=3
| arm2.weft  weft {*}  arm:v8.6  {*}
| targets  arm:v8.6  (needs {*}, which this machine lacks)
|          arm:v8  (needs {*}, which this machine lacks)
| ...
$ weft inspect arm2.weft --at batch=3 | grep -c "arena = "
| 1
$ weft run arm.weft
! error[W0502]: arm.weft: is compiled for aarch64, but this machine is x86-64
!   hint: compile the model for this machine: weft compile … --target x86:{*}
? 4
