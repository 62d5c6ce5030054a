#!/bin/sh
# Checks a GPU: every instruction of instructions/list.txt, and every call of cases.txt, compared with the numbers beside them. Needs a driver and a
# shell.
#
#   sh run.sh                          the first GPU; results go to results.json
#   sh run.sh --device cuda:1          another one; 'emulated' needs no GPU
#   sh run.sh --output FILE.json
#
# Exit code 0: all right; 1: something is not; 4: there is no such device, which is said in one line.
here=$(cd "$(dirname "$0")" && pwd)
device=cuda output=results.json
while [ $# -gt 0 ]; do
  case $1 in
    --device) device=$2 ;;
    --output) output=$2 ;;
    *) echo "error: unknown option '$1': --device DEVICE, --output FILE" >&2; exit 2 ;;
  esac
  shift 2 2>/dev/null || { echo "error: '$1' needs a value" >&2; exit 2; }
done
weft=$here/bin/weft
models=$here/models
unset WEFT_PLUGIN_DIR

text() { # a line as JSON's string
  printf '%s' "$1" | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g'
}
limit=
if command -v timeout >/dev/null; then
  limit='timeout 120'
fi

# The device alone, with the smallest call.
read -r name artifact in out tolerance <"$here/cases.txt"
first=$($limit "$weft" run -q "$models/$artifact" -i "@$models/$in" --device "$device" 2>&1)
if [ $? -ne 0 ]; then
  case $first in
    *'there is no'* | *driver* | *libcuda* | *W070*) printf '%s\n' "$first" | sed -n 1p >&2; exit 4 ;;
  esac
fi

gpu=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null | sed -n 1p)
case $device in emulated*) gpu= ;; esac
{
  printf '{\n "schema": "weft.gpu-bundle/1",\n "device": "%s",\n "gpu": "%s",\n' "$(text "$device")" "$(text "$gpu")"
  printf ' "weft": "%s",\n "machine": "%s",\n' "$(text "$("$weft" version -q)")" "$(text "$(uname -srm)")"
  printf ' "calls": %d,\n "cases": [' $(($(wc -l <"$here/cases.txt") + $(wc -l <"$here/instructions/list.txt")))
} >"$output.part" || exit 1
failed=0 separator=
$limit "$here/bin/run_ptx" "$device" "$here/instructions" compare >"$output.ptx" 2>&1
while read -r name verdict; do
  code=0
  [ "$verdict" = right ] || { code=1 failed=$((failed + 1)) && echo "instruction $name: $verdict"; }
  printf '%s\n  {"name": "instruction %s", "exit": %d, "said": "%s"}' "$separator" "$(text "$name")" $code "$(text "$verdict")" >>"$output.part"
  separator=,
done <"$output.ptx"
rm -f "$output.ptx"
while read -r name artifact in out tolerance; do
  begin=$(date +%s)
  said=$($limit "$weft" run "$models/$artifact" -i "@$models/$in" --device "$device" --expect "@$models/$out" --tol "$tolerance" 2>&1)
  code=$?
  [ $code -eq 0 ] || failed=$((failed + 1))
  times=$(printf '%s\n' "$said" | grep '(first call)')
  line=$(printf '%s\n' "$said" | grep -m 1 '^error')
  worst=$(printf '%s\n' "$said" | grep -o 'worst error [^:]*' | tr '\n' ' ')
  printf '%s\n  {"name": "%s", "exit": %d, "seconds": %d, "times": "%s", "worst": "%s", "said": "%s"}' "$separator" "$name" "$code" \
    $(($(date +%s) - begin)) "$(text "$times")" "$(text "$worst")" "$(text "$line")" >>"$output.part"
  separator=,
  echo "$name: $([ $code -eq 0 ] && echo right || echo "$line")"
done <"$here/cases.txt"
printf '\n ]\n}\n' >>"$output.part"
mv "$output.part" "$output"
echo "$failed failed; $output"
[ $failed -eq 0 ]
