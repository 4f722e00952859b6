// The solution's kernels behind C functions, for decode.py. Sizes as in struct Decode and struct Paged.
#include "serving.hpp"

namespace {

const __nv_bfloat16* in(const void* p) { return static_cast<const __nv_bfloat16*>(p); }
__nv_bfloat16* out(void* p) { return static_cast<__nv_bfloat16*>(p); }
std::size_t workspace_bytes(const int* s) {
  return sizeof(float) * kMostSplits * s[0] * s[1] * (static_cast<std::size_t>(s[3]) + 1);
}

}  // namespace

extern "C" {

// `workspace`: kMostSplits * batch * heads * (head_dim + 1) floats.
int ridge_decode(const void* q, const void* k, const void* v, const int* lengths, void* o, void* workspace,
                 const int* s, cudaStream_t stream) {
  decode_attention(in(q), in(k), in(v), lengths, out(o), {s[0], s[1], s[2], s[3], s[4]}, workspace, workspace_bytes(s),
                   stream);
  return cudaGetLastError();
}

int ridge_paged(const void* q, const void* k, const void* v, const int* table, const int* lengths, void* o,
                void* workspace, const int* s, cudaStream_t stream) {
  paged_attention(in(q), in(k), in(v), table, lengths, out(o), {s[0], s[1], s[2], s[3], s[4], s[5]}, workspace,
                  workspace_bytes(s), stream);
  return cudaGetLastError();
}
}
