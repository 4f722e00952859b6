#!/bin/sh
# Scripts of input for the warp view, stories and the leaderboard, and the numbers that are drawn:
# test_views.sh RIDGE_VIZ TESTS OUT
set -eu
viz=$1 tests=$2 out=$3
for program in xvfb-run python3; do
  command -v $program >/dev/null || { echo "skipped: $program was not found (Debian: apt-get install xvfb xauth python3)" && exit 77; }
done
stories=$tests/../../visualizer/stories/01_transpose
rm -rf "$out"
mkdir -p "$out"
cd "$out"
set -- $(cd "$stories/01_coalescing" && ls | grep -v '\.warp\.json$')
for student in ada linus; do mkdir -p class/$student/01_coalescing; done
cp "$stories/01_coalescing/$1" class/ada/01_coalescing
for attempt in "$@"; do cp "$stories/01_coalescing/$attempt" class/linus/01_coalescing; done
sed "s/ATTEMPT/${1%.json}/" "$tests/progress/board.json" >board.json
warp=$stories/01_coalescing/${1%.json}.transpose.warp.json
mkdir empty
xvfb-run -a -s "-screen 0 1280x720x24" sh -euc '
  "$1" --size 960x540 --script "$2/warp/warp.json" --view warp "$4"
  "$1" --size 960x540 --script "$2/warp/layouts.json" --view warp --set show=swizzle
  "$1" --size 960x540 --script "$2/progress/story.json" --story "$3/story.json"
  "$1" --size 960x540 --script board.json --live class
  echo "[{\"absent\": \"student/ada\"}]" >waits.json
  "$1" --size 960x540 --script waits.json --live empty' play "$viz" "$tests" "$stories" "$warp"
# What a line took, in the picture and in the grader's own result.
"$viz" --view warp --export warp.svg --layout warp.json "$warp"
python3 - "$stories/01_coalescing/$1" warp.json <<'PYTHON'
import json, sys
lines = [l for k in json.load(open(sys.argv[1]))["tasks"][0]["kernels"] for l in k["lines"]]
drawn = {i["name"]: i.get("value") for i in json.load(open(sys.argv[2]))["items"]}
worst = max((l for l in lines if l["line"] == 5), key=lambda l: l["sectors"] / l["ideal_sectors"])
assert drawn["took/5"] == worst["sectors"] and drawn["requests/5"] == worst["requests"], (drawn["took/5"], worst)
print("the picture has the grader's numbers")
PYTHON
