// Unpacks a call record of the judge for lab 12. Sizes: rows, cols of `online_softmax`; batch, heads, length, head_dim
// of `forward`; the members of Attention, in their order, of the others. A call has four inputs at most: those of
// `backward` are q; k and v; o and d_o; lse. Of two in a buffer, the second begins at a multiple of 256 bytes.
#include "flash_attention.hpp"
#include "lab/call.hpp"

bool ridge_entry(const ridge_call& call) {
  auto size = [&](int i) { return static_cast<int>(call.size[i]); };
  auto floats = [&](int i) { return static_cast<const float*>(call.in[i]); };
  auto halves = [&](int i) { return static_cast<const __nv_bfloat16*>(call.in[i]); };
  auto out = [&](int i) { return static_cast<__nv_bfloat16*>(call.out[i]); };
  auto* second = static_cast<float*>(call.out[1]);
  if (call.is("online_softmax")) {
    online_softmax(floats(0), floats(1), static_cast<float*>(call.out[0]), second, size(0), size(1), call.workspace,
                   call.workspace_bytes, call.stream);
    return true;
  }
  if (call.is("forward")) {
    forward(floats(0), floats(1), floats(2), static_cast<float*>(call.out[0]), second, size(0), size(1), size(2),
            size(3), call.workspace, call.workspace_bytes, call.stream);
    return true;
  }
  const Attention shape{size(0), size(1), size(2), size(3), size(4), size(5), call.size[6] != 0};
  auto second_of = [&](int i, int heads, int rows) {
    const std::size_t elements = static_cast<std::size_t>(shape.batch) * heads * rows * shape.head_dim;
    return halves(i) + (elements + 127) / 128 * 128;
  };
  if (call.is("tensor"))
    tensor(halves(0), halves(1), halves(2), out(0), second, shape, call.workspace, call.workspace_bytes, call.stream);
  else if (call.is("backward"))
    backward(halves(0), halves(1), second_of(1, shape.kv_heads, shape.keys), halves(2), floats(3),
             second_of(2, shape.heads, shape.queries), out(0), out(1), out(2), shape, call.workspace,
             call.workspace_bytes, call.stream);
  else if (call.is("hopper"))
    hopper(halves(0), halves(1), halves(2), out(0), second, shape, call.workspace, call.workspace_bytes, call.stream);
  else
    return false;
  return true;
}
