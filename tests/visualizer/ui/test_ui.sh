#!/bin/sh
# Plays scripts of input under Xvfb and looks at what came of it: test_ui.sh RIDGE_VIZ TESTS OUT
set -eu
viz=$1 tests=$2 out=$3
for program in xvfb-run python3; do
  command -v $program >/dev/null || { echo "skipped: $program was not found (Debian: apt-get install xvfb xauth python3)" && exit 77; }
done
repository=$tests/../..
rm -rf "$out"
mkdir -p "$out"
cd "$out"
python3 "$tests/ui/attempts.py" "$tests/data/counted_three.json" attempts
echo 'no result' >broken.json
sed 's/BROKEN/broken.json/' "$tests/ui/shell.json" >shell.json
xvfb-run -a -s "-screen 0 1280x720x24" sh -euc '
  "$1" --size 800x450 --script "$2/ui/roofline.json" attempts
  "$1" --size 640x360 --script shell.json attempts
  echo "[{\"pace\": \"wheel\", \"frames\": 6, \"wheel\": 0.3, \"over\": \"score\"}]" >pace.json
  "$1" --size 640x360 --script pace.json attempts >pace.txt
  grep -q "\"frames\":6,.*\"pace\":\"wheel\"" pace.txt
  # An expectation that is not met is seen.
  echo "[{\"expect\": \"score\", \"value\": 62}]" >wrong.json
  if "$1" --script wrong.json attempts 2>wrong.txt; then echo "FAILED: a wrong expectation passed" && exit 1; fi
  grep -q "step 1 .*62.5" wrong.txt' play "$viz" "$tests"
python3 "$tests/ui/check.py" .
for lab in 01_coalescing 02_tiling; do
  "$viz" --export $lab.svg --layout $lab.json "$repository/benchmarks/h200/$lab.json"
  python3 "$tests/ui/numbers.py" "$repository/benchmarks/h200/$lab.json" $lab.json
done
"$viz" --export counted.svg --layout counted.json "$tests/data/counted_three.json"
python3 "$tests/ui/numbers.py" "$tests/data/counted_three.json" counted.json
