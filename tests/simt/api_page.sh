#!/bin/sh
# docs/emulator_api.md is what its program writes, and every function that it calls supported compiles and links with CUDA's own
# signature. Usage: api_page.sh RIDGE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
page="$root/runtime/simt/api_page/page.py"
python3 -c 'import tomllib' 2>/dev/null || { echo "skipped: python3 has no tomllib (3.11)"; exit 77; }
code=0
python3 "$page" --check || code=$?
[ $code -ne 77 ] || { echo "skipped: no CUDA headers"; exit 77; }
[ $code -eq 0 ] || exit 1
for library in libridge_fft.a libridge_solver.a; do
  [ -e "$(dirname "$1")/../lib/$library" ] || { echo "skipped: Ridge was built without FFTW or LAPACK"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 "$page" --calls "$scratch/calls.cu"
RIDGE_ROOT=$root "$1" cc --plain -O0 -w "$scratch/calls.cu" -lcublas -lcusolver -lcusparse -lcufft -lcuda -lnvrtc -o "$scratch/calls"
"$scratch/calls"
