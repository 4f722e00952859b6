#!/bin/sh
# Compiles and links the example and the checks of runtime/nn for a real GPU, and compiles the training measurements; none is
# needed.
# Usage: compile_with_nvcc.sh REPOSITORY. Exit code 77: no nvcc, or no cuBLAS.
nvcc=$(command -v nvcc) || nvcc=/usr/local/cuda/bin/nvcc
if [ ! -x "$nvcc" ]; then
  echo "skipped: no nvcc on PATH or in /usr/local/cuda/bin"
  exit 77
fi
if [ ! -f "${nvcc%/bin/nvcc}/include/cublas_v2.h" ]; then
  echo "skipped: no cublas_v2.h beside nvcc"
  exit 77
fi
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
trap 'exit 1' INT TERM
cd "$1" || exit 1
for source in runtime/nn/train.cu tests/runtime/nn/engine.cu; do
  "$nvcc" -gencode=arch=compute_90a,code=sm_90a -std=c++20 -Werror all-warnings -I runtime "$source" -lcublas \
    -o "$out/program" || { echo "FAILED $source"; exit 1; }
  echo "compiled $source"
done
if [ -f /usr/include/nccl.h ] || [ -f "${nvcc%/bin/nvcc}/include/nccl.h" ]; then
  for source in benchmarks/training/*.cu; do
    "$nvcc" -c -gencode=arch=compute_90a,code=sm_90a -std=c++20 -Werror all-warnings -I runtime -I labs/08_pipeline "$source" \
      -o "$out/object" || { echo "FAILED $source"; exit 1; }
    echo "compiled $source"
  done
fi
