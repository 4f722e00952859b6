// A stage's clock: computation beside messages.
#include <vector>

#include "clusters.hpp"
#include "network/kernel_costs.hpp"
#include "network/stage.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

TEST_CASE("gathers run one layer ahead, reductions behind, and what is left goes on under the next pass") {
  const double share = cost::kShareOfCollectives * 4;
  const std::vector<Segment> hidden(3, {10, 1, 4, 0});  // only the first is waited for
  StageClock clock;
  clock.run(hidden, 0, {true, false, false});
  CHECK(clock.compute == Approx(4 + 30 + 2 * share));
  CHECK(clock.exposed == Approx(4 + 2 * share));
  CHECK(clock.gathered == 3);
  clock = {};
  clock.run(hidden, 5, {true, false, true});
  CHECK(clock.compute == Approx(5 + 30 + 2 * share));
  CHECK(clock.gathered == 2);
  const std::vector<Segment> exposed(3, {10, 1, 15, 0});  // each is waited for
  clock = {};
  clock.run(exposed, 0, {true, false, false});
  CHECK(clock.compute == Approx(3 * 15 + 10));
  // Reductions of 25 beside computation of 10: the second pass shares the GPU with the first one's.
  const std::vector<Segment> reduced(2, {10, 1, 0, 25});
  clock = {};
  clock.run(reduced, 0, {false, true, false});
  const double slow = 10 * (1 + cost::kShareOfCollectives);
  CHECK(clock.compute == Approx(10 + slow));
  CHECK(clock.network == Approx(10 + 50));
  clock.run(reduced, 0, {false, true, false});
  CHECK(clock.compute == Approx(10 + 3 * slow));
  CHECK(clock.network == Approx(10 + 100));
  // Weights that travel from the start.
  clock = {};
  const std::vector<double> ready = clock.gather_all({&exposed});
  CHECK(ready == std::vector<double>{15, 30, 45});
  clock.run(exposed, 0, {}, ready);
  CHECK(clock.compute == Approx(55));
}

TEST_CASE("messages of other kinds share the links while both travel") {
  // Half of a segment of 10 s exchanges messages of the tensor group, which take 3 times as long beside a reduction.
  const std::vector<Segment> segments(2, {10, 1, 0, 8, 5});
  const double share = cost::kShareOfCollectives;
  StageClock clock;
  clock.beside = {3, 2};
  clock.run(segments, 0, {false, true, false});
  CHECK(clock.compute == Approx(10 + 10 + 8 * share + 8 * 0.5 * 2));
  // The first reduction is slowed down for 4 s, by half; the second one begins when the second segment ends.
  CHECK(clock.network == Approx(clock.compute + 8));
  CHECK(clock.exposed == Approx(8 * share + 8));
  // A reduction that outlasts the next segment: for half of its 10 s it has half of the links.
  StageClock longer;
  longer.beside = {3, 2};
  longer.run(std::vector<Segment>(2, {10, 1, 0, 30, 5}), 0, {false, true, false});
  CHECK(longer.network == Approx(10 + 30 + 5 * 0.5 + 30));
  clock.give_way(clock.network - 1, 0.5);
  CHECK(clock.network == Approx(clock.compute + 8.5));
  clock.give_way(clock.network, 0.5);
  CHECK(clock.network == Approx(clock.compute + 8.5));
}

TEST_CASE("a tied embedding has a copy on the last stage, which is summed with the first one's") {
  Transformer m = load_transformer(folder(), "gpt3_175b");
  const Cluster cluster{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  Layout l;
  l.tensor = 8, l.pipeline = 4, l.global_batch = 4;
  CHECK(parameters_of(m, l, 3) == Approx((24 * m.layer_parameters() + m.hidden + double(m.hidden) * m.vocabulary) / 8));
  const double tied = simulate_step(m, l, cluster).seconds;
  m.tied = false;
  CHECK(parameters_of(m, l, 3) == Approx((24 * m.layer_parameters() + m.hidden + m.head_parameters()) / 8));
  CHECK(tied > simulate_step(m, l, cluster).seconds);
}
