# A size that data decide and nothing limits: what it needs is a formula of its own.
$ weft compile late.mlir -q -o late.weft --target x86:v2 && weft inspect late.weft | sed -n 2,9p
| main(x: f32[n], k: i64[]) -> (rows: f32[k, n], sum: f32[n])
| symbols  0 ≤ n
| bound    k  (known while a call runs)
| checks   'n' is at most 2147483647
|          no tensor is larger than 2^62 bytes
|          'k', which data decide, is a size
| memory   arena = 0 B    scratch = 256·ceildiv(n, 64) B per worker
| later    more = 64·ceildiv(k·n, 16) B
$ weft inspect late.weft --at n=3 | grep -E 'rows: f32.k, 3|later'
|          rows: f32[k, 3]
| later    more = 64·ceildiv(k·n, 16) B
$ weft inspect late.weft --json | grep 'late.*\['
|         "late": ["64*ceildiv(k*n, 16)"],
|         "late_scratch_per_worker": []

$ weft run late.weft --dim n=3 --input x=range --input k=4 2>/dev/null
| outputs  rows  f32[4, 3]  min 0           mean 1.5         max 6           nan 0
|          sum   f32[3]     min 0.4416      mean 1.333       max 2.816       nan 0
$ weft run late.weft --dim n=3 --input x=range --input k=0 2>/dev/null
| outputs  rows  f32[0, 3]  min nan         mean nan         max nan         nan 0
|          sum   f32[3]     min 0           mean 0           max 0           nan 0
$ for k in 0 1 7 300; do weft verify late.mlir --dim n=5 --input k=$k -q || echo $k; done

# No size, or more than there may be: one line, from the program and from the evaluator.
$ weft run late.weft --dim n=3 --input k=-1 2>&1 >/dev/null | grep error
| error[W0417]: 'k', which the contents of tensors decide, is -1
$ weft run late.weft --dim n=3 --input k=4294967296 2>/dev/null
? 1
$ weft eval late.mlir --dim n=3 --input k=4294967296
! error[W0410]: 'weft.bind' 'k', which the contents of tensors decide, is 4294967296, but sizes are at most 2147483647
? 1
$ weft run late.weft --dim n=1000 --input k=100000 --max-memory 1MiB 2>&1 >/dev/null | grep error
| error[W0421]: this call needs 381.5 MiB (n = 1000, k = 100000) but the limit is 1 MiB
$ weft compile -q late.mlir --max-memory 1GiB
! error[W0313]: --max-memory 1024.0 MiB cannot be promised, because data decide 'k' and nothing limits it
!   hint: a context has a limit of its own, as 'weft run --max-memory' gives it
? 1
