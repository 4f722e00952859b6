// Unpacks a call record of the judge for lab 04. Sizes: m, n, k. Inputs: a, b, and the bias of gemm_gelu.
#include "lab/call.hpp"
#include "tensor_core.hpp"

bool ridge_entry(const ridge_call& call) {
  const auto* a = static_cast<const __nv_bfloat16*>(call.in[0]);
  const auto* b = static_cast<const __nv_bfloat16*>(call.in[1]);
  auto* c = static_cast<__nv_bfloat16*>(call.out[0]);
  const int m = static_cast<int>(call.size[0]), n = static_cast<int>(call.size[1]), k = static_cast<int>(call.size[2]);
  if (call.is("wmma_gemm"))
    wmma_gemm(a, b, c, m, n, k, call.workspace, call.workspace_bytes, call.stream);
  else if (call.is("wgmma_gemm"))
    wgmma_gemm(a, b, c, m, n, k, call.workspace, call.workspace_bytes, call.stream);
  else if (call.is("gemm"))
    gemm(a, b, c, m, n, k, call.workspace, call.workspace_bytes, call.stream);
  else if (call.is("gemm_gelu"))
    gemm_gelu(a, b, static_cast<const __nv_bfloat16*>(call.in[2]), c, m, n, k, call.workspace, call.workspace_bytes,
              call.stream);
  else
    return false;
  return true;
}
