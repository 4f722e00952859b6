// Unpacks a call record of the judge for lab 15.
#include <cstdint>
#include <cstring>

#include "batcher_call.hpp"
#include "blocks_call.hpp"
#include "lab/call.hpp"
#include "serving.hpp"

namespace {

using Bf16 = __nv_bfloat16;

// Sizes: the members of Decode, in their order.
void call_decode(const ridge_call& c) {
  const auto size = [&](int i) { return static_cast<int>(c.size[i]); };
  const auto halves = [&](int i) { return static_cast<const Bf16*>(c.in[i]); };
  decode_attention(halves(0), halves(1), halves(2), static_cast<const int*>(c.in[3]), static_cast<Bf16*>(c.out[0]),
                   {size(0), size(1), size(2), size(3), size(4)}, c.workspace, c.workspace_bytes, c.stream);
}

// Two parts of the prompts, then the last token of each sequence, and its query. in[1]: k of all tokens, then v, at a
// multiple of 256 bytes. in[2]: starts of the three parts, lengths before each and at the end, the table. out[0]:
// k_pages, then v_pages. Sizes: the members of Paged, in their order, and the tokens of the first two parts.
void call_paged(const ridge_call& c) {
  const auto size = [&](int i) { return static_cast<int>(c.size[i]); };
  const Paged shape{size(0), size(1), size(2), size(3), size(4), size(5)};
  const int tokens[3] = {size(6), size(7), shape.batch};
  const std::size_t row = static_cast<std::size_t>(shape.kv_heads) * shape.head_dim;
  const std::size_t all = (tokens[0] + tokens[1] + tokens[2]) * row;
  const auto* k = static_cast<const Bf16*>(c.in[1]);
  const auto* v = k + (all + 127) / 128 * 128;
  const auto* starts = static_cast<const int*>(c.in[2]);
  const int* lengths = starts + 3 * (shape.batch + 1);
  const int* table = lengths + 4 * shape.batch;
  auto* k_pages = static_cast<Bf16*>(c.out[0]);
  auto* v_pages = k_pages + static_cast<std::size_t>(shape.pages) * kPage * row;
  for (int part = 0; part < 3; ++part) {
    if (tokens[part] > 0) append(k, v, starts, lengths, table, k_pages, v_pages, tokens[part], shape, c.stream);
    k += tokens[part] * row, v += tokens[part] * row;
    starts += shape.batch + 1, lengths += shape.batch;
  }
  paged_attention(static_cast<const Bf16*>(c.in[0]), k_pages, v_pages, table, lengths, static_cast<Bf16*>(c.out[1]),
                  shape, c.workspace, c.workspace_bytes, c.stream);
}

}  // namespace

bool ridge_entry(const ridge_call& c) {
  if (c.is("decode_attention"))
    call_decode(c);
  else if (c.is("paged"))
    call_paged(c);
  else if (c.is("blocks"))
    call_blocks(c);
  else if (c.is("batcher"))
    call_batcher(c);
  else
    return false;
  return true;
}
