#!/bin/sh
# Launches a compiler, and puts a sum of what it wrote beside it: summed.sh COMPILER ARGUMENT... -o FILE ... writes FILE and FILE.sum.
# ccache reads the sum of a precompiled header (CCACHE_PCH_EXTSUM) in place of its 100 MB, for every source that includes it.
"$@" || exit
while [ "$1" != -o ]; do
  shift
done
sha256sum <"$2" >"$2.sum"
