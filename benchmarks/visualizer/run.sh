#!/bin/sh
# Measures the timeline: benchmarks/visualizer/run.sh BUILD [EVENTS], from the repository's root. Needs 7 GB under TMPDIR.
set -eu
build=$1 events=${2:-10000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for shape in few many nested; do
  "$build/bin/bench_timeline" write $shape "$events" "$work/$shape.json"
  for _ in 1 2 3; do "$build/bin/bench_timeline" measure "$work/$shape.json" | sed "s/^{/{\"shape\": \"$shape\", /"; done
  rm "$work/$shape.json"
done
