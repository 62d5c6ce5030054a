#!/usr/bin/env bash
# Regenerates docs/reference: operators and passes from ODS, help screens and instructions of products from the command 'weft'.
#
#   tools/docs/generate.sh [WEFT]             rewrite the pages ("bless"); WEFT is the built command [build/dev/bin/weft]
#   tools/docs/generate.sh --check [WEFT]     compare only; exit 1 and a diff when a page is stale
#
# The test 'docs_reference' runs the second form. Without a built command, cli.md and instructions.md are left alone and said so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

check=no
case ${1:-} in
  --check) check=yes; shift ;;
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  -*) printf "error: unknown option '%s'\n  hint: --check\n" "$1" >&2; exit 2 ;;
esac
weft=${1:-build/dev/bin/weft}

options=()
if [[ -x $weft ]]; then
  options+=(--weft "$weft")
else
  echo "note: '$weft' is not built: help screens and instructions are left alone" >&2
fi

if [[ $check == no ]]; then
  python3 tools/docs/reference.py --out docs/reference "${options[@]}"
  exit
fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
python3 tools/docs/reference.py --out "$fresh" "${options[@]}"
status=0
for page in "$fresh"/*.md; do
  diff -u --label "docs/reference/${page##*/}" --label "regenerated" "docs/reference/${page##*/}" "$page" || status=1
done
[[ $status == 0 ]] || echo "error: docs/reference is stale; run tools/docs/generate.sh $weft and commit what it changes" >&2
exit $status
