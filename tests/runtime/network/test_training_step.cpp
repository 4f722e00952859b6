// A training step in virtual time: bytes, bubbles and memory by formulas, models by their published sizes.
#include <cmath>
#include <random>
#include <set>

#include "network/description.hpp"
#include "network/goodput.hpp"
#include "network/kernel_costs.hpp"
#include "network/pipeline_order.hpp"
#include "network/stage.hpp"
#include "network/training_step.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::network;

namespace {

std::string folder() { return ridge::test::repository() + "/runtime/network"; }

// Links that cost nothing, so that only computation is left.
Cluster free_links() {
  Cluster c{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  c.fabric.node_bandwidth = c.fabric.adapter_bandwidth = 1e18;
  c.fabric.node_latency = c.fabric.latency = 0;
  return c;
}

// Every layer alike, and next to nothing at the ends.
Transformer even(int layers) {
  Transformer m = load_transformer(folder(), "gpt3_175b");
  m.layers = layers;
  m.vocabulary = 8;
  m.positions = 0;
  return m;
}

}  // namespace

TEST_CASE("models have their published sizes") {
  CHECK(load_transformer(folder(), "gpt3_175b").parameters() == Approx(174.6e9).epsilon(0.003));
  CHECK(load_transformer(folder(), "llama3_8b").parameters() == Approx(8.030e9).epsilon(0.0005));
  CHECK(load_transformer(folder(), "llama3_70b").parameters() == Approx(70.55e9).epsilon(0.0005));
  CHECK(load_transformer(folder(), "llama3_405b").parameters() == Approx(405.85e9).epsilon(0.0005));
  CHECK(load_transformer(folder(), "llama2_7b").parameters() == Approx(6.738e9).epsilon(0.0005));
  // Narayanan et al. 2021: 72 B s l h^2 (1 + s / 6 h + V / 12 l h), without the recomputed pass.
  const Transformer m = load_transformer(folder(), "gpt3_175b");
  const double s = m.sequence, l = m.layers, h = m.hidden, V = m.vocabulary;
  CHECK(training_flops(m) * s == Approx(72 * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h))));
}

TEST_CASE("each rank has a place, and each place a rank") {
  Layout l;
  l.data = 3, l.tensor = 4, l.pipeline = 5;
  std::set<int> seen;
  for (int r = 0; r < l.ranks(); ++r) {
    CHECK(rank_of(l, place_of(l, r)) == r);
    seen.insert(rank_of(l, place_of(l, r)));
  }
  CHECK(seen.size() == 60);
  CHECK(place_of(l, 4).data == 1);
  CHECK(place_of(l, 12).pipeline == 1);
  CHECK(tensor_groups(l)[1] == std::vector<int>{4, 5, 6, 7});
  CHECK(data_groups(l)[5] == std::vector<int>{13, 17, 21});
}

TEST_CASE("what does not fit is said") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  Layout l;
  l.tensor = 3;
  CHECK(misfit(l, m).find("heads (32)") != std::string::npos);
  l = {};
  l.data = 3;
  l.global_batch = 4;
  CHECK(misfit(l, m).find("global batch (4)") != std::string::npos);
  l = {};
  l.pipeline = 33;
  l.global_batch = 33;
  CHECK(misfit(l, m).find("fewer layers") != std::string::npos);
  l = {};
  l.pipeline = 4, l.chunks = 2, l.global_batch = 6;
  CHECK(misfit(l, m).find("interleaving") != std::string::npos);
  l.global_batch = 8;
  CHECK(misfit(l, m).empty());
  l.shard = 3, l.overlap_data = false;
  CHECK(misfit(l, m).find("need its overlap") != std::string::npos);
  l = {};
  l.tensor = 16;
  CHECK(misfit(l, m).find("KV heads (8)") != std::string::npos);
  l = {};
  l.data = 1 << 20, l.tensor = 96, l.pipeline = 96;
  CHECK(misfit(l).find("more ranks") != std::string::npos);
  l = {};
  l.data = l.micro_batch = 65536, l.global_batch = 1024;  // their product is 0 in 32 bits
  CHECK(misfit(l, m).find("(4294967296)") != std::string::npos);
  l = {};
  l.global_batch = 1 << 30;
  CHECK(misfit(l, m).find("more than this simulator runs") != std::string::npos);
  Transformer longer = load_transformer(folder(), "gpt3_175b");
  longer.sequence = 4096;
  l = {};
  CHECK(misfit(l, longer).find("2048 positions") != std::string::npos);
  // Rows that are shared out over the tensor group are whole ones.
  Transformer odd = m;
  odd.sequence = 8190;
  l = {};
  l.tensor = 8;
  CHECK(misfit(l, odd).find("tokens of a sequence (8190)") != std::string::npos);
  l.sequence_parallel = false;
  CHECK(misfit(l, odd).empty());
  l.overlap_tensor = true;
  CHECK(misfit(l, odd).find("tokens of a sequence (8190)") != std::string::npos);
  // What fp8 gathers needs products in fp8, and weights that are gathered.
  l = {};
  l.data = 4, l.global_batch = 4, l.shard = 3, l.fp8_gather = true;
  CHECK(misfit(l).find("for fp8 products alone") != std::string::npos);
  l.precision = Precision::fp8;
  CHECK(misfit(l).empty());
  l.shard = 2;
  CHECK(misfit(l).find("ZeRO stage 3 and several replicas") != std::string::npos);
  l.shard = 3, l.data = 1;
  CHECK(misfit(l).find("ZeRO stage 3 and several replicas") != std::string::npos);
  const Gpu a100 = load_gpu(folder(), "a100"), h100 = load_gpu(folder(), "h100");
  l = {};
  CHECK(misfit(l, a100).empty());
  l.precision = Precision::fp8;
  CHECK(misfit(l, h100).empty());
  CHECK(misfit(l, a100).find("has no products in fp8") != std::string::npos);
  CHECK_THROWS_AS(simulate_step(m, l, {a100, load_fabric(folder(), "dgx_a100")}), std::invalid_argument);
  l.precision = Precision::bf16, l.attention = Attention::cudnn;
  CHECK(misfit(l, h100).empty());
  CHECK(misfit(l, a100).find("cuDNN's attention") != std::string::npos);
  l = {};
  l.chunks = 0;
  CHECK_THROWS_AS(simulate_step(m, l, free_links()), std::invalid_argument);
}

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

TEST_CASE("the bubble is the schedule's") {
  const Cluster cluster = free_links();
  const Transformer m = even(24);
  Layout l;
  l.pipeline = 4;
  l.global_batch = 12;
  const StepReport plain = simulate_step(m, l, cluster);
  const double ideal = plain.work.seconds();
  CHECK(plain.bubble / ideal == Approx(3.0 / 12).epsilon(0.02));
  l.chunks = 3;
  const StepReport interleaved = simulate_step(m, l, cluster);
  CHECK(interleaved.work.seconds() == Approx(ideal));
  CHECK(interleaved.bubble / ideal == Approx(3.0 / (3 * 12)).epsilon(0.05));
  l.pipeline = l.chunks = 1;
  CHECK(simulate_step(m, l, cluster).bubble == Approx(0).margin(1e-9 * ideal));
}

TEST_CASE("parts add up to the step, and links that cost something cost it") {
  const Transformer m = load_transformer(folder(), "gpt3_175b");
  const Cluster real{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  Layout l;
  l.data = 5, l.tensor = 8, l.pipeline = 4, l.chunks = 6, l.global_batch = 40, l.shard = 1;
  const StepReport r = simulate_step(m, l, real, true);
  CHECK(r.work.seconds() + r.recomputed + r.update + r.exposed_data + r.bubble + r.slowest == Approx(r.seconds));
  CHECK(r.slowest > 0);
  CHECK(r.bubble > 0);
  CHECK(r.work.exposed > 0);
  CHECK(r.seconds > simulate_step(m, l, free_links()).seconds);
  CHECK(simulate_step(m, l, real).seconds == r.seconds);
  for (const Span& s : r.timeline) CHECK((s.start >= 0 && s.end >= s.start && s.end <= r.seconds * (1 + 1e-12)));
  Cluster thin = real;
  thin.fabric.adapter_bandwidth /= 4;
  CHECK(simulate_step(m, l, thin).seconds > r.seconds);
  l.overlap_data = false;
  CHECK(simulate_step(m, l, real).seconds > r.seconds);
}

TEST_CASE("bytes of gradients and weights are those of the ZeRO stage") {
  const Transformer m = even(8);
  const Cluster cluster = free_links();
  Layout l;
  l.data = 4, l.global_batch = 12;  // three micro-batches
  const double n = m.layers * m.layer_parameters() + m.embedding_parameters() + m.head_parameters(), share = 3.0 / 4;
  // Stages 2 and 3 keep a part of the gradients, and so reduce them in each micro-batch.
  const double expected[] = {2 * 4 * n * share, (4 + 2) * n * share, (3 * 4 + 2) * n * share,
                             3 * (4 + 2 * 2) * n * share};
  for (l.shard = 0; l.shard <= 3; ++l.shard)
    CHECK(simulate_step(m, l, cluster).data_bytes == Approx(expected[l.shard]).epsilon(1e-4));
  l.shard = 1, l.overlap_data = false;
  CHECK(simulate_step(m, l, cluster).data_bytes == Approx(expected[1]).epsilon(1e-4));
  l.shard = 3, l.overlap_data = true, l.precision = Precision::fp8, l.fp8_gather = true;  // the ends stay bf16
  const double ends = m.embedding_parameters() + m.head_parameters() + m.hidden;
  CHECK(simulate_step(m, l, cluster).data_bytes == Approx(3 * share * (4 * n + 2 * (n + ends))).epsilon(1e-4));
  l.shard = 1, l.precision = Precision::bf16, l.fp8_gather = false;
  l.data = 1;
  CHECK(simulate_step(m, l, cluster).data_bytes == 0);
}

TEST_CASE("no step is shorter than its bytes take on the slowest link, and none has a negative part") {
  std::mt19937 random(GENERATE(1u, 2u, 3u));
  auto one_of = [&](std::vector<int> values) { return values[random() % values.size()]; };
  Cluster cluster{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  cluster.fabric.adapter_bandwidth = one_of({1, 8, 48}) * 1e9;
  Transformer m = load_transformer(folder(), "llama3_8b");
  m.tied = one_of({0, 1}) == 1;
  for (int round = 0; round < 40; ++round) {
    Layout l;
    l.data = one_of({1, 2, 5, 16});
    l.tensor = one_of({1, 2, 8});
    l.pipeline = one_of({1, 2, 4});
    l.chunks = l.pipeline > 1 ? one_of({1, 2, 4}) : 1;
    l.global_batch = l.data * l.pipeline * one_of({1, 3});
    l.shard = one_of({0, 1, 2, 3});
    l.recompute = static_cast<Recompute>(one_of({0, 1, 2}));
    l.overlap_data = l.shard >= 2 || one_of({0, 1}) == 1;
    l.overlap_tensor = one_of({0, 1}) == 1;
    const StepReport r = simulate_step(m, l, cluster);
    INFO("data " << l.data << ", tensor " << l.tensor << ", pipeline " << l.pipeline << ", chunks " << l.chunks
                 << ", ZeRO " << l.shard << ", batch " << l.global_batch);
    const RingCost ring = ring_cost(Links(cluster.fabric, l.ranks()), data_groups(l), 2);
    CHECK(r.seconds >= r.data_bytes * ring.seconds_per_byte * (1 - 1e-9));
    for (double part : {r.work.seconds(), r.recomputed, r.update, r.exposed_data}) CHECK(part >= -1e-9 * r.seconds);
    CHECK(r.bubble >= -1e-9 * r.seconds);
  }
}

TEST_CASE("collectives that are hidden still take their share of the GPU") {
  const Transformer m = load_transformer(folder(), "gpt_1.3b");
  const Cluster cluster{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  Layout l;
  l.micro_batch = 8, l.global_batch = 8, l.shard = 0;
  const double alone = simulate_step(m, l, cluster).seconds;
  l.data = 2, l.global_batch = 16;
  const StepReport two = simulate_step(m, l, cluster);
  const double sent = two.data_bytes / cluster.fabric.node_bandwidth;
  CHECK(two.seconds - alone > cost::kShareOfCollectives * sent / 2);
  CHECK(two.seconds - alone < sent);
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

TEST_CASE("memory falls with each ZeRO stage by what the stage shares out") {
  const Transformer m = even(8);
  Layout l;
  l.data = 16, l.global_batch = 16;
  const double n = m.parameters();
  l.shard = 0;
  CHECK(memory_of(m, l).optimizer == Approx(12 * n));
  l.shard = 1;
  CHECK(memory_of(m, l).optimizer == Approx(12 * n / 16));
  CHECK(memory_of(m, l).gradients == Approx(4 * n));
  l.shard = 2;
  CHECK(memory_of(m, l).gradients == Approx(4 * n / 16 + 4 * m.layer_parameters()));
  CHECK(memory_of(m, l).weights == Approx(2 * n));
  l.shard = 3;
  CHECK(memory_of(m, l).weights == Approx(2 * 2 * m.layer_parameters()));
  const Transformer wide = load_transformer(folder(), "llama3_8b");  // its head is larger than a layer
  CHECK(memory_of(wide, l).weights == Approx(2 * 2 * wide.head_parameters()));
  Layout alone;
  alone.shard = 3;
  CHECK(memory_of(m, alone).weights == Approx(2 * n));
  CHECK(memory_of(m, alone).gradients == Approx(4 * n));
  const double all = memory_of(m, l).activations;
  l.recompute = Recompute::full;
  CHECK(memory_of(m, l).activations < all / 3);
  // Korthikanti et al. 2022, without FlashAttention: s b h (34 + 5 a s / h), of which masks of dropout are 2.
  l = {};
  l.attention = Attention::unfused;
  const double s = m.sequence, h = m.hidden, a = m.heads;
  CHECK(kept_bytes(m, l) == Approx(s * h * (32 + 5 * a * s / h)));
}

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

TEST_CASE("pipelines and replicas that send at once wait for each other's messages") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  Cluster cluster{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  cluster.fabric.gpus = 1, cluster.fabric.adapters = 1;  // all messages of a GPU take one adapter
  cluster.fabric.adapter_bandwidth = 4e9;
  Layout l;
  l.data = 2, l.pipeline = 4, l.global_batch = 16, l.shard = 2;
  const StepReport shared = simulate_step(m, l, cluster);
  cluster.fabric.gpus = 2, cluster.fabric.adapters = 1;  // replicas in one node: their rings leave the adapter alone
  cluster.fabric.node_bandwidth = 4e9;
  cluster.fabric.node_latency = cluster.fabric.latency;
  cluster.fabric.adapter_bandwidth = 8e9;
  CHECK(shared.seconds > 1.01 * simulate_step(m, l, cluster).seconds);
}

TEST_CASE("the norm of the gradients is summed over all ranks before the update") {
  const Transformer m = load_transformer(folder(), "gpt_1.3b");
  Cluster cluster{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  Layout l;
  CHECK(simulate_step(m, l, cluster).exposed_data == Approx(0).margin(1e-12));
  l.tensor = 16;  // two nodes, without data-parallel messages
  const double before = simulate_step(m, l, cluster).exposed_data;
  CHECK(before == Approx(2 * 4 * cluster.fabric.latency));
}

TEST_CASE("an optimizer of many kernels moves more bytes") {
  const Transformer m = load_transformer(folder(), "gpt_1.3b");
  const Cluster cluster{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  Layout l;
  const double one = simulate_step(m, l, cluster).update;
  CHECK(one == Approx(memory_seconds(cluster.gpu, (34 + 15 + 7) * m.parameters())));
  l.fused_update = false;
  CHECK(simulate_step(m, l, cluster).update - one == Approx(52 * m.parameters() / cluster.gpu.memory_bandwidth));
}

TEST_CASE("all wait for the slowest GPU") {
  const Transformer m = load_transformer(folder(), "gpt3_175b");
  Cluster cluster{load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")};
  Layout l;
  l.data = 4, l.tensor = 8, l.pipeline = 4, l.global_batch = 32;
  cluster.gpu.speed_spread = cluster.gpu.speed_jitter = 0;
  const StepReport equal = simulate_step(m, l, cluster);
  CHECK(equal.slowest == 0);
  cluster.gpu.speed_spread = 0.01;
  const StepReport r = simulate_step(m, l, cluster);
  CHECK(r.slowest == Approx(slowest_of(cluster.gpu, 128) * (r.work.kernels() + r.recomputed + r.update)));
  CHECK(r.seconds > equal.seconds + r.slowest);  // the bubble grows too
  CHECK(r.seconds < equal.seconds * (1 + slowest_of(cluster.gpu, 128)));
  cluster.gpu.speed_jitter = 0.02;
  CHECK(simulate_step(m, l, cluster).slowest ==
        Approx(r.slowest * slowest_of(cluster.gpu, 128, 8) / slowest_of(cluster.gpu, 128)));
}

TEST_CASE("goodput is what a run with drawn failures shows") {
  Reliability r;
  r.gpu_hours_between_failures = 2000;
  r.save_seconds = 90;
  r.restart_seconds = 400;
  const Goodput g = goodput(r, 1024, 0);
  CHECK(g.seconds_between_failures == Approx(2000 * 3600 / 1024.0));
  CHECK(g.interval == Approx(std::sqrt(2 * 90 * g.seconds_between_failures)));
  std::mt19937_64 random(7);
  std::exponential_distribution<double> failure(1 / g.seconds_between_failures);
  double now = 0, trained = 0, next = failure(random);
  while (trained < 5e8) {
    if (now + g.interval + r.save_seconds <= next) {
      now += g.interval + r.save_seconds, trained += g.interval;
      continue;
    }
    do {
      now = next, next = now + failure(random);
    } while (next < now + r.restart_seconds);
    now += r.restart_seconds;
  }
  CHECK(g.fraction == Approx(trained / now).epsilon(0.01));
  CHECK(goodput(r, 1024, g.interval / 4).fraction < g.fraction);
  CHECK(goodput(r, 1024, g.interval * 4).fraction < g.fraction);
  CHECK(goodput({}, 1024, 0).fraction == 1);
}

TEST_CASE("a wrong description names its file, its line and its key") {
  ridge::test::Folder home;
  auto said = [&](const std::string& text) -> std::string {
    ridge::test::write_file(home / "m.toml", text);
    try {
      load_transformer(folder(), home / "m.toml");
    } catch (const DescriptionError& e) {
      return e.what();
    }
    return "";
  };
  const std::string good = "title = \"t\"\nlayers = 2\nhidden = 64\nheads = 4\nvocabulary = 9\nsequence = 8\n";
  CHECK(said(good).empty());
  CHECK(said(good + "colour = 3\n").find("m.toml:7: unknown key 'colour'") != std::string::npos);
  CHECK(said("title = \"t\"\nlayers = 0\n").find("m.toml:2: layers is a whole number from 1 to 10000000") !=
        std::string::npos);
  CHECK(said("title = \"t\"\nlayers = 2\n").find("hidden is a whole number from 1 to 10000000, and is missing") !=
        std::string::npos);
  CHECK(said("title = \"t\nlayers").find("m.toml:1: ") != std::string::npos);
  auto refused = [&](const std::string& name) -> std::string {
    try {
      load_gpu(folder(), name);
    } catch (const DescriptionError& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refused("h1000").find("a100, h100") != std::string::npos);
  // A GPU is no faster than its data sheet.
  const std::string gpu = ridge::test::read_file(folder() + "/gpus/h100.toml");
  auto changed = [&](const std::string& key, const std::string& value) {
    const std::size_t at = gpu.find("\n" + key + " = ") + 1;
    ridge::test::write_file(home / "g.toml", gpu.substr(0, at) + key + " = " + value + gpu.substr(gpu.find('\n', at)));
    return refused(home / "g.toml");
  };
  CHECK(changed("product_efficiency", "0.69").empty());
  CHECK(changed("product_efficiency", "1.01").find("product_efficiency is a share above 0 and at most 1") !=
        std::string::npos);
  CHECK(changed("fp8_efficiency", "1.5").find("times product_efficiency is 1 at most") != std::string::npos);
  CHECK(changed("cudnn_backward", "990e12").find("cudnn_backward is bf16_flops at most") != std::string::npos);
  CHECK(changed("clock_boost", "0.9").find("clock_boost is a number of 1 or more") != std::string::npos);
  CHECK(refused("none.toml").find("there is no file none.toml") != std::string::npos);
  for (const std::string& name : names_in(folder() + "/fabrics"))
    CHECK_FALSE(load_fabric(folder(), name).title.empty());
}
