// Unpacks a call record of the judge for lab 03.
#include "lab/call.hpp"
#include "warp_shuffle.hpp"

bool ridge_entry(const ridge_call& c) {
  const auto n = static_cast<std::size_t>(c.size[0]);
  const auto rows = static_cast<int>(c.size[0]), cols = static_cast<int>(c.size[1]);
  const auto* in = static_cast<const float*>(c.in[0]);
  auto* out = static_cast<float*>(c.out[0]);
  if (c.is("reduce")) {
    reduce(in, out, n, c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("block_scan")) {
    block_scan(static_cast<const std::uint32_t*>(c.in[0]), static_cast<std::uint32_t*>(c.out[0]),
               static_cast<std::uint32_t*>(c.out[1]), n, c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("scan")) {
    scan(static_cast<const std::uint32_t*>(c.in[0]), static_cast<std::uint32_t*>(c.out[0]), n, c.workspace,
         c.workspace_bytes, c.stream);
  } else if (c.is("softmax")) {
    softmax(in, out, rows, cols, c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("layernorm") || c.is("layernorm_plain")) {
    const auto norm = c.is("layernorm") ? layernorm : layernorm_plain;
    norm(in, static_cast<const float*>(c.in[1]), static_cast<const float*>(c.in[2]), out, static_cast<float*>(c.out[1]),
         static_cast<float*>(c.out[2]), rows, cols, static_cast<std::uint32_t>(c.size[2]),
         static_cast<std::uint32_t>(c.size[3]), c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("compact")) {
    compact(in, out, static_cast<std::uint32_t*>(c.out[1]), n, c.workspace, c.workspace_bytes, c.stream);
  } else {
    return false;
  }
  return true;
}
