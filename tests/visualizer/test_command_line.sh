#!/bin/sh
# Exit codes and messages of ridge-viz where it has nothing to show: test_command_line.sh RIDGE_VIZ DATA
set -u
viz=$1 data=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset DISPLAY WAYLAND_DISPLAY
bad=0

# expect CODE WORD... -- ARGUMENTS...: the exit code, and that each word is on stderr and nothing on stdout
expect() {
  code=$1
  shift
  words=
  while [ "$1" != -- ]; do
    words="$words $1"
    shift
  done
  shift
  "$viz" "$@" >"$scratch/out" 2>"$scratch/err"
  got=$?
  if [ "$got" -ne "$code" ]; then
    echo "FAILED: ridge-viz $*: exit code $got, expected $code"
    bad=1
  fi
  for word in $words; do
    if ! grep -qF -- "$word" "$scratch/err"; then
      echo "FAILED: ridge-viz $*: stderr does not name '$word':"
      cat "$scratch/err"
      bad=1
    fi
  done
  if [ -s "$scratch/out" ]; then
    echo "FAILED: ridge-viz $*: wrote to stdout"
    bad=1
  fi
}

echo 'not json {' >"$scratch/text.json"
echo '{"schema": "ridge.result/9", "tasks": []}' >"$scratch/newer.json"
echo '{"schema": "ridge.result/1", "tasks": []}' >"$scratch/empty.json"
good=$data/timed_one.json

expect 2 missing.json 'try:' -- "$scratch/missing.json"
expect 2 text.json JSON 'try:' -- "$scratch/text.json"
expect 2 newer.json ridge.result/9 ridge.result/1 -- "$scratch/newer.json"
expect 2 empty.json tasks 'try:' -- "$scratch/empty.json"
mkdir "$scratch/none"
expect 2 directory result -- "$scratch/none"
: >"$scratch/nothing.json"
expect 2 nothing.json empty -- "$scratch/nothing.json"
echo '{"a": 1}' >"$scratch/foreign.json"
expect 2 foreign.json schema -- "$scratch/foreign.json"
printf '\211PNG\r\n\032\n\000\377' >"$scratch/binary"
expect 2 binary JSON 'try:' -- "$scratch/binary"
expect 2 missing.json -- "$good" "$scratch/missing.json"
expect 2 --size 'try:' -- --size 12x34 "$good"
expect 2 --size -- --size 1600x900x3 "$good"
expect 2 nowhere mkdir -- --screenshot "$scratch/nowhere/a.png" "$good"
expect 2 --view roofline -- --view nothing "$good"
expect 2 --export .svg -- --export "$scratch/a.gif" "$good"
expect 2 colour=red README -- --set colour=red --export "$scratch/a.svg" "$good"
expect 2 s.json script -- --script "$scratch/s.json" "$good"
expect 3 DISPLAY --
expect 3 DISPLAY xvfb-run 'try:' -- --screenshot "$scratch/a.png" "$good"
expect 3 DISPLAY xvfb-run -- "$good"
[ ! -e "$scratch/a.png" ] || { echo "FAILED: a picture was written without a display" && bad=1; }
# SVG needs no display.
"$viz" --export "$scratch/a.svg" --layout "$scratch/a.json" "$good" || { echo "FAILED: --export without a display" && bad=1; }
grep -q '<text' "$scratch/a.svg" && grep -q '</svg>' "$scratch/a.svg" || { echo "FAILED: the SVG has no text" && bad=1; }
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$scratch/a.svg" || bad=1
# Text from a file stays text: marks, control characters, broken UTF-8.
printf '{"schema": "ridge.result/1", "title": "<b>&\\"\\u0007 one", "lab": "a]]>b", "tasks": [{"id": "t<u>", "max": 1}]}' >"$scratch/marks.json"
"$viz" --export "$scratch/marks.svg" "$scratch/marks.json" || bad=1
python3 - "$scratch/marks.svg" <<'END' || { echo "FAILED: marks in an SVG" && bad=1; }
import sys, xml.dom.minidom
texts = [t.firstChild.data for t in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("text")]
assert any('<b>&"' in t for t in texts) and any("t<u>" in t for t in texts) and "a]]>b" in texts, texts
END
[ "$bad" -eq 0 ] && echo "all as expected"
exit "$bad"
