# The project's CMake functions: warnings, finding MLIR, object libraries of the compiler, tests.
include(CheckCXXSourceCompiles)

include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/include ${PROJECT_SOURCE_DIR}/compiler/include ${PROJECT_BINARY_DIR})
add_compile_options(-Wall -Wextra -Wno-unused-parameter -fdiagnostics-color=auto)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wno-missing-field-initializers)
  # libstdc++'s own std::stable_sort calls what libstdc++ deprecates, and clang says so at every caller. This takes the marks out of
  # libstdc++ alone: deprecated functions of LLVM, MLIR and Weft still warn.
  add_compile_options(-U__DEPRECATED)
else()
  add_compile_options(-Wno-missing-field-initializers -Wno-comment -Wno-dangling-reference)
endif()
# On in the preset 'dev' and those made from it, which name their compiler, so that its build prints no warning. Off in 'release':
# another standard library may warn of something new, and a user's build shall not end there.
if(WEFT_WERROR)
  add_compile_options(-Werror)
endif()
if(WEFT_SANITIZE)
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()

# MLIR 19 as Debian ships it: the two shared libraries and static lld. RTTI is on there and must stay on here.
macro(weft_find_mlir)
  list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-19)
  find_package(MLIR 19.1 REQUIRED CONFIG)
  find_package(LLD 19.1 REQUIRED CONFIG)
  find_package(fmt REQUIRED)
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
  include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  separate_arguments(WEFT_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  add_definitions(${WEFT_LLVM_DEFINITIONS})
endmacro()

# What one clone compiled is not compiled again in another: ccache takes a clone's path out of options (CCACHE_BASEDIR in the presets), but
# not out of those behind -Xclang, and not out of a precompiled header. So the header is named as seen from the build folder, where ninja
# runs compilers, and holds names relative to it: clang takes from them what it believes to be the root of the system, which for this one
# file is also its folder (weft_add_precompiled). Without that, a header from the cache would speak of files of a clone that may be gone.
if(CMAKE_CXX_COMPILER_ID MATCHES Clang AND CMAKE_GENERATOR STREQUAL Ninja)
  set(weft_header dialects/weft/CMakeFiles/weft_precompiled.dir/cmake_pch.hxx)
  set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -isysroot /proc/self/cwd -Xclang -relocatable-pch -Xclang -emit-pch -Xclang -include
      -Xclang ${weft_header} -x c++-header)
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -isysroot . -Xclang -include-pch -Xclang ${weft_header}.pch -Xclang -include -Xclang ${weft_header})
endif()

# weft_add_precompiled(): MLIR's headers and the dialect's, parsed once for all parts of the compiler. Sources include what they
# use all the same. Half of the build's processor time was these headers.
function(weft_add_precompiled)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp "")
  add_library(weft_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
  target_precompile_headers(weft_precompiled PRIVATE
    <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Vector/IR/VectorOps.h> <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>
    <dialects/weft/Weft.h>)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(weft_precompiled PRIVATE -Xclang -fno-pch-timestamp) # else no cache knows it again
    set_target_properties(weft_precompiled PROPERTIES CXX_COMPILER_LAUNCHER
      "sh;${PROJECT_SOURCE_DIR}/cmake/summed.sh;env;PWD=/proc/self/cwd;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
  add_dependencies(weft_precompiled weft_dialect_tablegen)
endfunction()

# weft_use_precompiled(NAME): a target with sources that include MLIR.
function(weft_use_precompiled name)
  if(TARGET weft_precompiled)
    target_precompile_headers(${name} REUSE_FROM weft_precompiled)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
    endif()
  endif()
endfunction()

# weft_precompile_below(FOLDER): every target of the folder that links the compiler takes the precompiled header: what tests include of
# MLIR took four of the five seconds that each of their sources compiles.
function(weft_precompile_below folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(name ${targets})
    weft_links(links ${name} weft_compiler)
    get_target_property(type ${name} TYPE)
    weft_links(watched ${name} weft_runtime_tsan) # by a sanitizer that the header was made without, as fuzzers are
    get_target_property(options ${name} COMPILE_OPTIONS)
    if(links AND NOT watched AND NOT options MATCHES "-fsanitize" AND NOT type STREQUAL INTERFACE_LIBRARY)
      weft_use_precompiled(${name})
      target_compile_options(${name} PRIVATE -fPIC) # as the header was, also in programs
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    weft_precompile_below(${below})
  endforeach()
endfunction()

# weft_links(RESULT NAME LIBRARY): whether NAME links LIBRARY, itself or through another.
function(weft_links result name library)
  set(${result} OFF PARENT_SCOPE)
  get_target_property(libraries ${name} LINK_LIBRARIES)
  foreach(direct ${libraries})
    if(direct STREQUAL library)
      set(${result} ON PARENT_SCOPE)
      return()
    elseif(TARGET ${direct})
      get_target_property(imported ${direct} IMPORTED)
      if(NOT imported)
        weft_links(through ${direct} ${library})
        if(through)
          set(${result} ON PARENT_SCOPE)
          return()
        endif()
      endif()
    endif()
  endforeach()
endfunction()

# weft_add_objects(NAME [PLAIN] sources...): one part of the compiler, linked into libweft_compiler.so. PLAIN: it includes no MLIR.
function(weft_add_objects name)
  cmake_parse_arguments(ARG "PLAIN" "" "" ${ARGN})
  add_library(${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  if(NOT ARG_PLAIN)
    weft_use_precompiled(${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_COMPILER_OBJECTS ${name})
  if(TARGET weft_dialect_tablegen)
    add_dependencies(${name} weft_dialect_tablegen)
  endif()
endfunction()

# weft_check_links(RESULT FLAGS SOURCE): whether a program is made from SOURCE with FLAGS. A no is not remembered: what was missing may
# have been installed since.
function(weft_check_links result flags source)
  if(NOT ${result})
    unset(${result} CACHE)
  endif()
  set(CMAKE_REQUIRED_FLAGS ${flags})
  check_cxx_source_compiles("${source}" ${result})
endfunction()

# weft_tests_off(WHAT WHY): says which tests this configuration leaves out. tools/check reads the file and ends with it.
file(WRITE ${PROJECT_BINARY_DIR}/tests-off.txt "")
function(weft_tests_off what why)
  message(STATUS "${what} are off: ${why}")
  file(APPEND ${PROJECT_BINARY_DIR}/tests-off.txt "${what} are OFF: ${why}\n")
endfunction()

# weft_add_test(NAME SOURCES ... LIBRARIES ... LABELS ...): a Catch2 program registered with ctest.
function(weft_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} weft_catch_main)
  add_test(NAME ${name} COMMAND ${name})
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()
