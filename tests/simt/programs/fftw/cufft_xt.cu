// cuFFT over several devices, by types of data, and with functions that load and store. nvcc: -lcufft
// devices: 3
#include <cufftXt.h>

#include <complex>

#include "../sample.hpp"

#define FFT_CHECK(call) expect((call) == CUFFT_SUCCESS, #call)
#define REFUSED(status, call) expect((call) == CUFFT_##status, #call)

using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;

// The transform of n[0] x n[1] x n[2] numbers, one dimension after the other.
Numbers transform(Numbers x, const std::vector<int>& n, int direction) {
  std::size_t inner = x.size();
  for (int length : n) {
    inner /= static_cast<std::size_t>(length);
    Numbers y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t k = i / inner % static_cast<std::size_t>(length), first = i - k * inner;
      for (int j = 0; j < length; ++j)
        y[i] += x[first + static_cast<std::size_t>(j) * inner] *
                std::polar(1.0, direction * 2 * M_PI * static_cast<double>(k) * j / length);
    }
    x = y;
  }
  return x;
}

Numbers drawn(Random& random, std::size_t n, bool real) {
  Numbers x;
  for (std::size_t i = 0; i < n; ++i) x.emplace_back(random.uniform(-1, 1), real ? 0 : random.uniform(-1, 1));
  return x;
}

void expect_near(const Numbers& got, const Numbers& wanted, double tolerance, const char* what) {
  expect(got.size() == wanted.size(), what);
  for (std::size_t i = 0; i < got.size(); ++i) expect(std::abs(got[i] - wanted[i]) < tolerance, what);
}

// Three devices, of which the first is named twice.
cufftHandle plan_on_devices(const std::vector<int>& n, cufftType type) {
  int devices[] = {0, 2, 1, 0};
  std::size_t sizes[4] = {1, 1, 1, 1};
  cufftHandle plan;
  FFT_CHECK(cufftCreate(&plan));
  REFUSED(INVALID_VALUE, cufftXtSetGPUs(plan, 0, devices));
  FFT_CHECK(cufftXtSetGPUs(plan, 4, devices));
  if (n.size() == 1) FFT_CHECK(cufftMakePlan1d(plan, n[0], type, 1, sizes));
  if (n.size() == 2) FFT_CHECK(cufftMakePlan2d(plan, n[0], n[1], type, sizes));
  if (n.size() == 3) FFT_CHECK(cufftMakePlan3d(plan, n[0], n[1], n[2], type, sizes));
  expect(sizes[3] == 0, "a work size of each device");
  REFUSED(INVALID_PLAN, cufftXtSetGPUs(plan, 4, devices));
  return plan;
}

// Complex numbers: forward, a look at the parts, and back.
void complex_on_devices(Random& random, const std::vector<int>& n) {
  std::size_t all = 1;
  for (int length : n) all *= static_cast<std::size_t>(length);
  Numbers x = drawn(random, all, false), got(all);
  const Numbers wanted = transform(x, n, -1);
  const cufftHandle plan = plan_on_devices(n, CUFFT_Z2Z);
  cudaLibXtDesc *data, *other;
  FFT_CHECK(cufftXtMalloc(plan, &data, CUFFT_XT_FORMAT_INPLACE));
  FFT_CHECK(cufftXtMalloc(plan, &other, CUFFT_XT_FORMAT_INPLACE));
  expect(data->descriptor->nGPUs == 4 && data->descriptor->GPUs[1] == 2, "the devices of the descriptor");
  FFT_CHECK(cufftXtMemcpy(plan, data, x.data(), CUFFT_COPY_HOST_TO_DEVICE));
  REFUSED(INVALID_VALUE, cufftXtExecDescriptorC2C(plan, data, data, CUFFT_FORWARD));
  REFUSED(NOT_SUPPORTED, cufftXtExecDescriptorZ2Z(plan, data, other, CUFFT_FORWARD));
  REFUSED(INVALID_PLAN, cufftXtExec(plan, data->descriptor->data[0], data->descriptor->data[0], CUFFT_FORWARD));
  FFT_CHECK(cufftXtExecDescriptorZ2Z(plan, data, data, CUFFT_FORWARD));
  expect(data->subFormat == CUFFT_XT_FORMAT_INPLACE_SHUFFLED, "shuffled after a transform");
  FFT_CHECK(cufftXtMemcpy(plan, got.data(), data, CUFFT_COPY_DEVICE_TO_HOST));
  expect_near(got, wanted, 1e-10, "Z2Z over devices");
  if (n.size() == 3) {  // the second device has rows 2 and 3 of each of the planes: of 7 rows the first three have two
    Numbers part(static_cast<std::size_t>(n[0] * 2 * n[2])), its;
    CUDA_CHECK(cudaMemcpy(part.data(), data->descriptor->data[1], part.size() * sizeof(Complex), cudaMemcpyDefault));
    for (int i = 0; i < n[0]; ++i)
      for (int j = 2; j < 4; ++j)
        for (int k = 0; k < n[2]; ++k) its.push_back(wanted[static_cast<std::size_t>((i * n[1] + j) * n[2] + k)]);
    expect_near(part, its, 1e-10, "a part of shuffled data");
  }
  FFT_CHECK(cufftXtMemcpy(plan, other, data, CUFFT_COPY_DEVICE_TO_DEVICE));  // in natural order again
  std::fill(got.begin(), got.end(), 0);
  FFT_CHECK(cufftXtMemcpy(plan, got.data(), other, CUFFT_COPY_DEVICE_TO_HOST));
  expect_near(got, wanted, 1e-10, "a copy between devices");
  FFT_CHECK(cufftXtExecDescriptor(plan, data, data, CUFFT_INVERSE));
  expect(data->subFormat == CUFFT_XT_FORMAT_INPLACE, "natural after two transforms");
  FFT_CHECK(cufftXtMemcpy(plan, got.data(), data, CUFFT_COPY_DEVICE_TO_HOST));
  for (Complex& v : x) v *= static_cast<double>(all);
  expect_near(got, x, 1e-9, "Z2Z and back");
  FFT_CHECK(cufftXtFree(data));
  FFT_CHECK(cufftXtFree(other));
  FFT_CHECK(cufftDestroy(plan));
}

// Real numbers in padded rows, to complex ones and back.
void real_on_devices(Random& random) {
  const std::vector<int> n = {7, 5, 9};
  const int cells = 5;
  const Numbers x = drawn(random, 7 * 5 * 9, true), wanted = transform(x, n, -1);
  std::vector<float> padded(7 * 5 * cells * 2), back(padded.size());
  for (std::size_t i = 0; i < x.size(); ++i) padded[i / 9 * (2 * cells) + i % 9] = static_cast<float>(x[i].real());
  const cufftHandle forward = plan_on_devices(n, CUFFT_R2C), inverse = plan_on_devices(n, CUFFT_C2R);
  cudaLibXtDesc* data;
  FFT_CHECK(cufftXtMalloc(forward, &data, CUFFT_XT_FORMAT_INPLACE));
  FFT_CHECK(cufftXtMemcpy(forward, data, padded.data(), CUFFT_COPY_HOST_TO_DEVICE));
  FFT_CHECK(cufftXtExecDescriptorR2C(forward, data, data));
  FFT_CHECK(cufftXtMemcpy(forward, back.data(), data, CUFFT_COPY_DEVICE_TO_HOST));
  Numbers got, half;
  for (int row = 0; row < 7 * 5; ++row)
    for (int k = 0; k < cells; ++k) {
      const std::size_t at = static_cast<std::size_t>(2 * (row * cells + k));
      got.emplace_back(back[at], back[at + 1]);
      half.push_back(wanted[static_cast<std::size_t>(row * 9 + k)]);
    }
  expect_near(got, half, 1e-4, "R2C over devices");
  FFT_CHECK(cufftXtExecDescriptor(inverse, data, data, CUFFT_INVERSE));
  FFT_CHECK(cufftXtMemcpy(inverse, back.data(), data, CUFFT_COPY_DEVICE_TO_HOST));
  got.clear();
  for (std::size_t i = 0; i < x.size(); ++i) got.push_back(back[i / 9 * (2 * cells) + i % 9] / (7.0 * 5 * 9));
  expect_near(got, x, 1e-5, "C2R over devices");
  FFT_CHECK(cufftXtFree(data));
  FFT_CHECK(cufftDestroy(forward));
  FFT_CHECK(cufftDestroy(inverse));
}

struct Window {
  int length, kept;
  double factor;
};

// Numbers behind the window count as 0.
__device__ cufftDoubleReal load_window(void* data, std::size_t i, void* info, void*) {
  const Window* w = static_cast<const Window*>(info);
  return static_cast<int>(i % w->length) < w->kept ? static_cast<cufftDoubleReal*>(data)[i] : 0;
}
__device__ void store_scaled(void* data, std::size_t i, cufftDoubleComplex v, void* info, void*) {
  const double factor = static_cast<const Window*>(info)->factor;
  static_cast<cufftDoubleComplex*>(data)[i] = make_cuDoubleComplex(factor * v.x, factor * v.y);
}
__device__ cufftCallbackLoadD load_pointer = load_window;
__device__ cufftCallbackStoreZ store_pointer = store_scaled;

// Two rows of 11 numbers, 13 apart, of which the first 6 count; results times 3.
void callbacks(Random& random) {
  const Numbers x = drawn(random, 26, true);
  std::vector<double> values;
  for (Complex v : x) values.push_back(v.real());
  long long n = 11, in_embed = 13, out_embed = 6;
  std::size_t size = 1;
  cufftHandle plan;
  FFT_CHECK(cufftCreate(&plan));
  REFUSED(INVALID_TYPE, cufftXtMakePlanMany(plan, 1, &n, &in_embed, 1, 13, CUDA_R_16F, &out_embed, 1, 6, CUDA_C_16F, 2,
                                            &size, CUDA_C_16F));
  FFT_CHECK(cufftXtGetSizeMany(plan, 1, &n, &in_embed, 1, 13, CUDA_R_64F, &out_embed, 1, 6, CUDA_C_64F, 2, &size,
                               CUDA_C_64F));
  FFT_CHECK(cufftXtMakePlanMany(plan, 1, &n, &in_embed, 1, 13, CUDA_R_64F, &out_embed, 1, 6, CUDA_C_64F, 2, &size,
                                CUDA_C_64F));
  const std::vector<Window> window = {{13, 6, 3.0}};
  Window* info = to_device(window);
  cufftCallbackLoadD load;
  cufftCallbackStoreZ store;
  CUDA_CHECK(cudaMemcpyFromSymbol(&load, load_pointer, sizeof load));
  CUDA_CHECK(cudaMemcpyFromSymbol(&store, store_pointer, sizeof store));
  FFT_CHECK(cufftXtSetCallback(plan, (void**)&load, CUFFT_CB_LD_REAL_DOUBLE, (void**)&info));
  FFT_CHECK(cufftXtSetCallback(plan, (void**)&store, CUFFT_CB_ST_COMPLEX_DOUBLE, (void**)&info));
  FFT_CHECK(cufftXtSetCallbackSharedSize(plan, CUFFT_CB_LD_REAL_DOUBLE, 1024));
  double* in = to_device(values);
  auto* out = device_array<Complex>(12);
  FFT_CHECK(cufftXtExec(plan, in, out, 77));  // of real numbers, whatever the direction
  const auto check = [&](bool windowed, double factor, const char* what) {
    Numbers wanted;
    for (int row = 0; row < 2; ++row) {
      Numbers y(x.begin() + row * 13, x.begin() + row * 13 + 11);
      if (windowed) std::fill(y.begin() + 6, y.end(), 0);
      y = transform(y, {11}, -1);
      for (int k = 0; k < 6; ++k) wanted.push_back(factor * y[static_cast<std::size_t>(k)]);
    }
    expect_near(to_host(out, 12), wanted, 1e-12, what);
  };
  check(true, 3, "a transform that loads and stores through functions");
  expect(to_host(in, values.size()) == values, "a transform with functions leaves its input");
  FFT_CHECK(cufftXtClearCallback(plan, CUFFT_CB_LD_REAL_DOUBLE));
  FFT_CHECK(cufftExecD2Z(plan, in, reinterpret_cast<cufftDoubleComplex*>(out)));
  check(false, 3, "a transform that stores through a function");
  FFT_CHECK(cufftDestroy(plan));
}

int main() {
  Random random(11);
  complex_on_devices(random, {7, 7, 3});
  complex_on_devices(random, {11, 13});
  complex_on_devices(random, {37});
  real_on_devices(random);
  callbacks(random);
  int missing[] = {0, 3};
  cufftHandle plan;
  FFT_CHECK(cufftCreate(&plan));
  REFUSED(INVALID_DEVICE, cufftXtSetGPUs(plan, 2, missing));
  FFT_CHECK(cufftDestroy(plan));
  free_device_arrays();
  std::puts("ok");
}
