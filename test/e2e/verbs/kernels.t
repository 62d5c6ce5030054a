# With a folder for code of kernels, what is compiled again takes it from there, and the bytes are the same.
$ weft compile -q layers.mlir -t x86:v3 -o without.weft
$ WEFT_KERNELS=kept weft compile layers.mlir -t x86:v3 -o first.weft
| first.weft  {*}
!   import    layers.mlir {*} s
!   fuse      3 kernel calls {*} s
!   plan      peak = 128·batch B {*} s
!   code      3 kernels {*} s
!   next: weft run first.weft · weft inspect first.weft
$ WEFT_KERNELS=kept weft compile layers.mlir -t x86:v3 -o second.weft
| second.weft  {*}
!   import    layers.mlir {*} s
!   fuse      3 kernel calls {*} s
!   plan      peak = 128·batch B {*} s
!   code      3 kernels, 3 kept {*} s
!   next: weft run second.weft · weft inspect second.weft
$ cmp without.weft first.weft && cmp without.weft second.weft

# Another target, and results that are exact, have kernels of their own; an object for C takes what there is.
$ WEFT_KERNELS=kept weft compile layers.mlir -t x86:v3,v4 -o both.weft 2>&1 | grep -o '6 kernels, . kept'
| 6 kernels, 3 kept
$ WEFT_KERNELS=kept weft compile layers.mlir -t x86:v3 --accuracy exact -o exact.weft 2>&1 | grep -c kept
| 0
? 1
$ WEFT_KERNELS=kept weft compile layers.mlir -t x86:v3 --emit object 2>&1 | grep -o '3 kernels, . kept'
| 3 kernels, 3 kept

# Damaged files are compiled anew, and where nothing can be kept all is.
$ for file in kept/*/*; do echo damaged > $file; done
$ WEFT_KERNELS=kept weft compile layers.mlir -t x86:v3 -o third.weft 2>&1 | grep -c kept
| 0
? 1
$ WEFT_KERNELS=/dev/null/kept weft compile -q layers.mlir -t x86:v3 -o fourth.weft
$ cmp without.weft third.weft && cmp without.weft fourth.weft
