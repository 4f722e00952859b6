#!/bin/sh
# Compiles the stub, the solution, the baseline and the entry of one lab for a real GPU, or the solution's steps; none is needed.
# Usage: compile_with_nvcc.sh REPOSITORY LAB ptx|objects|steps [ARCH]. ARCH: 90a, or another; ptx: device code only, to PTX and not optimised, in a fifth of the time. Exit code 77:
# no nvcc here, or no steps. LAB may be turn-0, turn-1, ...: a lab that RIDGE_COURSE_SEED chooses, or else the day.
repository=$1 lab=$2 what=$3 arch=${4:-90a}
nvcc=$(command -v nvcc) || nvcc=/usr/local/cuda/bin/nvcc
if [ ! -x "$nvcc" ]; then
  echo "skipped: no nvcc on PATH or in /usr/local/cuda/bin"
  exit 77
fi
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
trap 'exit 1' INT TERM
cd "$repository" || exit 1

case $lab in turn-*)
  set -- labs/[0-9]*
  seed=${RIDGE_COURSE_SEED:-$(($(date +%s) / 86400))}
  shift $(((seed + ${lab#turn-} * 3) % $#))
  lab=${1#labs/}
  echo "lab $lab"
  ;;
esac
if [ "$what" = steps ]; then
  [ -d "solutions/$lab/steps" ] || { echo "skipped: no steps"; exit 77; }
  set -- "solutions/$lab/steps"/*.cu
else
  set -- "labs/$lab"/*.cu "solutions/$lab"/*.cu
fi
for file; do
  [ -f "$file" ] || { echo "no such file: $file"; exit 1; }
done
if grep -q '<nccl.h>' "labs/$lab"/*.hpp && [ ! -f /usr/include/nccl.h ] && [ ! -f "${nvcc%/bin/nvcc}/include/nccl.h" ]; then
  echo "skipped: no nccl.h in /usr/include or beside nvcc"
  exit 77
fi
output=-c
[ "$what" != ptx ] || output="-ptx -Xcicc -O0"
# Two at a time.
printf '%s\n' "$@" | xargs -P 2 -I FILE sh -c '
  object="$3/$(echo "$1" | tr / _).o"
  "$2" $5 -gencode=arch=compute_$6,code=sm_$6 -std=c++20 -I "labs/$4" -I "solutions/$4" -I runtime \
    -I runtime/collectives/mpi/include "$1" -o "$object" &&
    [ -s "$object" ] && echo "compiled $1" || { echo "FAILED $1"; exit 1; }
' sh FILE "$nvcc" "$out" "$lab" "$output" "$arch"
