// Unpacks a call record of the judge for lab 15.
#include <cstdint>
#include <cstring>
#include <vector>

#include "batcher_call.hpp"
#include "blocks_call.hpp"
#include "lab/call.hpp"
#include "serving.hpp"
#include "step.hpp"

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

// in[1]: the batch of each step, then which sequences are active. Sizes: layers, dim, steps, sequences, most of a batch,
// seed of the batches.
void call_decode_graph(const ridge_call& c) {
  const auto size = [&](int i) { return static_cast<int>(c.size[i]); };
  const int dim = size(1), steps = size(2);
  const auto* numbers = static_cast<const int*>(c.in[1]);
  auto* state = static_cast<unsigned*>(c.out[0]);
  auto* x = static_cast<unsigned*>(c.workspace);
  cudaMemcpyAsync(state, c.in[2], static_cast<std::size_t>(size(3)) * dim * sizeof(unsigned), cudaMemcpyDeviceToDevice,
                  c.stream);
  std::vector<int> batches(steps);
  for (int t = 0; t < steps; ++t) batches[t] = batch_of_step(t, size(4), size(5));
  decode_graph({static_cast<const unsigned*>(c.in[0]), numbers, numbers + steps, state, x,
                reinterpret_cast<int*>(x + 2 * kMostBatch * static_cast<std::size_t>(dim)), size(0), dim},
               batches.data(), steps, c.stream);
}

// in[2]: the drafted tokens, then the lengths. out[1]: target_length, then draft_length. Sizes: the members of
// Speculation, in their order.
void call_speculate(const ridge_call& c) {
  const Speculation shape{static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2])};
  const auto* x = static_cast<const int*>(c.in[2]);
  auto* lengths = static_cast<int*>(c.out[1]);
  speculate(static_cast<const float*>(c.in[0]), static_cast<const float*>(c.in[1]), x,
            static_cast<const float*>(c.in[3]), x + shape.batch * shape.drafted, static_cast<int*>(c.out[0]), lengths,
            lengths + shape.batch, shape, c.stream);
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
  else if (c.is("decode_graph"))
    call_decode_graph(c);
  else if (c.is("speculate"))
    call_speculate(c);
  else
    return false;
  return true;
}
