#!/bin/sh
# Frames a second at 1080p under Mesa's software renderer: benchmarks/visualizer/frames.sh BUILD [EVENTS], from the repository's
# root. A line of JSON for each view and movement. Needs 2.5 GB under TMPDIR.
set -eu
build=$1 events=${2:-10000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LIBGL_ALWAYS_SOFTWARE=1
# paced VIEW STEPS FILES...: the script's lines of JSON, with the view's name.
paced() {
  view=$1
  printf '%s' "$2" >"$work/steps.json"
  shift 2
  xvfb-run -a -s "-screen 0 1920x1080x24" "$build/bin/ridge-viz" --size 1920x1080 --script "$work/steps.json" "$@" |
    sed "s/^{/{\"view\": \"$view\", /"
}
zoomed='{"wheel": 30, "over": "lane/1@0.5,0.5"}, {"pace": "zoomed in, wheel", "frames": 120, "wheel": 0.3, "over": "lane/1@0.5,0.5"}'
lanes='[{"pace": "all, still"}, {"pace": "wheel", "frames": 240, "wheel": 0.3, "over": "lane/1@0.5,0.5"}, '$zoomed']'
for shape in few many nested; do
  "$build/bin/bench_timeline" write $shape "$events" "$work/$shape.json"
  paced "timeline, $shape, $events events" "$lanes" "$work/$shape.json"
  rm "$work/$shape.json"
done
paced "timeline, two PyTorch ranks" '[{"pace": "all, still"}]' benchmarks/visualizer/torch_ddp.0.json.gz benchmarks/visualizer/torch_ddp.1.json.gz
paced roofline '[{"pace": "still"}]' benchmarks/h200/04_tensor_core.steps.json benchmarks/h200/calibration.json
warp=$(ls visualizer/stories/01_transpose/01_coalescing/*.warp.json | head -1)
paced warp '[{"pace": "still"}]' "$warp"
paced progress '[{"pace": "still"}]' --view progress visualizer/stories/01_transpose
