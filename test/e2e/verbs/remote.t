$ python3 -c "
$+ import array; array.array('f', [(i * 37 % 101) / 64 - 0.75 for i in range(256 * 384)]).tofile(open('w.bin', 'wb'))"
$+ cat > fake <<'END'
$+ exec python3 fake_remote.py "$@"
$+ END
$+ cat > verdicts <<'END'
$+ # What 'weft tune' finds with such a remote, which begins anew: what it compiles for, records, and trials.
$+ rm -rf remote
$+ weft tune two.mlir --dim m=24 --budget 20m --timeout 3s --json -q -o $1.tuning --remote "sh fake $1" > out.json || exit
$+ python3 -c "
$+ import json; d = json.load(open('out.json')); kernels = d['kernels']
$+ print(d['target'], d['tuned'], *sorted({t['choice'] + '=' + t['pick'] + ' ' + t['verdict'].replace(' ', '-') for k in kernels for t in k['trials']}), sep=', ')"
$+ END

# Tiles of six rows are fast on a remote of which the times are known. Records are the remote's, for what it has; what a shell there says first is passed over.
# A connection that breaks is made again, and the run goes on.
$ weft tune two.mlir --dim m=24 --budget 20m --remote "sh fake news"
| {*}share{*}kernel{*}choice{*}estimated{*}picked{*}gain{*}rejected
| 40.0 %  weft_k_contraction_{*}  block{*}
| 40.0 %  weft_k_contraction_{*}  rows            7            6  +50.0 %  {*}
| ...
!   remote    generic, arm:v8
!   2 kernels, 2 of them with choices; a call takes 2.50 ms at m=24
!   the remote 'sh fake news' was lost: ended
!   round 1: 2 kernels otherwise, 0 faster  {*}
! ...
!   m=24: 2.50 ms -> 1.25 ms a call
! two.tuning  2 records, 2 of this run
!   next: weft compile two.mlir -t arm:v8 --tuned-for 'generic' --tuning two.tuning
$ cut -d '|' -f 2,3,5- two.tuning
|  generic | arm:v8 | contraction rows=6 | m=24 | threads=1 | 50.0 %
|  generic | arm:v8 | contraction rows=6 | m=24 | threads=1 | 50.0 %
$ weft compile -q two.mlir -t arm:v8 --tuned-for generic --tuning two.tuning && weft inspect two.weft | grep -o "weft_k_contraction_rows6_"
| weft_k_contraction_rows6_
| weft_k_contraction_rows6_

# A candidate that crashes, that hangs, of which the remote lies, or with which the connection ends twice, costs itself only. Kernels that hang
# together are tried one by one.
$ sh verdicts troubles && cmp troubles.tuning two.tuning
| arm:v8, 2, block=200 failed, rows=4 failed, rows=6 faster, rows=8 not-faster, schedule=product not-faster

# A remote that lies from the first is of no use, nor is one that is gone.
$ sh verdicts other-kernels
! error: as estimated, the model cannot be timed: the remote 'sh fake other-kernels' answers wrongly: 'base.kernels.0' is f64 [3, 6], not f64 [2, 6]
? 4
$ sh verdicts fewer-pieces
! error: as estimated, the model cannot be timed: the remote 'sh fake fewer-pieces' takes no file: other pieces
? 4
$ cp two.tuning gone.tuning; sh verdicts gone; cmp gone.tuning two.tuning
! error: the remote 'sh fake gone' did not answer as 'weft bench --answer' does: ended, with 'ssh: connect to host board port 22: No route to host'
!   hint: 'sh fake gone weft version' has to print {*}
$ sh verdicts other-sizes
! error: output 1 is [7, 256], not [24, 256] with {*}; this is a fault of Weft
! ...
? 3

# Whoever is no such remote is refused before anything is compiled.
$ weft tune two.mlir --remote "sh fake other-version"
! error: the remote 'sh fake other-version' has weft 9.9.9, but this is {*}
!   hint: install the same version there
? 4
$ weft tune two.mlir --remote "sh fake other-protocol"
! error: the remote 'sh fake other-protocol' says 'weft-trials 2', not 'weft-trials 1'
!   hint: install weft {*} there
? 4
$ weft tune two.mlir --remote "sh fake plain" -t arm:v8.2
! error: the remote 'sh fake plain' (aarch64) lacks 'fullfp16', which arm:v8.2 needs
!   hint: --target arm:v8 is the most that it has
? 4
$ weft tune two.mlir --remote "sh fake plain" -t x86:v3
! error: the remote 'sh fake plain' (aarch64) lacks 'sse4.2', which x86:v3 needs
!   hint: --target arm:v8 is the most that it has
? 4
$ weft tune two.mlir --remote "sh fake plain" -t cuda:sm_80
! error: kernels for cuda:sm_80 are tuned on the machine that has it, not on a remote
? 2
$ weft tune two.mlir --remote "sh fake plain" -t arm:v7
! error[W0301]: unknown target 'arm:v7'; the nearest is 'arm:v8'; {*}
? 2
$ weft tune two.mlir --remote "sh fake none"
! error: the remote 'sh fake none' (aarch64) runs no target of weft
? 4
$ weft tune two.mlir --remote "no-such-command board"
! error: the remote 'no-such-command board' did not answer as 'weft bench --answer' does: ended, with '{*}no-such-command: not found'
!   hint: 'no-such-command board weft version' has to print {*}
? 4
$ weft tune two.mlir --remote "env PATH=. "
! error: the remote 'env PATH=. ' did not answer as 'weft bench --answer' does: ended, with '{*}No such file or directory'
!   hint: {*}
? 4
$ weft tune two.mlir --remote "yes #" > out 2> err; echo $?; cut -c-90 err
| 4
| error: the remote 'yes #' did not answer as 'weft bench --answer' does: {*}
|   hint: {*}
$ weft tune two.mlir --remote "sh fake silent" --timeout 0.3s
! error: the remote 'sh fake silent' did not answer as 'weft bench --answer' does: silent for 300 ms
!   hint: 'sh fake silent weft version' has to print {*}
? 4
$ weft tune two.mlir --remote " "
! error: --remote names no command
!   hint: such as --remote 'ssh board'
? 2
$ weft tune two.mlir --timeout 5s
! error: '--timeout' has no effect without '--remote' or ranks
!   hint: leave it out
? 2
$ weft tune two.mlir --remote env --timeout 0s
! error: '--timeout' must be more than 0 and at most 24h
? 2

# A program says what a call costs, instead of the remote's clock. A candidate that it says nothing of, crashes at or hangs at costs itself only.
$ cat > score.py <<'END'
$+ import re, sys, time, zipfile
$+ code, names = open(sys.argv[1], "rb").read(), zipfile.ZipFile(sys.argv[2]).namelist()
$+ if b"weft_k_product_" in code: sys.exit("no counters")
$+ if b"_block200_" in code: time.sleep(600)
$+ print(names, "fast" if b"_rows4_" in code else 99 if b"_rows6_" in code else 100, sep="\n")
$+ END
$ weft tune tune.mlir --dim m=24 --budget 20m --timeout 3s --remote "sh fake one-kernel" --score "python3 score.py" > out 2> err; cut -d '|' -f 4- tune.tuning; rm tune.tuning; sort err
|  {*} | contraction rows=6 | m=24 | threads=1 | 1.0 %
|   1 kernels, 1 of them with choices; a call takes 2.50 ms, score 100 at m=24
|   m=24: 100 -> 99 of a call's score
|   next: weft compile tune.mlir -t arm:v8 --tuned-for 'generic' --tuning tune.tuning
|   remote    generic, arm:v8
|   round 1: {*}
| ...
| tune.tuning  1 record, 1 of this run
$ grep -o "1 kernel otherwise, failed: .*" err | sed "s/[0-9.]* s$/N s/" | sort -u
| 1 kernel otherwise, failed: '--score python3 score.py' ended with exit code 1, with 'no counters'
| 1 kernel otherwise, failed: '--score python3 score.py' printed 'fast', which is no number above 0
| 1 kernel otherwise, failed: '--score python3 score.py' takes more than N s
$ weft tune tune.mlir --dim m=24 --remote "sh fake one-kernel" --score "echo -1 #" -q
! error: as estimated, the model cannot be timed: '--score echo -1 #' printed '-1', which is no number above 0
? 4
$ weft tune tune.mlir --dim m=24 --remote "sh fake one-kernel" --score "no-such-command" -q
! error: as estimated, the model cannot be timed: '--score no-such-command' ended with exit code 127, with '{*}not found'
? 4
$ weft tune tune.mlir --dim m=24 --remote "sh fake one-kernel" --score "kill -9 \$\$ #" -q
! error: as estimated, the model cannot be timed: '--score kill -9 {*} #' was killed by signal 9
? 4
$ weft tune tune.mlir --dim m=24 --budget 3s --remote "sh fake one-kernel" --score "sleep 600 #" -q
! error: as estimated, the model cannot be timed: '--score sleep 600 #' takes more than 3.00 s
? 4
$ weft tune tune.mlir --remote "sh fake one-kernel" --score " "
! error: --score names no command
!   hint: such as --score 'python3 count.py'
? 2
$ weft tune tune.mlir --score "echo 1"
! error: '--score' has no effect without '--remote'
! {*}
? 2

# Another weft of this machine: what it measures is used here without a word.
$ weft tune tune.mlir --assume 'm == 1' --budget 20m --remote env --json -q > there.json && weft targets --json -q > here.json
$ python3 -c "
$+ import json; d, h = json.load(open('there.json')), json.load(open('here.json')); k, = d['kernels']
$+ print(d['records'] == d['tuned'] <= 1, k['untried'], len(k['trials']) > 1, all(t['verdict'] in ('faster', 'not faster') for t in k['trials']))
$+ print(d['processor'] == h['processor'], d['target'] in [t['name'] for t in h['targets'] if t['runs']])"
| True 0 True True
| True True
$ weft compile -q tune.mlir --dim m=1 --tuning tune.tuning && weft verify tune.mlir tune.weft -q
