#!/bin/sh
# What a GPU's machine compiles, compiled without a GPU: the worker and the solutions, with and without ranks.
# test_cuda_build.sh RIDGE ROOT
set -eu
ridge=$1 root=$2
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null) || { echo "skipped: no nvcc here"; exit 77; }
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
for lab in 01_coalescing 06_ring_allreduce 11_profiling; do
  PATH=$PATH:${nvcc%/*} RIDGE_CUDA_ARCH=90a RIDGE_WORK=$home/work "$ridge" grade "$lab" --backend cuda \
    --submission "$root/solutions/$lab" --build-into "$home/$lab" > "$home/said" 2>&1 || { cat "$home/said"; exit 1; }
  grep -q "^Built into" "$home/said" || { cat "$home/said"; exit 1; }
done

# A misspelt function costs its own task alone: the stub is built, and the manifest says why.
cp -r "$root/solutions/01_coalescing" "$home/misspelt"
sed -i 's/^void transpose(/void transpsoe(/' "$home/misspelt/transpose.cu"
PATH=$PATH:${nvcc%/*} RIDGE_CUDA_ARCH=90a RIDGE_WORK=$home/work "$ridge" grade 01 --backend cuda \
  --submission "$home/misspelt" --build-into "$home/built" > "$home/said" 2>&1 || { cat "$home/said"; exit 1; }
grep -q "did you mean transpose?" "$home/built/build.json" || { cat "$home/said" "$home/built/build.json"; exit 1; }
