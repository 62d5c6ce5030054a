# What the project's scripts share: where things are, how they speak. Source it after `set -euo pipefail`.
#
#   step "what happens now"          a progress line, with the seconds since the script began
#   note "a detail"                  an indented line
#   fail "what is wrong" "hint"      error and hint on stderr, exit 1

weft_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
weft_cache=${WEFT_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  weft_bold=$'\e[1m' weft_plain=$'\e[0m'
else
  weft_bold='' weft_plain=''
fi

step() { printf '%s[%4ds] %s%s\n' "$weft_bold" "$SECONDS" "$1" "$weft_plain"; }
note() { printf '        %s\n' "$1"; }
fail() {
  printf 'error: %s\n' "$1" >&2
  [[ $# -lt 2 ]] || printf '  hint: %s\n' "$2" >&2
  exit 1
}

# The comment block below the first line of the calling script is its help.
usage() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"; }

# Prints the first interpreter that can make environments (Debian splits that into python3-venv), or fails.
weft_python() {
  local candidate
  for candidate in ${WEFT_PYTHON:-} /usr/bin/python3 python3; do
    if "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}
