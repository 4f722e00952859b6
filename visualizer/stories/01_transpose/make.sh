#!/bin/sh
# Checks three versions of lab 01's transpose on the emulator and writes the story about them. From the repository's root:
# sh visualizer/stories/01_transpose/make.sh
set -eu
ridge=${RIDGE:-build/bin/ridge} here=visualizer/stories/01_transpose
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export RIDGE_RESULTS="$scratch/results"
for attempt in 1 2 3; do
  case $attempt in
    1) set -- --wrong transpose_naive ;;
    2) set -- --wrong transpose_conflicts ;;
    3)
      cp -r work/.ridge/wrong/01_coalescing/transpose_conflicts "$scratch/work"  # where --wrong leaves its files
      sed -i 's/tile\[32\]\[32\]/tile[32][33]/' "$scratch/work/transpose.cu"
      set -- --submission "$scratch/work"
      ;;
  esac
  "$ridge" check 01 --task transpose --backend cpu "$@" || [ $? -eq 1 ]
  sleep 1
done
rm -rf $here/01_coalescing
cp -r "$scratch/results/01_coalescing" $here/
sed -i 's#"path": "[^"]*"#"path": "work/01_coalescing"#' $here/01_coalescing/*.json
python3 - $here <<'PYTHON'
import json, pathlib, sys

here = pathlib.Path(sys.argv[1])
results = sorted(f.relative_to(here).as_posix() for f in here.glob("01_coalescing/*.json") if ".warp." not in f.name)
warps = [f[:-5] + ".transpose.warp.json" for f in results]
step = lambda say, **what: dict(what, say=say)
def load(name, file, what):
    text = json.loads((here / file).read_text())["sources"][0]["text"].split("\n")
    return {"line": next(i for i, l in enumerate(text, 1) if what in l), "access": name}
steps = [
    step("First attempt: out[c][r] = in[r][c]. The answer is right. Why are so many bytes moved?",
         open=results[0], view="roofline"),
    step("Reading is fine: 32 lanes, 4 sectors, every byte that moves is used.",
         open=warps[0], view="warp", set=load("load in", warps[0], "out[")),
    step("Writing is not: neighbouring lanes write to different rows. Each store touches 32 sectors where 4 would do.",
         open=warps[0], view="warp", set=load("store out", warps[0], "out[")),
    step("Second attempt: a tile in shared memory turns rows into columns. Both sides of global memory are coalesced.",
         open=results[1], view="roofline"),
    step("But a column of the tile lies in one bank: 32 wavefronts where 1 would do. The lanes wait for each other.",
         open=warps[1], view="warp", set=load("load tile", warps[1], "= tile[")),
    step("Third attempt: one word of padding in each row of the tile, tile[32][33].",
         open=results[2], view="roofline"),
    step("Each lane has a bank of its own now: one wavefront. Full marks.",
         open=warps[2], view="warp", set=load("load tile", warps[2], "= tile[")),
    step("Three attempts. Each began with a question: which bytes move for nothing, and which lanes wait?",
         open=".", view="progress"),
]
story = {"schema": "ridge.story/1", "title": "Transpose: three attempts toward the roof", "steps": steps}
(here / "story.json").write_text(json.dumps(story, indent=2) + "\n")
PYTHON
