#!/bin/sh
# build.sh WEFT MODEL.onnx TARGET FOLDER COMPILER...: FOLDER/firmware, a static program for TARGET that COMPILER makes
set -e
weft=$1 model=$2 target=$3 folder=$4 here=$(dirname "$0")
shift 4
"$weft" compile -q "$model" -t "$target" --emit object,header -o "$folder"
"$@" -std=c99 -Wall -Wextra -Werror -Os -ffreestanding -fno-builtin -fno-stack-protector -fno-pic -nostdlib -static -I"$folder" \
  "$here/main.c" "$here/board_linux.c" "$folder/keywords.o" -o "$folder/firmware"
