# Three heads of keys that twelve of queries share: where ranks outnumber them, all have them, and queries are split.
$ weft eval grouped.mlir --dim b=2 --dim s=5 -q --output-dir one
$ for t in 2 3 4 6 8; do weft compile -q grouped.mlir --mesh tp=$t --place 'wq=[_, tp]' -o t$t.weft && weft run t$t.weft --dim b=2 --dim s=5 --ranks $t --transport threads -q --expect one/y.npy --tol 1e-5; done
# A third or a quarter of the queries: four ranks have three heads each, keys for all, and send the sum of the last product only.
$ weft inspect t3.weft | grep -oE 'flops = [^ ]* . [^ ]*'
| flops = 96·b·s² + 648·b·s
$ weft inspect t4.weft | grep -oE 'flops = [^ ]* . [^ ]*'
| flops = 72·b·s² + 776·b·s
$ weft inspect t4.weft | grep '^sent'
| sent     over tp: bytes = 48·b·s B    messages = 6 by one rank
$ weft inspect t6.weft | grep -oE 'flops = [^ ]* . [^ ]*'
| flops = 48·b·s² + 648·b·s
# One kernel computes attention as on one rank.
$ weft inspect t4.weft | grep -c weft_k_attention
| 1
