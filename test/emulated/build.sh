#!/bin/sh
# Builds for ARM what tests run under the emulator: build.sh SOURCE BUILD
set -e
cmake -S "$1" -B "$2" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$1/cmake/aarch64-linux-gnu.cmake" \
  -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld \
  -DCMAKE_C_COMPILER_LAUNCHER="$(command -v ccache || true)" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" \
  -DCMAKE_BUILD_TYPE=Release -DWEFT_COMPILER=OFF
cmake --build "$2" --target weft weft_call_artifact
