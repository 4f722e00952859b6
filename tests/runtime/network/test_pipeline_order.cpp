// The order of a stage's passes.
#include <algorithm>
#include <set>
#include <utility>

#include "clusters.hpp"
#include "network/pipeline_order.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

TEST_CASE("a pipeline's order has every pass once, forward before backward, and no more alive than its stage allows") {
  const int stages = 4, micro_batches = 12;
  for (int chunks : {1, 3})
    for (int stage = 0; stage < stages; ++stage) {
      std::set<std::pair<int, int>> forward, backward;
      int most = 0;
      for (const Pass& p : pipeline_order(stages, stage, chunks, micro_batches)) {
        const std::pair<int, int> which{p.chunk, p.micro_batch};
        if (!p.forward) CHECK(forward.count(which) == 1);
        CHECK((p.forward ? forward : backward).insert(which).second);
        most = std::max(most, static_cast<int>(forward.size() - backward.size()));
      }
      CHECK(backward.size() == static_cast<std::size_t>(chunks * micro_batches));
      CHECK(most == (chunks == 1 ? stages - stage : 2 * (stages - stage - 1) + (chunks - 1) * stages + 1));
    }
}
