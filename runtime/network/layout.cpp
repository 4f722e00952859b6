#include "layout.hpp"

#include <cstdint>

namespace ridge::network {

Place place_of(const Layout& l, int rank) {
  return {rank / l.tensor % l.data, rank / (l.tensor * l.data), rank % l.tensor};
}
int rank_of(const Layout& l, const Place& p) { return (p.pipeline * l.data + p.data) * l.tensor + p.tensor; }

std::vector<std::vector<int>> tensor_groups(const Layout& l) {
  std::vector<std::vector<int>> groups;
  for (int p = 0; p < l.pipeline; ++p)
    for (int d = 0; d < l.data; ++d) {
      groups.emplace_back();
      for (int t = 0; t < l.tensor; ++t) groups.back().push_back(rank_of(l, {d, p, t}));
    }
  return groups;
}
std::vector<std::vector<int>> data_groups(const Layout& l) {
  std::vector<std::vector<int>> groups;
  for (int p = 0; p < l.pipeline; ++p)
    for (int t = 0; t < l.tensor; ++t) {
      groups.emplace_back();
      for (int d = 0; d < l.data; ++d) groups.back().push_back(rank_of(l, {d, p, t}));
    }
  return groups;
}

std::string misfit(const Layout& l) {
  if (l.data < 1 || l.tensor < 1 || l.pipeline < 1 || l.chunks < 1 || l.micro_batch < 1 || l.global_batch < 1)
    return "sizes of a layout are 1 or more";
  if (l.shard < 0 || l.shard > 3) return "the ZeRO stage is 0, 1, 2 or 3";
  // Two steps, so that nothing overflows.
  if (std::int64_t{l.data} * l.tensor > kMostRanks || std::int64_t{l.data} * l.tensor * l.pipeline > kMostRanks)
    return "there are more ranks than " + std::to_string(kMostRanks);
  if (!l.overlap_data && l.shard >= 2)
    return "ZeRO stages 2 and 3 reduce gradients under the backward pass, and need its overlap";
  if (l.fp8_gather && l.precision != Precision::fp8) return "weights are gathered as fp8 for fp8 products alone";
  if (l.fp8_gather && (l.shard != 3 || l.data == 1))
    return "no weights are gathered that could be fp8: that needs ZeRO stage 3 and several replicas";
  return {};
}

std::string misfit(const Layout& l, const Gpu& gpu) {
  if (l.precision == Precision::fp8 && gpu.fp8_flops <= 0) return "the " + gpu.title + " has no products in fp8";
  if (l.attention == Attention::cudnn && gpu.cudnn.forward.flops <= 0)
    return "the rates of cuDNN's attention on the " + gpu.title + " are not known";
  return {};
}

std::string misfit(const Layout& l, const Transformer& m) {
  auto not_divided = [](const std::string& what, std::int64_t n, const std::string& by, std::int64_t d) {
    return what + " (" + std::to_string(n) + ") is no multiple of " + by + " (" + std::to_string(d) + ")";
  };
  if (std::string why = misfit(l); !why.empty()) return why;
  const std::string tensor = "the tensor-parallel size";
  if (m.heads % l.tensor != 0) return not_divided("the number of heads", m.heads, tensor, l.tensor);
  if (m.kv_heads % l.tensor != 0) return not_divided("the number of KV heads", m.kv_heads, tensor, l.tensor);
  if (m.feed_forward % l.tensor != 0) return not_divided("the width of the MLP", m.feed_forward, tensor, l.tensor);
  if (l.tensor > 1 && (l.sequence_parallel || l.overlap_tensor) && m.sequence % l.tensor != 0)
    return not_divided("the number of tokens of a sequence", m.sequence, tensor, l.tensor);
  if (m.positions > 0 && m.sequence > m.positions)
    return "sequences of " + std::to_string(m.sequence) + " tokens are longer than the model's " +
           std::to_string(m.positions) + " positions";
  if (l.chunks > 1 && l.pipeline == 1) return "several chunks a stage need a pipeline";
  if (std::int64_t{l.pipeline} * l.chunks > m.layers)
    return "there are fewer layers (" + std::to_string(m.layers) + ") than chunks of the pipeline (" +
           std::to_string(std::int64_t{l.pipeline} * l.chunks) + ")";
  const std::int64_t together = std::int64_t{l.data} * l.micro_batch;
  if (l.global_batch % together != 0)
    return not_divided("the global batch", l.global_batch, "data-parallel size x micro-batch", together);
  const std::int64_t count = l.micro_batches();
  if (l.chunks > 1 && count % l.pipeline != 0)
    return "interleaving needs a multiple of " + std::to_string(l.pipeline) +
           " micro-batches, as many as stages; there are " + std::to_string(count);
  if (m.layers * count > kMostSegments)
    return std::to_string(count) + " micro-batches of " + std::to_string(m.layers) +
           " layers are more than this simulator runs: layers x micro-batches may be " + std::to_string(kMostSegments);
  return {};
}

}  // namespace ridge::network
