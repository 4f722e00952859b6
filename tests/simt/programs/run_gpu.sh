#!/bin/sh
# Builds every program here with nvcc and runs it on a GPU: a line of JSON for each, exit 1 where one fails.
# Usage: run_gpu.sh [ARCH] (default sm_90); NVCC names the compiler, JOBS how many are built at a time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
arch=${1:-sm_90}
nvcc=${NVCC:-nvcc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Those of the emulator's own behaviour, where a GPU's answer differs or is undefined.
skip=" $(cat "$here/emulator_only.txt" 2>/dev/null | sed 's/ .*//' | tr '\n' ' ') "
# Programs with "// devices: N" run on as many GPUs as there are; N is what the emulator has.
gpus=$(nvidia-smi -L 2>/dev/null | wc -l)

build() { # NAME FOLDER ARGUMENTS...
  name=$1 folder=$2
  shift 2
  own=$(sed -n 's#^// arch: ##p' "$1" 2>/dev/null)  # that it needs
  (cd "$folder" && "$nvcc" -std=c++20 -arch="${own:-$arch}" -rdc=true -w -o "$scratch/$name" "$@") >"$scratch/$name.log" 2>&1 ||
    echo build >"$scratch/$name.failed"
}

count=0
names=
for source in "$here"/*.cu "$here"/samples/*.cu; do
  name=$(basename "$source" .cu)
  case "$skip" in *" $name "*) continue ;; esac
  needs=$(sed -n 's#^// devices: ##p' "$source")
  if [ "${needs:-1}" -gt 1 ] && [ "$gpus" -lt 2 ]; then
    echo "{\"program\": \"$name\", \"result\": \"skipped\", \"why\": \"needs two GPUs\"}"
    continue
  fi
  build "$name" "$(dirname "$source")" "$source" $(sed -n 's#^// link: ##p' "$source") -lcublas -lcurand &
  names="$names $name"
  count=$((count + 1))
  [ $((count % ${JOBS:-8})) -ne 0 ] || wait
done
for folder in "$here"/multi/*/; do
  name=multi_$(basename "$folder")
  build "$name" "$folder" $(cat "$folder/build.txt") &
  names="$names $name"
done
wait

failed=0
for name in $names; do
  result=ok
  if [ -e "$scratch/$name.failed" ]; then
    result=build
  else
    code=0
    timeout 60 "$scratch/$name" >"$scratch/$name.log" 2>&1 || code=$?
    { [ $code -eq 0 ] && [ "$(tail -n 1 "$scratch/$name.log")" = ok ]; } || result=failed
  fi
  why=
  if [ $result != ok ]; then
    failed=1
    why=", \"why\": \"$(head -c 300 "$scratch/$name.log" | tr '\n"\\\t' "  // " | tr -d '\000-\037')\""
  fi
  echo "{\"program\": \"$name\", \"result\": \"$result\"$why}"
done
exit $failed
