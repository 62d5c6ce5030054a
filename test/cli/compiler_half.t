# Without the compiler half its verbs say what is missing; exit 4, the machine lacks something.
$ mkdir alone && cp "$(command -v weft)" alone/weft && alone/weft compile model.onnx
! error: 'weft compile' needs the compiler, but libweft_tool.so was not found in {*}/alone or {*}/alone/../lib/weft
!   hint: build with WEFT_COMPILER=ON, or install the compiler beside weft
? 4
$ for verb in eval check verify; do alone/weft $verb model.onnx 2>/dev/null; echo $?; done
| 4
| 4
| 4

# Help and wrong usage need no compiler.
$ alone/weft compile --help | head -1
| Compile a model into one file that runs every shape it allows.
$ alone/weft verify
! error: 'weft verify' needs MODEL [ARTIFACT]
!   hint: usage: weft verify MODEL [ARTIFACT] [options]
? 2

# A library that is not the compiler is refused in words.
$ echo nothing > alone/libweft_tool.so && alone/weft check model.onnx
! error: 'weft check' needs the compiler, which cannot be loaded: {*}libweft_tool.so: {*}
!   hint: the compiler needs LLVM and MLIR 19; tools/setup installs them
? 4

# Beside the program, as in a build folder: it gets the whole command line, and its exit code counts.
$ cp "$FAKE_HALF" alone/libweft_tool.so && alone/weft compile model.onnx -o x.weft
| 0: alone/weft
| 1: compile
| 2: model.onnx
| 3: -o
| 4: x.weft
? 3

# In lib/weft, as installed; links to the program are followed.
$ mkdir -p usr/bin usr/lib/weft && cp alone/weft usr/bin/ && cp "$FAKE_HALF" usr/lib/weft/libweft_tool.so
$ ln -s usr/bin/weft here && ./here eval model.onnx --dim seq=4 | tail -2
| 3: --dim
| 4: seq=4

# inspect decides by the file: models go to the compiler, artifacts do not.
$ touch model.onnx && alone/weft inspect model.onnx
| 0: alone/weft
| 1: inspect
| 2: model.onnx
? 3
$ mkdir checkpoint && alone/weft inspect checkpoint | tail -1
| 2: checkpoint
$ alone/weft inspect nothing.onnx
! error: nothing.onnx: No such file or directory
? 1
$ alone/weft inspect sample.weft | head -1
| sample.weft  weft test  {*}
