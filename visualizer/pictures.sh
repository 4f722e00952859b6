#!/bin/sh
# Redraws the pictures of the documents: sh visualizer/pictures.sh [NAME...]. Needs ./ridge viz, which installs missing packages.
# One picture judges on the emulator here; the others show recorded results.
set -eu
cd "$(dirname "$0")/.."
out=docs/images
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wanted=" $* "
# picture NAME ARGUMENTS...
picture() {
  name=$1
  shift
  case $wanted in "  " | *" $name "*) ;; *) return 0 ;; esac
  ./ridge viz --export "$out/$name.png" --size 1280x720 "$@"
  # With pngquant installed, a palette of 128 colours saves three quarters of the bytes.
  command -v pngquant >/dev/null && pngquant --force --ext .png --skip-if-larger 128 "$out/$name.png" || true
  echo "$out/$name.png"
}
# Attempts at a lab on the emulator: two of the course's wrong solutions, then the reference.
attempts() {
  mkdir -p "$scratch/attempts"
  cp -r solutions/01_coalescing "$scratch/work"  # solutions/ itself would count as the reference
  number=1
  for wrong in transpose_naive transpose_conflicts ""; do
    set -- --submission "$scratch/work"
    [ -z "$wrong" ] || set -- --wrong "$wrong"
    RIDGE_RESULTS=$scratch/results ./ridge check 01 --backend cpu "$@" --json "$scratch/attempts/$number.json" >/dev/null || true
    number=$((number + 1))
  done
}

picture roofline_h200 benchmarks/h200/01_coalescing.json
picture roofline_steps benchmarks/h200/04_tensor_core.steps.json benchmarks/h200/calibration.json
picture roofline_compare --theme dark --set task=sgemm --set compare=4 benchmarks/h200/02_tiling.steps.json benchmarks/h200/calibration.json
picture roofline_present --present --set task=sgemm benchmarks/h200/02_tiling.json
case $wanted in "  " | *" roofline_levels "*) attempts ;; esac
picture roofline_levels --set levels=on --set task=transpose benchmarks/h200/calibration.json "$scratch/attempts"
picture timeline_pytorch benchmarks/visualizer/torch_ddp.0.json.gz benchmarks/visualizer/torch_ddp.1.json.gz
picture timeline_overlap --theme dark benchmarks/training/h200x2/pipeline_1f1b.trace.json --set mode=overlap
picture timeline_ring benchmarks/collectives/h200x4/ring.trace.json --set mode=collective
story=visualizer/stories/01_transpose
first=$(ls $story/01_coalescing/*.warp.json | sed -n 1p) second=$(ls $story/01_coalescing/*.warp.json | sed -n 2p)
picture warp_sectors "$first"
picture warp_banks --theme dark --set line=12 --set "access=load tile" "$second"
picture warp_swizzle --view warp --set show=swizzle
picture warp_wgmma --theme dark --view warp --set show=wgmma
picture progress --view progress $story
