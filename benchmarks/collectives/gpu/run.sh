#!/bin/sh
# Builds and runs the measurements of this folder. run.sh FOLDER [GPUs] [turns]: leaves all_reduce.json, rings_registered.json (buffers
# registered with NCCL: what is sent goes from buffer to buffer), overlap.jsonl (lab 09's overlap in variants, on two GPUs), ring.trace.json
# and about.txt there. NCCL's sums in the switch (NVLS) are off, as in all figures here. Exit code 77: no nvcc, or fewer than two GPUs here.
set -eu
out=${1:?run.sh FOLDER [GPUs] [turns]}
cd "$(dirname "$0")/../../.."
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || { echo "skipped: no nvcc here"; exit 77; }
here=$(nvidia-smi -L 2> /dev/null | grep -c '^GPU' || true)
gpus=${2:-$here} turns=${3:-15}
[ "$here" -ge 2 ] && [ "$gpus" -le "$here" ] || { echo "skipped: $here GPUs here, $gpus wanted, at least 2"; exit 77; }
mkdir -p "$out"
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
case $capability in 90) arch=90a ;; *) arch=$capability ;; esac
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
for program in all_reduce ring_trace; do
  "$nvcc" -O3 -std=c++20 -gencode=arch=compute_$arch,code=sm_$arch -I. -Iruntime -Ilabs/06_ring_allreduce -Iruntime/collectives/mpi/include \
    benchmarks/collectives/gpu/$program.cu solutions/06_ring_allreduce/ring.cu solutions/06_ring_allreduce/pipelined.cu \
    -lnccl -lcupti -o "$folder/$program" &
done
"$nvcc" -O3 -std=c++20 -gencode=arch=compute_$arch,code=sm_$arch -Iruntime -Ibenchmarks/training benchmarks/collectives/gpu/overlap.cu \
  -lcublas -lnccl -o "$folder/overlap" &
wait
export NCCL_NVLS_ENABLE=0 CUDA_MODULE_LOADING=EAGER
{
  echo "commit $(git rev-parse HEAD 2> /dev/null || echo unknown), $("$nvcc" --version | tail -2 | head -1)"
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu --format=csv
  nvidia-smi topo -m
} > "$out/about.txt"
"$folder/all_reduce" "$gpus" "$turns" 4096 > "$out/all_reduce.json"
CUDA_DEVICE_MAX_CONNECTIONS=32 "$folder/all_reduce" "$gpus" "$turns" 4096 ring,direct registered > "$out/rings_registered.json"
"$folder/overlap" "$turns" > "$out/overlap.jsonl"
"$folder/ring_trace" "$gpus" 64 "$out/ring.trace.json"
