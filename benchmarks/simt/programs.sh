#!/bin/sh
# Builds and runs all programs of tests/simt/programs on the emulator, as many at a time as there are cores, and prints one line
# of JSON: benchmarks/simt/programs.sh [RIDGE], from the repository's root. RIDGE_CXX names the compiler.
set -eu
ridge=${1:-./ridge}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cores=$(nproc)
now() { date +%s%N; }
export ridge work
start=$(now)
ls tests/simt/programs/*.cu tests/simt/programs/samples/*.cu | xargs -P "$cores" -I{} sh -c '
  name=$(basename "{}" .cu)
  "$ridge" cc "{}" $(sed -n "s#^// link: ##p" "{}") -o "$work/$name" >"$work/$name.log" 2>&1 || echo "$name" >>"$work/failed"'
built=$(now)
ls tests/simt/programs/*.cu tests/simt/programs/samples/*.cu | xargs -P "$cores" -I{} sh -c '
  name=$(basename "{}" .cu)
  [ -x "$work/$name" ] || exit 0
  devices=$(sed -n "s#^// devices: ##p" "{}")
  [ "$(RIDGE_WORKERS=1 RIDGE_DEVICES=${devices:-1} timeout 120 "$work/$name" 2>/dev/null | tail -n 1)" = ok ] || echo "$name" >>"$work/failed"'
ran=$(now)
count=$(ls tests/simt/programs/*.cu tests/simt/programs/samples/*.cu | wc -l)
failed=$([ ! -f "$work/failed" ] || tr '\n' ' ' <"$work/failed")
printf '{"programs": %d, "failed": "%s", "cores": %d, "build_seconds": %.1f, "run_seconds": %.1f}\n' "$count" "$failed" "$cores" \
  "$(((built - start) / 100000000))e-1" "$(((ran - built) / 100000000))e-1"
[ -z "$failed" ]
