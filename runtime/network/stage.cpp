#include "stage.hpp"

#include <algorithm>

#include "kernel_costs.hpp"

namespace ridge::network {

std::vector<double> StageClock::gather_all(const std::vector<const std::vector<Segment>*>& chunks) {
  std::vector<double> ready;
  for (const std::vector<Segment>* segments : chunks)
    for (const Segment& s : *segments) {
      ready.push_back(network += s.gather);
      count_gathered(s);
    }
  return ready;
}

void StageClock::run(const std::vector<Segment>& segments, double start, const Traffic& traffic,
                     const std::vector<double>& ready, const Seen& reduced_in) {
  double there = 0;  // when the next segment's weights are
  auto issue = [&](const Segment& s, double at) {
    there = network = std::max(network, at) + s.gather;
    count_gathered(s);
  };
  start = std::max(start, compute);
  compute = start;
  if (traffic.gather && !traffic.first_is_there && !segments.empty()) issue(segments.front(), start);
  double alone = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i];
    const double begin = std::max({compute, there, ready.empty() ? 0 : ready[i]});
    if (traffic.gather && i + 1 < segments.size()) issue(segments[i + 1], begin);
    // The network is busy from here until it is free. For a part of that the tensor group's messages share its links.
    const double busy = std::clamp(network - begin, 0.0, s.seconds);
    const double both = s.seconds > 0 ? busy * std::min(1.0, s.tensor / s.seconds) : 0;
    compute = begin + s.seconds + cost::kShareOfCollectives * busy + both * (beside.first - 1);
    network += both * (1 - 1 / beside.second);
    alone += s.seconds;
    if (!traffic.reduce) continue;
    const double from = std::max(network, compute);
    network = from + s.reduce;
    reduced += s.parameters;
    if (reduced_in) reduced_in(from, network);
  }
  exposed += compute - start - alone;
}

namespace {

int index_of(const Layout& l, int stage, int chunk) { return chunk * l.pipeline + stage; }

}  // namespace

int layers_of(const Transformer& m, const Layout& l, int stage, int chunk) {
  const int parts = l.pipeline * l.chunks;
  return m.layers / parts + (index_of(l, stage, chunk) < m.layers % parts);
}
bool has_embedding(const Layout& l, int stage, int chunk) { return index_of(l, stage, chunk) == 0; }
bool has_head(const Layout& l, int stage, int chunk) { return index_of(l, stage, chunk) == l.pipeline * l.chunks - 1; }

double head_parameters(const Transformer& m, const Layout& l) {
  return m.tied && l.pipeline > 1 ? double(m.hidden) * m.vocabulary : m.head_parameters();
}

double parameters_of(const Transformer& m, const Layout& l, int stage) {
  double n = 0;
  for (int c = 0; c < l.chunks; ++c) {
    n += layers_of(m, l, stage, c) * m.layer_parameters();
    if (has_embedding(l, stage, c)) n += m.embedding_parameters();
    if (has_head(l, stage, c)) n += m.hidden + head_parameters(m, l);
  }
  return n / l.tensor;
}

}  // namespace ridge::network
