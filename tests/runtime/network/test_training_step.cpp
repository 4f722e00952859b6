// A training step in virtual time: bytes and bubbles by formulas.
#include <random>
#include <vector>

#include "clusters.hpp"
#include "network/kernel_costs.hpp"
#include "network/links/group_times.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

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
