#!/bin/sh
# Draws the samples off-screen, then looks at the pictures: test_screenshot.sh RIDGE_VIZ CHECKER DATA OUT
set -eu
viz=$1 checker=$2 data=$3 out=$4

if ! command -v xvfb-run >/dev/null; then
  echo "skipped: xvfb-run was not found (Debian: apt-get install xvfb xauth)"
  exit 77
fi
rm -rf "$out"
mkdir -p "$out"
draw='
for size in 1600x900 1280x720; do
  for sample in counted_three timed_three timed_one close_points; do
    "$1" --screenshot "$3/$sample-$size.png" --layout "$3/$sample-$size.json" --size "$size" "$2/$sample.json"
  done
done
# Larger than the screen.
"$1" --screenshot "$3/timed_one-2560x1440.png" --layout "$3/timed_one-2560x1440.json" --size 2560x1440 \
  "$2/timed_one.json"'
xvfb-run -a -s "-screen 0 1600x900x24" sh -euc "$draw" draw "$viz" "$data" "$out"
RIDGE_VIZ_PICTURES=$out exec "$checker"
