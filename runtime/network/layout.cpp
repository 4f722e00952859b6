#include "layout.hpp"

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

std::string misfit(const Layout& l, const Transformer& m) {
  auto not_divided = [](const std::string& what, int n, const std::string& by, int d) {
    return what + " (" + std::to_string(n) + ") is no multiple of " + by + " (" + std::to_string(d) + ")";
  };
  if (l.data < 1 || l.tensor < 1 || l.pipeline < 1 || l.chunks < 1 || l.micro_batch < 1 || l.global_batch < 1)
    return "sizes of a layout are 1 or more";
  if (l.shard < 0 || l.shard > 3) return "the ZeRO stage is 0, 1, 2 or 3";
  if (m.heads % l.tensor != 0) return not_divided("the number of heads", m.heads, "the tensor-parallel size", l.tensor);
  if (l.chunks > 1 && l.pipeline == 1) return "several chunks a stage need a pipeline";
  if (l.pipeline * l.chunks > m.layers)
    return "there are fewer layers (" + std::to_string(m.layers) + ") than chunks of the pipeline (" +
           std::to_string(l.pipeline * l.chunks) + ")";
  const int together = l.data * l.micro_batch;
  if (l.global_batch % together != 0)
    return not_divided("the global batch", l.global_batch, "data-parallel size x micro-batch", together);
  if (l.chunks > 1 && l.micro_batches() % l.pipeline != 0)
    return not_divided("the number of micro-batches", l.micro_batches(),
                       "the pipeline's stages, which interleaving needs,", l.pipeline);
  return {};
}

}  // namespace ridge::network
