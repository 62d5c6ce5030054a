# What an artifact takes, gives and costs, as formulas.
$ weft inspect sample.weft | head -11
| sample.weft  weft test  x86:v1  {#} MiB  sha256 {*}
| main(ids: f32[b, seq], mask: f32[b, seq]) -> (y: f32[b, seq], total: f32[b])
| symbols  0 ≤ b ≤ 100000    1 ≤ seq ≤ 512
| checks   'b' is at most 100000
|          'seq' is at least 1
|          'seq' is at most 512
|          input 'mask': dimension 0 equals b
|          input 'mask': dimension 1 equals seq
| memory   arena = 4·b·seq B    scratch = 4·seq B per worker
| work     flops = 3·b·seq    moved = 12·b·seq B
| halve(x: i32[2·n], z: i32[n + m], c: i32[4], long: i32[n + 2·m]) -> y: i32[n]

# ASCII where the locale is not UTF-8.
$ LC_ALL=C weft inspect sample.weft | sed -n '3p;9p'
| symbols  0 <= b <= 100000    1 <= seq <= 512
| memory   arena = 4*b*seq B    scratch = 4*seq B per worker

# Kernels with the nodes they compute.
$ weft inspect sample.weft | tail -6
| kernels  5, called 7 times
|      3 x  note_part
|      1 x  add_and_sum  /add
|      1 x  burn
|      1 x  multiply     /mul and 1 more
|      1 x  note_worker

# Kernels that run at the same time.
$ weft inspect sample.weft | grep -A1 together
| together 2 x  note_part + note_part
|          1 x  note_part + note_worker + note_part

# The same as numbers.
$ weft inspect sample.weft --at b=2,seq=100 | sed -n '9,13p'
| at       b = 2  seq = 100
|          y: f32[2, 100]
|          total: f32[2]
| memory   arena = 800 B    scratch = 400 B per worker    outputs = 808 B
| work     flops = 600    moved = 2.34 KiB

$ weft inspect sample.weft --at b=2
! error: '--at' gives no value to symbol 'seq'
!   hint: the symbols are b,seq,n,m,k
? 2
$ weft inspect sample.weft --at b=2,sep=3
! error: '--at': there is no symbol 'sep'
!   hint: the symbols are b,seq,n,m,k
? 2
$ weft inspect sample.weft --at b=2,seq=513
! error[W0413]: 'seq' is 513, but is at most 512
? 1

# One JSON document with the exact formulas.
$ weft inspect sample.weft --at b=2,seq=100 --json >inspect.json
$ python3 -c "
$+ import json; d = json.load(open('inspect.json')); f = d['functions'][0]
$+ print(d['schema'], d['kind'], len(d['sha256']), f['inputs'][1], f['formulas']['arena'], f['cost']['arena'])"
| weft.inspect/1 artifact 64 {'name': 'mask', 'element': 'f32', 'dims': ['b', 'seq']} 4*b*seq 800

$ python3 -c "
$+ import json; d = json.load(open('inspect.json')); print([f['together'] for f in d['functions']][3:])"
| [[], [{'kernels': [4, 4]}, {'kernels': [4, 3, 4]}, {'kernels': [4, 4]}], []]

# What is no artifact, or a damaged one, is refused in a line.
$ head -c 4000 sample.weft >short.weft && weft inspect short.weft
! error[W0503]: short.weft: is truncated: it has 4000 bytes, but should have {#}
!   hint: copy the file again or compile the model again
? 1
$ weft inspect nothing.weft
! error: nothing.weft: No such file or directory
? 1
$ echo hello >text.weft && weft inspect text.weft
! error[W0501]: text.weft: {*}
? 1

# What is decided while compiling is asked of the model.
$ weft inspect sample.weft --why
! error: 'sample.weft' is compiled already, and artifacts keep no reasons
!   hint: weft inspect MODEL --why, with the model it was compiled from
? 2
$ weft inspect sample.weft --dim seq=3
! error: '--dim' is for models, but 'sample.weft' is compiled already
? 2
