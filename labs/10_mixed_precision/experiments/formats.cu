// What each format can hold, found by trying: from 1, halve and double until something is lost.
//   ./ridge cc labs/10_mixed_precision/experiments/formats.cu -o formats
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>

struct Format {
  double largest, normal, subnormal, epsilon;
};

// T's numbers are what comes back from a conversion to T.
template <class T>
__global__ void measure(Format* out) {
  auto rounded = [](float x) { return static_cast<float>(T(x)); };
  Format f{};
  float x = 1;
  while (rounded(1 + x / 2) > 1) x /= 2;
  f.epsilon = x;
  for (x = 1; x > 0; x = rounded(x / 2)) {
    f.subnormal = x;
    const float next = static_cast<float>(1 + f.epsilon) * x;
    if (rounded(next) == next && next != x) f.normal = x;  // all bits of the significand still fit
  }
  for (x = 1; isfinite(rounded(2 * x)) && rounded(2 * x) > x; x = rounded(2 * x)) f.largest = rounded(2 * x);
  for (float bit = static_cast<float>(f.largest) / 2; bit > 0; bit /= 2) {
    const auto more = static_cast<float>(f.largest + bit);
    if (isfinite(more) && rounded(more) == more) f.largest = more;
  }
  *out = f;
}

template <class T>
void print(const char* name) {
  Format* f = nullptr;
  cudaMallocManaged(&f, sizeof *f);
  measure<T><<<1, 1>>>(f);
  cudaDeviceSynchronize();
  std::printf("%-9s %12.4g %14.4g %14.4g   2^%d\n", name, f->largest, f->normal, f->subnormal,
              static_cast<int>(std::log2(f->epsilon)));
  cudaFree(f);
}

int main() {
  std::printf("format         largest  least normal  least subnormal  epsilon\n");
  print<float>("fp32");
  print<__nv_bfloat16>("bf16");
  print<__half>("fp16");
  print<__nv_fp8_e4m3>("fp8 e4m3");
  print<__nv_fp8_e5m2>("fp8 e5m2");
}
