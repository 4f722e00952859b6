#!/bin/sh
# The scripts make the figures of the slides from today's records, without a difference: test_figures.sh SOURCE_DIR NODE.
# The visualizer's exports differ a little with each version of its libraries, so these must only exist and be small.
set -u
source=$1 node=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
RIDGE_FIGURES=$scratch "$node" "$source/slides/figures/drawn.mjs" >/dev/null || failed=1
RIDGE_FIGURES=$scratch "$node" "$source/slides/figures/recorded.mjs" records >/dev/null || failed=1
count=0
for made in "$scratch"/*.svg; do
  count=$((count + 1))
  cmp -s "$made" "$source/slides/figures/$(basename "$made")" ||
    { echo "FAILED: slides/figures/$(basename "$made") is not what its script makes: sh slides/figures.sh"; failed=1; }
done
[ "$count" -ge 30 ] || { echo "FAILED: the scripts made $count figures"; failed=1; }
for figure in "$source"/slides/figures/*.svg; do
  name=$(basename "$figure")
  [ "$(wc -c <"$figure")" -le 153600 ] || { echo "FAILED: $name is larger than 150 KiB"; failed=1; }
  grep -q "figures/$name" "$source"/slides/*/deck.md || { echo "FAILED: no deck shows $name"; failed=1; }
done
echo "$count figures made and compared"
exit $failed
