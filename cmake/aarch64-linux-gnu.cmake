# From another machine to 64-bit ARM Linux: clang with Debian's libraries for it, and an emulator for what the build runs.
# Used by the presets arm64 and arm64-static; 'tools/setup --tests' installs what it names.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)

set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(WEFT_EMULATOR NAMES qemu-aarch64 qemu-aarch64-static)
if(WEFT_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${WEFT_EMULATOR};-L;/usr/aarch64-linux-gnu")
endif()
