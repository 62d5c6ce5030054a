# Every pass, what it changes by itself and what has changed since import; the generated code is the last step.
$ weft verify constant.mlir --input x=ones --dim batch=1 --weights bf16 --bisect=passes -t x86:v3
| outputs  y  f32[1, 2]  different
| passes   pass                       changes    in all
|          weft-require-sizes         0          0
|          weft-split-functions       0          0
|          weft-limit-exchanges       0          0
|          canonicalize               0          0
|          cse                        0          0
|          weft-fold-constants        0          0
|          weft-convolve-phases       0          0
|          weft-move-quantisations    0          0
|          weft-unsign-bytes          0          0
|          weft-use-integers          0          0
|          weft-store-parameters      0          0
|          weft-fold-scales           0          0
|          weft-channels-last         0          0
|          canonicalize               0          0
|          cse                        0          0
|          weft-narrow-weights        2.5e-04    2.5e-04
|          weft-flatten-products      0          2.5e-04
|          weft-fold-moves            0          2.5e-04
|          weft-nest-concats          0          2.5e-04
|          weft-scatter-rows          0          2.5e-04
|          weft-check-positions       0          2.5e-04
|          weft-decompose-composites  0          2.5e-04
|          weft-tabulate-bytes        0          2.5e-04
|          weft-form-kernels          0          2.5e-04
|          weft-fuse-rounding         0          2.5e-04
|          weft-bound-sums            0          2.5e-04
|          weft-bound-numbers         0          2.5e-04
|          weft-collapse-dims         0          2.5e-04
|          weft-bound-pairs           0          2.5e-04
|          plan-lower                 0          2.5e-04
|          plan-overlap-exchanges     0          2.5e-04
|          plan-form-regions          0          2.5e-04
|          plan-reserve-late          0          2.5e-04
|          plan-place-memory          0          2.5e-04
|          code                       0          2.5e-04
| first    pass weft-narrow-weights, 16 of 35
|          output 'y': 1 of 2 elements differ, worst error 0.00025: got 4, expected 4.00099993 at [0, 0]
! inputs   x  f32[1, 2]  generated, ones
! error: output 'y': 1 of 2 elements differ, worst error 0.00025: got 4, expected 4.00099993 at [0, 0]
? 3
$ weft verify constant.mlir --input x=ones --dim batch=1 --weights bf16 --bisect=passes --json 2>/dev/null | tail -5
|   "first": {
|     "pass": "weft-narrow-weights",
|     "position": 16
|   }
| }

# No pass to name: the table all the same.
$ weft verify constant.mlir --input x=ones --dim batch=1 --bisect=passes -q
$ weft verify constant.mlir --input x=ones --dim batch=1 --bisect=passes 2>/dev/null | tail -2
|          code                       0          0
| first    no pass changes an output by more than the tolerance

# Code that rounds otherwise than the evaluator, with passes that are good.
$ weft verify layers.mlir --dim batch=3 --tol 0 --bisect=passes 2>/dev/null | tail -2
| first    the code of the kernels: the passes are good
|          output 'y': {#} of 96 elements differ, worst error {#}: got {#}, expected {#} at [{#}, {#}]

# An artifact of another program: the passes of the model as it is compiled now are judged.
$ weft compile -q other.mlir && weft verify layers.mlir other.weft --dim batch=3 --bisect=passes 2>/dev/null | tail -1
| first    the model compiled now does not differ; compile other.weft again

# Refusals.
$ weft verify constant.mlir --bisect=kernels
! error: '--bisect' is 'kernels', but must be passes
!   hint: 'weft help verify' lists the options
? 2
$ weft verify constant.mlir --bisect=passes --weights f8
! assumed  batch=1  (set with --dim)
! inputs   x  f32[1, 2]  generated, seed 1, uniform in -1..1
! error[W0306]: weights cannot be stored as 'f8'
!   hint: they can be stored as bf16 and f16
? 2
