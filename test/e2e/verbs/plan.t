# A plan is evaluated as the model is, whatever target it is for.
$ weft compile -q layers.mlir --target x86:v2 --stop-after plan > plan.mlir
$ weft eval layers.mlir --dim batch=3 > model.txt && weft eval plan.mlir --dim batch=3 | diff - model.txt
$ weft verify plan.mlir --target x86:v2 --dim batch=3 -q
$ weft verify plan.mlir --target x86:v2 --dim batch=3 --bisect=passes 2>/dev/null | grep -A2 passes
| passes   pass  changes    in all
|          code  {#}    {#}
| first    no pass changes an output by more than the tolerance

# So are programs whose inputs have room, at every level; callers see what is in use.
$ weft eval cache.mlir --dim b=2 --dim s=3 --dim p=5 > model.txt
$ for level in graph fuse plan; do
$+  weft compile -q cache.mlir --in-place --stop-after $level > grown.mlir
$+  weft eval grown.mlir --dim b=2 --dim s=3 --dim p=5 | diff - model.txt
$+ done
$ weft verify cache.mlir --in-place --dim b=2 --dim s=2 --dim p=3 --bisect=passes 2>/dev/null | grep grow
|          weft-grow-in-place         0          0

# A plan without its first launch is no program.
$ sed '0,/plan.launch/{/plan.launch/d}' plan.mlir > less.mlir && weft eval less.mlir --dim batch=3
! error[W0410]: input 0 of kernel @weft_k_product_{*} at '/layer/MatMul' is read, but nothing wrote its bytes 0 to 575
? 1

# What needs a graph says so.
$ weft verify plan.mlir --target x86:v2 --dim batch=3 --bisect -q
! error: '--bisect' compiles prefixes of a graph, but 'plan.mlir' is a plan
!   hint: give the model that it was made from
? 2
$ weft eval plan.mlir --dim batch=3 --function other
! error[W0401]: the model has no function 'other'
!   hint: its functions are 'main'
? 1
