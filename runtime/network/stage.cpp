#include "stage.hpp"

#include <algorithm>

namespace ridge::network {

Timed run_segments(const std::vector<Segment>& segments, bool first_is_gathered) {
  Timed t;
  double compute = 0;  // end of the last computation
  double gathered = 0;
  if (!segments.empty() && !first_is_gathered) t.network = gathered = segments.front().gather;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i];
    const double start = std::max(compute, gathered);
    double busy = 0;  // of the network, under this computation
    if (i + 1 < segments.size() && segments[i + 1].gather > 0) {
      t.network = std::max(t.network, start) + segments[i + 1].gather;
      gathered = t.network;
    }
    busy = std::clamp(t.network - start, 0.0, s.seconds);
    const double taken = kShareOfCollectives * busy;
    t.shared += taken;
    compute = start + s.seconds + taken;
    if (s.reduce > 0) t.network = std::max(t.network, compute) + s.reduce;
    t.ends.push_back(compute);
  }
  t.seconds = compute;
  t.network = std::max(t.network, compute);
  return t;
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

double parameters_of(const Transformer& m, const Layout& l, int stage) {
  double n = 0;
  for (int c = 0; c < l.chunks; ++c) {
    n += layers_of(m, l, stage, c) * m.layer_parameters();
    if (has_embedding(l, stage, c)) n += m.embedding_parameters();
    if (has_head(l, stage, c))
      n += m.hidden + (m.tied && l.pipeline > 1 ? m.embedding_parameters() : m.head_parameters());
  }
  return n / l.tensor;
}

}  // namespace ridge::network
