# No verb: the overview and exit code 2.
$ weft
! weft compiles a machine-learning model into one file that answers every shape, and runs it.
! ...
! error: a verb is missing
!   hint: weft compile model.onnx
? 2

# The overview on request is a result.
$ weft help | head -1
| weft compiles a machine-learning model into one file that answers every shape, and runs it.
$ weft --help | head -1
| weft compiles a machine-learning model into one file that answers every shape, and runs it.

$ weft --version
| weft {*} (artifact format 1.4)
$ weft version --json
| {
|   "schema": "weft.version/1",
|   "version": "{*}",
|   "format": "1.4",
|   "compiler": "{*}"
| }

# A mistyped verb or option names the one that is meant.
$ weft rnu sample.weft
! error: unknown verb 'rnu'; the closest is 'run'
!   hint: 'weft help' lists the verbs
? 2
$ weft frobnicate
! error: unknown verb 'frobnicate'
!   hint: 'weft help' lists the verbs
? 2
$ weft --versoin
! error: unknown option '--versoin'; the closest is '--version'
!   hint: 'weft help' lists the verbs
? 2
$ weft compile bert.onnx --taget x86:v3
! error: unknown option '--taget'; the closest is '--target'
!   hint: 'weft help compile' lists the options
? 2
$ weft run sample.weft --accuracy exact
! error: 'weft run' has no option '--accuracy'; it belongs to compile, inspect, check, verify, reduce and tune
!   hint: 'weft help run' lists the options
? 2
$ weft run sample.weft -x
! error: unknown option '-x'
!   hint: 'weft help run' lists the options
? 2

# Arguments of options are judged before anything else happens.
$ weft run sample.weft --seed many
! error: '--seed' is 'many', but must be a whole number
!   hint: 'weft help run' lists the options
? 2
$ weft run sample.weft --max-memory much
! error: '--max-memory' is 'much', but must be a size such as 64M or 1.5GiB
!   hint: 'weft help run' lists the options
? 2
$ weft run sample.weft --dim 7
! error: '--dim' is '7', but must be written SYM=N,...
!   hint: 'weft help run' lists the options
? 2
$ weft run sample.weft --color blue
! error: '--color' is 'blue', but must be auto, always or never
!   hint: 'weft help run' lists the options
? 2
$ weft run sample.weft --output-dir
! error: option '--output-dir' needs a value: DIR
!   hint: 'weft help run' lists the options
? 2
$ weft run sample.weft --verify=yes
! error: option '--verify' takes no value
!   hint: 'weft help run' lists the options
? 2
$ weft run sample.weft --seed 1 --seed 2
! error: option '--seed' is given twice
!   hint: 'weft help run' lists the options
? 2

# An option without effect is refused, not ignored.
$ weft run sample.weft --tol 1e-3
! error: '--tol' has no effect without '--expect'
!   hint: 'weft help run' lists the options
? 2

# Too few and too many operands.
$ weft run
! error: 'weft run' needs ARTIFACT
!   hint: usage: weft run ARTIFACT [options]
? 2
$ weft run a.weft b.weft
! error: 'b.weft' is one argument too many
!   hint: usage: weft run ARTIFACT [options]
? 2
$ weft help nothing
! error: unknown verb 'nothing'
!   hint: 'weft help' lists the verbs
? 2

# Help wins over whatever else is wrong with the line, and is a result.
$ weft run --taget --help | head -1
| Call a compiled model once; save or compare what it answers.

# With --json a refusal is one JSON document, too.
$ weft run sample.weft --json --seed many 2>/dev/null
| {
|   "schema": "weft.error/1",
|   "exit": 2,
|   "code": "",
|   "message": "'--seed' is 'many', but must be a whole number",
|   "hint": "'weft help run' lists the options"
| }
? 2

# Colour: never by itself in a pipe, always when asked for.
$ weft run a.weft b.weft --color always 2>&1 | head -1 | od -c | head -1
| 0000000 033   [   1   ;   3   1   m   e   r   r   o   r   : 033   [   0

# A result that cannot be written is an error.
$ weft help >/dev/full
! error: the result cannot be written to stdout: No space left on device
? 1
