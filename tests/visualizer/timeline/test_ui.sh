#!/bin/sh
# Plays a script of input against the timeline, and draws it without a display: test_ui.sh RIDGE_VIZ TESTS OUT
set -eu
viz=$1 tests=$2 out=$3
command -v xvfb-run >/dev/null || { echo "skipped: xvfb-run was not found (Debian: apt-get install xvfb xauth)" && exit 77; }
rm -rf "$out"
mkdir -p "$out"
cd "$out"
xvfb-run -a -s "-screen 0 1280x720x24" "$viz" --size 1280x720 --script "$tests/ui.json" "$tests/data/overlapped.trace.json.gz"
[ -s timeline.png ]
# Every mode as SVG, and the judge's number in it.
"$viz" "$tests/data/overlapped.trace.json.gz" --export overlap.svg --layout overlap.json --set mode=overlap
grep -q '27.1%' overlap.svg
grep -q '"name":"exposed/0","value":0.27053' overlap.json
echo '{"traceEvents":[{"ph":"X","name":"one","ts":1,"dur":1},{"ph":' >cut.json
"$viz" cut.json --export cut.svg --layout cut.json2
echo '[}' >broken.json
if "$viz" broken.json --export broken.svg 2>broken.txt; then echo "FAILED: a broken trace was shown" && exit 1; fi
grep -q 'byte 1' broken.txt
grep -q 'try:' broken.txt
# Streams' names are whole, the wrong case is named, and of a launch that is cut the kernel stays.
cat >streams.json <<'JSON'
{"otherData": {"lab": "05_streams_graphs", "task": "fork_join", "wrong_case": "n 36"}, "traceEvents": [
{"ph":"M","name":"thread_name","pid":0,"tid":1,"args":{"name":"host"}},
{"ph":"M","name":"thread_name","pid":0,"tid":2,"args":{"name":"gradients_out (stream 15)"}},
{"ph":"X","name":"launch scale_kernel","cat":"host","pid":0,"tid":1,"ts":0,"dur":12},
{"ph":"X","name":"scale_kernel","cat":"kernel","pid":0,"tid":2,"ts":10,"dur":90}]}
JSON
"$viz" streams.json --export streams.svg --size 1280x720
for text in 'gradients_out (stream 15)' 'the wrong case: n 36' '>scale_'; do
  grep -q "$text" streams.svg || { echo "FAILED: '$text' is not in the picture" && exit 1; }
done
