// The solution's kernels behind C functions, for attention.py. Sizes as in struct Attention.
#include "flash_attention.hpp"

namespace {

const __nv_bfloat16* in(const void* p) { return static_cast<const __nv_bfloat16*>(p); }
__nv_bfloat16* out(void* p) { return static_cast<__nv_bfloat16*>(p); }
Attention shape(const int* sizes) {
  return {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6] != 0};
}

}  // namespace

extern "C" {

int ridge_tensor(const void* q, const void* k, const void* v, void* o, float* lse, const int* sizes,
                 cudaStream_t stream) {
  tensor(in(q), in(k), in(v), out(o), lse, shape(sizes), nullptr, 0, stream);
  return cudaGetLastError();
}

int ridge_hopper(const void* q, const void* k, const void* v, void* o, float* lse, const int* sizes,
                 cudaStream_t stream) {
  hopper(in(q), in(k), in(v), out(o), lse, shape(sizes), nullptr, 0, stream);
  return cudaGetLastError();
}

// delta: batch * heads * queries floats of scratch.
int ridge_backward(const void* q, const void* k, const void* v, const void* o, const float* lse, const void* d_o,
                   void* dq, void* dk, void* dv, float* delta, const int* sizes, cudaStream_t stream) {
  const Attention a = shape(sizes);
  const std::size_t bytes = sizeof(float) * a.batch * a.heads * a.queries;
  backward(in(q), in(k), in(v), in(o), lse, in(d_o), out(dq), out(dk), out(dv), a, delta, bytes, stream);
  return cudaGetLastError();
}
}
