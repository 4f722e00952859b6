#!/bin/sh
# Builds and runs the measurements of this folder. run.sh FOLDER [GPUs]: leaves training.jsonl and attention.jsonl (a line a run), losses_*.txt,
# about.txt and, of several GPUs, traces of a step of ours and of PyTorch there. PyTorch's lines are left out where there is none.
# RIDGE_TRAINING_BIN: a folder with `train`, `tensor`, `pipeline` and `attention`, already built.
# RIDGE_COMMIT: the commit of the sources, where they came without git.
# Exit code 77: no nvcc, or no GPU here.
set -eu
out=${1:?run.sh FOLDER [GPUs]}
cd "$(dirname "$0")/../.."
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
here=$(nvidia-smi -L 2> /dev/null | grep -c '^GPU' || true)
gpus=${2:-$here}
[ "$here" -ge 1 ] && [ "$gpus" -le "$here" ] || { echo "skipped: $here GPUs here, $gpus wanted"; exit 77; }
mkdir -p "$out"
bin=${RIDGE_TRAINING_BIN:-}
if [ -z "$bin" ]; then
  [ -x "$nvcc" ] || { echo "skipped: no nvcc here"; exit 77; }
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
  case $capability in 90) arch=90a ;; *) arch=$capability ;; esac
  bin=$(mktemp -d) && trap 'rm -rf "$bin"' EXIT
  for program in train tensor pipeline attention; do
    more=
    [ $program != pipeline ] || more="-Ilabs/08_pipeline $(echo solutions/08_pipeline/*.cu)"
    "$nvcc" -O3 -std=c++20 -gencode=arch=compute_$arch,code=sm_$arch -Iruntime benchmarks/training/$program.cu $more -lcublas \
      -lnccl -o "$bin/$program"
  done
fi
export NCCL_NVLS_ENABLE=0
{
  echo "commit ${RIDGE_COMMIT:-$(git rev-parse HEAD 2> /dev/null || echo unknown)}"
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu --format=csv
} > "$out/about.txt"
# A run that fails or takes longer than 90 s leaves no line, and says so.
run() { timeout 90 "$@" 2> "$out/errors.txt" >> "$out/training.jsonl" || { echo "failed: $*"; tail -3 "$out/errors.txt"; }; }
torch() { # ranks, arguments
  ranks=$1 && shift
  python3 -c 'import torch' 2> /dev/null || return 0
  if [ "$ranks" = 1 ]; then
    run python3 benchmarks/training/torch_gpt.py "$@"
  else
    run python3 -m torch.distributed.run --standalone --nproc-per-node "$ranks" benchmarks/training/torch_gpt.py "$@"
  fi
}
: > "$out/training.jsonl"
several=
for ranks in 2 4 8; do [ "$ranks" -gt "$gpus" ] || several="$several $ranks"; done
most=${several##* } && most=${most:-1}

small="--model gpt2-124m --batch 32 --sequence 1024 --steps 12"
large="--model gpt-1.3b --batch 8 --sequence 1024 --steps 8"
for ranks in 1 $several; do
  run "$bin/train" --ranks "$ranks" $small
  run "$bin/train" --ranks "$ranks" $small --graph --bucket-mb 120
  run "$bin/train" --ranks "$ranks" $small --graph --bucket-mb 120 --fused
  [ "$ranks" = 1 ] || run "$bin/train" --ranks "$ranks" $small --graph --bucket-mb 120 --fused --shard
done
# Copy engines in place of NCCL.
[ "$gpus" -lt 2 ] || run "$bin/train" --ranks 2 $small --graph --bucket-mb 120 --fused --peer
[ "$gpus" -lt 2 ] || run "$bin/train" --ranks 2 $small --graph --bucket-mb 120 --fused --peer --shard
torch 1 $small
torch 1 $small --compile
[ "$most" = 1 ] || torch "$most" $small --trace "$out/torch_eager"
[ "$most" = 1 ] || torch "$most" $small --compile --trace "$out/torch_compiled"
[ "$most" = 1 ] || run "$bin/train" --ranks "$most" $small --graph --bucket-mb 120 --fused --no-overlap
[ "$most" = 1 ] || run "$bin/train" --ranks "$most" $small --graph --bucket-mb 120 --fused --no-messages
# A step of ours with all kernels.
timelines=$(mktemp -d)
if [ "$most" != 1 ] && g++ -std=c++20 -O2 -shared -fPIC -I "$(dirname "$nvcc")/../include" benchmarks/training/timeline.cpp \
    -o "$timelines/timeline.so" -ldl; then
  for way in ddp sharded; do
    case $way in ddp) more= ;; *) more=--shard ;; esac
    CUDA_INJECTION64_PATH=$timelines/timeline.so RIDGE_TIMELINE=$timelines/$way timeout 90 "$bin/train" --ranks "$most" $small \
      --graph --bucket-mb 120 --fused $more > "$timelines/line"
    python3 benchmarks/training/one_step.py 6 "$out/${way}_step.trace.json.gz" "$timelines/$way".*.json
  done
fi
rm -rf "$timelines"
long="--model gpt-1.3b --batch 4 --sequence 2048 --steps 10 --fused"
for ranks in 1 $several; do run "$bin/tensor" --ranks "$ranks" $long; done
[ "$most" = 1 ] || run "$bin/tensor" --ranks "$most" $long --no-messages
for ranks in $several; do
  for schedule in gpipe one_f_one_b "interleaved --chunks 3"; do
    run "$bin/pipeline" --ranks "$ranks" --model gpt-1.3b --sequence 2048 --micro-batches 8 --fused --schedule $schedule
  done
done
run "$bin/train" $large
torch 1 $large
[ "$most" = 1 ] || run "$bin/train" --ranks "$most" $large
run "$bin/train" $large --graph
[ "$most" = 1 ] || run "$bin/train" --ranks "$most" $large --graph --bucket-mb 120
run "$bin/train" $large --graph --fused
[ "$most" = 1 ] || run "$bin/train" --ranks "$most" $large --graph --bucket-mb 120 --fused
torch 1 $large --compile
[ "$most" = 1 ] || torch "$most" $large --compile
[ "$most" = 1 ] || torch "$most" $large
for type in fp32 tf32; do run "$bin/train" --model gpt2-124m --batch 8 --sequence 1024 --steps 8 --type $type; done
torch 1 --model gpt2-124m --batch 8 --sequence 1024 --steps 6 --type fp32

# The same start and the same batches, in four formats.
curve() { run "$bin/train" --model gpt2-124m --batch 8 --sequence 1024 --steps 150 --losses "$out/losses_$1.txt" $2; }
curve fp32 "--type fp32"
curve bf16 "--type bf16"
curve fp16_scaled "--type fp16 --loss-scale 65536"
curve fp16_unscaled "--type fp16 --loss-scale 1 --fixed-scale"
{ "$bin/attention"; python3 benchmarks/training/torch_attention.py 2> "$out/errors.txt" || true; } > "$out/attention.jsonl"
rm -f "$out/errors.txt"
