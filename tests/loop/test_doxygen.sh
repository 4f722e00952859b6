#!/bin/sh
# API documentation of the public headers is made without a warning.
set -eu
root=$1
command -v doxygen >/dev/null || { echo "skipped: no doxygen here"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$root"
(cat docs/Doxyfile; echo "OUTPUT_DIRECTORY = $scratch"; echo "WARN_LOGFILE = $scratch/warnings") | doxygen - >"$scratch/out" 2>&1 || { tail -20 "$scratch/out"; exit 1; }
if [ -s "$scratch/warnings" ]; then
  head -40 "$scratch/warnings"
  echo "FAILED: $(wc -l <"$scratch/warnings") warnings"
  exit 1
fi
[ -f "$scratch/html/index.html" ] || { echo "FAILED: nothing was made"; exit 1; }
