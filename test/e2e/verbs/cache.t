# What a decoder keeps between calls in bytes: other inputs and outputs, and scales as the last ones.
$ weft inspect -q cache.mlir --cache i8 | grep main
| main(x: f32[b, s, 8], past: i8[b, p, 8], past_scale: f32[b, p, 1]) -> (present: i8[b, p + s, 8], sum: f32[b, 8], present_scale: f32[b, p + s, 1])
$ weft inspect -q cache.mlir --cache bf16 | grep main
| main(x: f32[b, s, 8], past: bf16[b, p, 8]) -> (present: bf16[b, p + s, 8], sum: f32[b, 8])
$ weft compile -q cache.mlir --cache i8 --in-place -o grow.weft && weft inspect grow.weft | grep -A1 "^in place"
| in place past becomes present, with room for p + s along dimension 1
|          past_scale becomes present_scale, with room for p + s along dimension 1
$ weft verify cache.mlir --cache i8 --in-place --dim b=2 --dim s=2 --dim p=3 -q
$ weft eval -q cache.mlir --cache i8 --dim b=2 --dim s=2 --dim p=3 -o evaluated.npz && weft run -q grow.weft --dim b=2 --dim s=2 --dim p=3 --expect @evaluated.npz

# What cannot be is refused, and nothing is written.
$ weft compile -q layers.mlir --cache i8
! error[W0209]: there is no cache: no output is an input of floats with something behind it
? 1
$ weft compile -q cache.mlir --cache i4
! error: '--cache' is 'i4', but must be i8, f16 or bf16
!   hint: 'weft help compile' lists the options
? 2
$ weft inspect grow.weft --cache i8
! error: '--cache' is for models, but 'grow.weft' is compiled already
? 2
$ sed 's/"sum"/"present_scale"/' cache.mlir > clash.mlir && weft compile -q clash.mlir --cache i8
! error[W0209]: {*}a cache needs an output 'present_scale', a name that another has
? 1
$ ls layers.weft cache.weft clash.weft 2>/dev/null
? 2
