#!/bin/sh
# The scripts make the figures of lessons and decks from today's records, without a difference: test_figures.sh SOURCE_DIR
# NODE. The visualizer's exports differ a little with each version of its libraries, so these must only exist and be small.
# Each lesson shows at least four figures, each with alternative text, and each figure is shown somewhere.
set -u
source=$1 node=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "FAILED: $1"; failed=1; }
RIDGE_FIGURES=$scratch "$node" "$source/figures/make.mjs" drawn >"$scratch/made" || failed=1
while read -r made; do
  cmp -s "$scratch/$made" "$source/$made" || fail "$made is not what its script makes: sh figures/figures.sh drawn"
done <"$scratch/made"
count=$(wc -l <"$scratch/made")
[ "$count" -ge 50 ] || fail "the scripts made $count figures"
for figure in "$source"/slides/figures/*.svg "$source"/labs/*/figures/*.svg; do
  name=$(basename "$figure") folder=$(dirname "$(dirname "$figure")")
  [ "$(wc -c <"$figure")" -le 153600 ] || fail "$name is larger than 150 KiB"
  grep -q '<title' "$figure" && grep -q '<desc' "$figure" || fail "$name has no <title> and <desc>"
  grep -q 'prefers-color-scheme' "$figure" || fail "$name has one set of colours: wanted a dark and a light one"
  ! grep -q 'animation:' "$figure" || grep -q 'prefers-reduced-motion:no-preference' "$figure" || fail "$name moves for readers who want less motion"
  grep -q "figures/$name)" "$folder/README.md" "$source"/slides/*/deck.md || fail "no lesson and no deck shows $name"
done
for lesson in "$source"/labs/*/README.md; do
  images=$(grep -c '^!\[.*](figures/.*\.svg)' "$lesson")
  [ "$images" -ge 4 ] || fail "$lesson shows $images figures: wanted 4 or more"
  ! grep '^!\[' "$lesson" | grep -vE '^!\[.{30,}\]\(' || fail "$lesson: the alternative text above says next to nothing"
done
echo "$count figures made and compared"
exit $failed
