#!/bin/sh
# compute-sanitizer on every solution. tests/gpu/sanitize.sh [--build | --run] [LAB...]: --build only compiles, to
# work/sanitize/, for a GPU elsewhere, where --run compiles nothing. Exit code 77: there is no GPU or no compute-sanitizer here.
set -u
cd "$(dirname "$0")/../.." || exit 2
folder=${RIDGE_SANITIZE_DIR:-work/sanitize}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
mode=both
case ${1:-} in --build | --run) mode=$1; shift ;; esac
[ $# -gt 0 ] || set -- $(ls solutions)
if [ $mode != --build ]; then
  tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null)
  [ -n "$tool" ] && nvidia-smi > /dev/null 2>&1 || { echo "skipped: no GPU or no compute-sanitizer here"; exit 77; }
fi
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -1 | tr -d .)
case $capability in *[!0-9]* | "" | 90) arch=90a ;; *) arch=$capability ;; esac
mkdir -p "$folder"
failed=0
for lab in "$@"; do
  grep -q '^ranks' "labs/$lab/lab.toml" && { echo "$lab: skipped: it needs several processes"; continue; }
  program=$folder/$lab
  if [ $mode != --run ] && { [ ! -x "$program" ] ||
    [ -n "$(find "labs/$lab" "solutions/$lab" checks runtime/lab tests/gpu -type f -newer "$program" | head -1)" ]; }; then
    for source in "labs/$lab/check.cpp" "labs/$lab/check"/*.cpp checks/*.cpp; do
      [ -f "$source" ] || continue
      "${CXX:-c++}" -std=c++20 -O2 -DFMT_HEADER_ONLY -I. -Iruntime -c "$source" -o "$folder/$(echo "$source" | tr / _).o" || exit 1
    done
    "$nvcc" -std=c++20 -O2 -lineinfo -gencode=arch=compute_$arch,code=sm_$arch -I. -Iruntime "-Ilabs/$lab" "-Isolutions/$lab" \
      tests/gpu/run_cases.cu "labs/$lab/entry.cu" "solutions/$lab"/*.cu "$folder"/*.o -lsodium -o "$program" || exit 1
    rm -f "$folder"/*.o
  fi
  [ $mode = --build ] && continue
  for check in memcheck racecheck synccheck; do
    leaks=; [ $check = memcheck ] && leaks="--leak-check full"
    text=$(timeout 300 "$tool" --tool $check $leaks --error-exitcode 9 "$program" "$lab" 2>&1)
    code=$?
    echo "$lab $check: exit $code, $(echo "$text" | grep -E "cases,|SUMMARY" | sed 's/=* *//' | tr '\n' ' ')"
    [ $code = 0 ] || { failed=1; echo "$text" | head -40; }
  done
done
exit $failed
