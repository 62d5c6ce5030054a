# A vocabulary of 30,522 over four ranks: rows of a table are looked up by the rank that has them, and no logit is exchanged.
$ weft eval vocabulary.mlir --dim n=3 --input 'ids=[30521,-30522,7631]' -q --output-dir one
$ weft eval vocabulary.mlir --dim n=3 --input 'ids=[30521,-30522,7631]' --mesh tp=4 --place 'table=[tp, _]' | grep sent
| sent     over tp: 672 B in 42 messages by rank 0, 2664 B by all 4
$ weft compile -q vocabulary.mlir --mesh tp=4 --place 'table=[tp, _]'
$ weft run vocabulary.weft --dim n=3 --input 'ids=[30521,-30522,7631]' --ranks 4 --transport threads -q $(for f in rows best least top at loss; do echo --expect $f=@one/$f.npy; done) --tol 1e-5
$ weft inspect vocabulary.weft | grep sent
| sent     over tp: bytes = 216·n + 24·ceildiv(n, 4) + 24·pos(rank_tp·ceildiv(n, 4) - n) - 24·pos(rank_tp·ceildiv(n, 4) - n + ceildiv(n, 4)) B    messages = 42 by one rank
# A position outside of the whole table is refused as by one rank.
$ weft run vocabulary.weft --dim n=3 --input 'ids=[1,30522,3]' --ranks 4 --transport threads -q
! error[W0419]: index 30522 at [1] of input 'ids' is outside 0..30521
? 1
# Rows of images: ranks give their neighbours borders, and what is far away is gathered.
$ weft compile rows.mlir --mesh t=3 --place 'x=[_, _, t, _]' --stop-after partition | grep -oE 'weft\.(permute|all_gather) .*because = ".*"' | sed -E 's/%[0-9]+ //; s/: [^:"]* B by one rank//'
| weft.permute by 1 over<t = 3> {weft.because = "'rows.mlir:5' needs what other ranks have"
| weft.permute by 2 over<t = 3> {weft.because = "'rows.mlir:5' needs what other ranks have"
| weft.all_gather dim 2 to [h] over<t = 3> {weft.because = "'rows.mlir:6' needs all of what 'rows.mlir:5' gives in parts"
| weft.permute by 1 over<t = 3> {weft.because = "'rows.mlir:7' needs what other ranks have"
| weft.permute by 2 over<t = 3> {weft.because = "'rows.mlir:7' needs what other ranks have"
| weft.all_gather dim 2 to [ceildiv(h, 2)] over<t = 3> {weft.because = "the caller needs all of what 'rows.mlir:7' gives in parts"
$ for h in 1 4 9; do weft eval rows.mlir --dim h=$h --dim w=5 -q --output-dir one$h; done
$ for t in 2 3 8; do weft compile -q rows.mlir --mesh t=$t --place 'x=[_, _, t, _]' && for h in 1 4 9; do weft run rows.weft --dim h=$h --dim w=5 --ranks $t --transport threads -q --expect y=@one$h/y.npy --expect z=@one$h/z.npy --tol 1e-5; done; done
# Groups of a convolution.
$ weft compile rows.mlir --mesh t=2 --place 'k=[t, _, _, _]' --stop-after partition | grep -oE 'groups [0-9]+'
| groups 1
| groups 2
| groups 2
