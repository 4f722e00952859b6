#!/bin/sh
# clangd reads stubs and solutions as `ridge start` sets it up, and finds no error; it does find a kernel's call of a
# host function. test_editor.sh RIDGE ROOT LAB...
set -eu
ridge=$1 root=$2
shift 2
clangd=$(command -v clangd || command -v clangd-14 || command -v clangd-18) || { echo "skipped: no clangd here"; exit 77; }
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
read_all() {
  for file in "$1"/*.cu; do
    "$clangd" --check="$file" > "$home/said" 2>&1 || true
    grep -q "All checks completed" "$home/said" || { echo "$file: clangd did not come to its end"; tail -5 "$home/said"; exit 1; }
    if grep -E '^E\[[^]]*\] \[' "$home/said"; then
      echo "$file ($2): clangd reports errors"
      exit 1
    fi
    files=$((files + 1))
  done
}
files=0
for lab in "$@"; do
  RIDGE_WORK=$home/work "$ridge" start "$lab" > /dev/null
  folder=$home/work/$lab
  read_all "$folder" stub
  for file in "$root/solutions/$lab"/*.cu; do
    [ -e "$folder/${file##*/}" ] && cp "$file" "$folder"
  done
  cp "$root/solutions/$lab"/*.hpp "$root/solutions/$lab"/*.cuh "$folder" 2> /dev/null || true
  read_all "$folder" solution
done
cat >> "$home/work/01_coalescing/copy.cu" <<'EOF'
void of_a_host_array(float* x) { delete[] x; }
EOF
read_all "$home/work/01_coalescing" "with a delete"
cat >> "$home/work/01_coalescing/copy.cu" <<'EOF'
float of_the_host(float x) { return x; }
__global__ void wrong(float* x) { *x = of_the_host(*x); }
EOF
"$clangd" --check="$home/work/01_coalescing/copy.cu" > "$home/said" 2>&1 || true
grep -q '^E.*of_the_host' "$home/said"
echo "$files files"
