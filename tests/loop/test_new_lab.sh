#!/bin/sh
# `ridge new-lab` in a copy of the course; its TODOs are filled as an author would; then the course's tests must pass.
set -eu
ridge=$1
root=$2
git -C "$root" rev-parse HEAD >/dev/null 2>&1 || { echo "skipped: no git history to copy the course from"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
course=$scratch/course
mkdir "$course"
(cd "$root" && git ls-files -z | tar --null -T - -cf -) | tar -xf - -C "$course"
RIDGE_ROOT=$course "$ridge" new-lab 90_doubling
lab=$course/labs/90_doubling
solution=$course/solutions/90_doubling
build() {
  cmake --preset default -S "$course" -B "$course/build" >"$scratch/log" 2>&1 &&
    cmake --build "$course/build" --target ridge test_course ridge_simt ridge_worker >>"$scratch/log" 2>&1 || { tail -30 "$scratch/log"; exit 1; }
}
course_tests() { RIDGE_COURSE_LAB=90_doubling RIDGE_ROOT=$course "$(find "$course/build" -name test_course -type f | head -1)" >"$scratch/said" 2>&1; }
build
if course_tests; then
  echo "FAILED: the lab passes before it is filled"
  exit 1
fi
grep -q 'hints.size() >= 3' "$scratch/said" || { echo "FAILED: nothing said about hints"; cat "$scratch/said"; exit 1; }

kernel() { # $1: the bound, $2: the value, $3: the index
  cat <<END
__global__ void double_kernel(const float* in, float* out, std::size_t n) {
  const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, i = $3;
  if ($1) out[i] = $2;
}

void double_it(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  double_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
END
}
{
  sed -n '1,/^\/\/ TASK/p' "$lab/double_it.cu"
  kernel "i < n" "2 * in[i]" t
  echo "// END(double_it)"
} >"$solution/double_it.cu"
wrong() { # $1: name, $2: check, $3 to $5: kernel
  {
    echo "// replaces: double_it.cu; fails: double_it/$2; backend: cpu"
    echo "// The doubling goes wrong: $1."
    echo "#include \"doubling.hpp\""
    kernel "$3" "$4" "$5"
  } >"$lab/wrong/double_it_$1.cu"
}
wrong past memory "i <= n" "2 * in[i]" t
wrong halved correct "i < n" "in[i] / 2" t
wrong tripled correct "i < n" "3 * in[i]" t
wrong once correct "i < n" "in[i]" t
wrong strided sectors "i < n" "2 * in[i]" "n < 200000 ? t : t % (n / 64) * 64 + t / (n / 64)"
sed -i 's/"TODO: a question that points to the place.",/"One?", "Two?", "Three?",/; s/TODO: title/Doubling/' "$lab/lab.toml"
sed -i 's/TODO: //' "$lab/README.md"
build
course_tests || { echo "FAILED: the filled lab does not pass"; cat "$scratch/said"; exit 1; }
tail -3 "$scratch/said"
