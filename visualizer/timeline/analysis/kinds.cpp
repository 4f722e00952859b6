#include "timeline/analysis/kinds.hpp"

#include <algorithm>
#include <array>

namespace ridge::viz::timeline {

const char* name_of(Kind kind) {
  static constexpr std::array kNames{"compute", "communication", "copies", "host", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

Kind kind_of(std::string_view category, std::string_view name) {
  const auto is = [&](auto... words) { return ((category == words) || ...); };
  const bool nccl = name.starts_with("nccl") || name.starts_with("peer_copy") || name.starts_with("MPI_");
  if (is("exchange", "communication", "nccl kernel")) return Kind::communication;
  if (is("h2d", "d2h", "d2d", "copy", "gpu_memcpy", "memcpy", "gpu_memset", "memset", "fill")) return Kind::copy;
  if (is("kernel", "compute")) return nccl ? Kind::communication : Kind::compute;
  if (is("graph"))
    return nccl                                                      ? Kind::communication
           : name.starts_with("copy ") || name.starts_with("memset") ? Kind::copy
                                                                     : Kind::compute;
  if (is("host", "cuda_runtime", "cuda_driver", "cpu_op", "python_function", "user_annotation", "Trace", "fwdbwd",
         "ac2g"))
    return Kind::host;
  return Kind::other;
}

Kind Kinds::operator()(std::size_t event) {
  const std::uint64_t key = static_cast<std::uint64_t>(store_.name[event]) << 16 | store_.category[event];
  const std::size_t slot = (key * 0x9E3779B97F4A7C15) >> 50;
  if (keys_[slot] != key) {
    keys_[slot] = key;
    kinds_[slot] = kind_of(store_.category_of(event), store_.name_of(event));
  }
  return kinds_[slot];
}

void merge(Spans& spans) {
  std::sort(spans.begin(), spans.end());
  std::size_t used = 0;
  for (const auto& s : spans) {
    if (s.second <= s.first) continue;
    if (used > 0 && s.first <= spans[used - 1].second)
      spans[used - 1].second = std::max(spans[used - 1].second, s.second);
    else
      spans[used++] = s;
  }
  spans.resize(used);
}

Time length(const Spans& spans) {
  Time sum = 0;
  for (const auto& [from, to] : spans) sum += to - from;
  return sum;
}

Spans common(const Spans& a, const Spans& b) {
  Spans out;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const Time from = std::max(i->first, j->first), to = std::min(i->second, j->second);
    if (to > from) out.emplace_back(from, to);
    i->second < j->second ? ++i : ++j;
  }
  return out;
}

Spans without(const Spans& a, const Spans& b) {
  Spans out;
  auto j = b.begin();
  for (const auto& [from, to] : a) {
    Time at = from;
    while (j != b.end() && j->second <= at) ++j;
    for (auto k = j; k != b.end() && k->first < to; ++k) {
      if (k->first > at) out.emplace_back(at, k->first);
      at = std::max(at, k->second);
    }
    if (at < to) out.emplace_back(at, to);
  }
  return out;
}

}  // namespace ridge::viz::timeline
