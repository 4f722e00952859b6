#!/bin/sh
# Prints a deck to PDF with the light theme, one slide a page: print.sh INDEX.html OUT.pdf. Without a browser it says so
# and makes no PDF.
set -eu
page=$1 out=$2
browser=$(sh "$(dirname "$0")/browser.sh")
if [ -z "$browser" ]; then
  echo "skipped: $(basename "$out") needs Chromium or Chrome (Debian: apt-get install chromium; RIDGE_BROWSER names another)"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# No sandbox: containers and root cannot start one, and the page is our own.
"$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$scratch/profile" \
  --virtual-time-budget=20000 --no-pdf-header-footer --print-to-pdf="$scratch/deck.pdf" "file://$page?light&print-pdf" \
  >"$scratch/log" 2>&1 || true
if ! [ -s "$scratch/deck.pdf" ]; then
  echo "FAILED: $browser wrote no PDF of $page" >&2
  cat "$scratch/log" >&2
  exit 1
fi
cp "$scratch/deck.pdf" "$out"
