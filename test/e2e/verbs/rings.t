# Tokens are split over ranks: keys and values go around them in blocks, and each rank merges what it gets. The mask is causal: every rank has an
# early and a late piece.
$ weft compile attention.mlir --mesh sp=3 --place 'x=[_, sp, _]' --stop-after partition | grep -oE 'because = ".*"' | sed -E 's/: [^:"]* B by one rank//' | uniq -c | sed 's/^ *//'
| 4 because = "ranks have an early and a late piece each, of what 'attention.mlir:17' reads or gives"
| 4 because = "keys and values of 'attention.mlir:17' go around in blocks"
| 1 because = "ranks have an early and a late piece each, of what 'attention.mlir:17' reads or gives"
| 1 because = "the caller needs all of what 'attention.mlir:18' gives in parts"
$ for n in 2 3 4; do weft eval attention.mlir --dim b=2 --dim s=7 --mesh sp=$n --place 'x=[_, sp, _]' | grep sent; done
| sent     over sp: 2576 B in 8 messages by rank 0, 5024 B by all 2
| sent     over sp: 3856 B in 11 messages by rank 0, 10016 B by all 3
| sent     over sp: 2824 B in 14 messages by rank 0, 10912 B by all 4
$ weft compile -q attention.mlir --mesh sp=3 --place 'x=[_, sp, _]'
$ for s in 1 2 7; do weft eval attention.mlir --dim b=2 --dim s=$s -q --output-dir one; for t in threads shm; do weft run attention.weft --dim b=2 --dim s=$s --ranks 3 --transport $t -q --expect one/y.npy --tol 1e-5; done; done
# A rank's memory follows from how many tokens it has, not from how many there are: 1024 of 2048, and of 4096.
$ for n in 2 4; do weft compile -q attention.mlir --mesh sp=$n --place 'x=[_, sp, _]' && weft inspect attention.weft --at b=1,s=$((n * 1024)) | grep -oE 'arena = [0-9]+' | cut -d' ' -f3; done > arenas; echo $(($(tail -n1 arenas) * 100 / $(head -n1 arenas) <= 100))
| 1
# All ranks have equal work.
$ for r in 0 1 2 3; do weft inspect attention.weft --at b=1,s=1024,rank_sp=$r | grep -oE 'flops = [0-9.]+ [a-zA-Z]'; done | uniq | wc -l
| 1
# Keys and values are computed by all or gathered instead where they are placed whole, and where there are never many.
$ weft compile attention.mlir --mesh sp=2 --place 'x=[_, sp, _]' --place 'attention.mlir:3=[_, _, _]' --place 'attention.mlir:4=[_, _, _]' --stop-after partition | grep -oE 'weft.(permute|all_[a-z_]+|softmax)'
| weft.softmax
| weft.all_gather
$ weft compile attention.mlir --dim s=1..1024 --mesh sp=2 --place 'x=[_, sp, _]' --stop-after partition | grep -oE 'weft.(permute|all_[a-z_]+|softmax)'
| weft.all_gather
| weft.all_gather
| weft.softmax
| weft.all_gather
$ weft compile attention.mlir --dim s=1..1024 --mesh sp=2 --place 'x=[_, sp, _]' --place 'attention.mlir:3=[_, sp, _]' --stop-after partition | grep -oE 'weft.(permute|all_[a-z_]+|softmax)'
| weft.permute
| weft.permute
| weft.permute
| weft.permute
| weft.permute
| weft.permute
| weft.permute
| weft.all_gather
# With heads over another axis, each rank passes its heads on.
$ weft eval attention.mlir --dim b=2 --dim s=7 -q --output-dir one
$ weft compile -q attention.mlir --mesh tp=2,sp=2 --place 'x=[_, sp, _]' --place 'w?=[_, tp]' && weft run attention.weft --dim b=2 --dim s=7 --ranks 4 --transport threads -q --expect one/y.npy --tol 1e-5
$ weft compile attention.mlir --mesh sp=2,tp=2 --place 'x=[_, sp, _]' --place 'w?=[_, tp]' --stop-after partition | grep -oE 'weft.(permute|all_[a-z_]+|softmax)'
| weft.permute
| weft.permute
| weft.permute
| weft.permute
| weft.permute
| weft.permute
| weft.permute
| weft.all_gather
| weft.all_gather
# From tokens to heads and back: four exchanges around attention.
$ weft compile attention.mlir --mesh sp=2 --place 'x=[_, sp, _]' --place 'y=[_, sp, _]' --place 'attention.mlir:[567]=[_, _, sp, _]' --stop-after partition > heads.mlir; grep -oE 'weft.(permute|all_[a-z_]+|softmax)' heads.mlir
| weft.all_to_all
| weft.all_to_all
| weft.all_to_all
| weft.softmax
| weft.all_to_all
| weft.all_gather
$ weft compile -q heads.mlir && weft run heads.weft --dim b=2 --dim s=7 --ranks 2 --transport threads -q --expect one/y.npy --tol 1e-5
# A cache that is split by tokens stays where it is: ranks combine the largest score, the sum and the result.
$ weft compile decode.mlir --mesh sp=3 --place 'decode.mlir:[23]=[_, _, sp, _]' --stop-after partition > parts.mlir; grep -oE 'weft.(permute|all_[a-z_]+ [a-z]*|softmax)' parts.mlir
| weft.all_reduce max
| weft.all_reduce sum
| weft.all_reduce sum
$ weft compile -q parts.mlir && for p in 0 1 6; do weft eval decode.mlir --dim b=2 --dim p=$p -q --output-dir one && weft run parts.weft --dim b=2 --dim p=$p --ranks 3 --transport threads -q --expect one/y.npy --tol 1e-5; done
