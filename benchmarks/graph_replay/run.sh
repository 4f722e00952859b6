#!/bin/sh
# Builds replay.cu and runs replay.py. run.sh [FILE.json]. Exit code 77: no nvcc, no GPU or no PyTorch here.
set -u
cd "$(dirname "$0")" || exit 2
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || { echo "skipped: no nvcc here"; exit 77; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -1 | tr -d .)
case $capability in *[!0-9]* | "" | 90) arch=90a ;; *) arch=$capability ;; esac
"$nvcc" -std=c++20 -O2 -shared -Xcompiler -fPIC -cudart shared -I ../../labs/05_streams_graphs \
  -gencode=arch=compute_$arch,code=sm_$arch replay.cu -o "$folder/replay.so" || exit 1
python3 -c "import torch; assert torch.cuda.is_available()" 2> /dev/null || { echo "skipped: no GPU or no PyTorch here"; exit 77; }
python3 replay.py "$folder/replay.so" "${1:-$folder/graph_replay.json}"
