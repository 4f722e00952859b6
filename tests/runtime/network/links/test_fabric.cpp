// Links of fabrics, and rings over them.
#include <algorithm>
#include <map>
#include <numeric>

#include "network/links/group_times.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

namespace {

Fabric nodes(Fabric::Kind kind = Fabric::Kind::full) {
  Fabric f;
  f.gpus = 8;
  f.node_bandwidth = 400;
  f.node_latency = 1;
  f.adapters = 4;
  f.adapter_bandwidth = 50;
  f.latency = 10;
  f.kind = kind;
  f.unit = 2;
  return f;
}

std::vector<int> ranks(int from, int to, int step = 1) {
  std::vector<int> group;
  for (int r = from; r < to; r += step) group.push_back(r);
  return group;
}

}  // namespace

TEST_CASE("a message takes the node's switch, or the adapters of both nodes") {
  const Links links(nodes(), 24);
  CHECK(links.route(3, 3, 0).empty());
  CHECK(links.route(0, 5, 0).size() == 2);
  CHECK(links.route(0, 9, 0).size() == 2);
  CHECK(links.latency(0, 5) == 1);
  CHECK(links.latency(0, 8) == 10);
  CHECK(links.route(0, 8, 0) == links.route(1, 9, 0));  // two GPUs share an adapter
  CHECK(links.route(0, 8, 0) != links.route(2, 10, 0));
}

TEST_CASE("leaves, spines and groups") {
  Fabric tree = nodes(Fabric::Kind::fat_tree);
  tree.paths = 3;
  const Links links(tree, 64);               // eight nodes in four units
  CHECK(links.route(0, 8, 0).size() == 2);   // below one leaf
  CHECK(links.route(0, 16, 0).size() == 4);  // over a spine
  CHECK(links.route(0, 16, 0) == links.route(0, 16, 3));
  CHECK(links.route(0, 16, 0) != links.route(0, 16, 1));

  tree.rails = true;
  const Links rails(tree, 64);
  CHECK(rails.route(0, 8, 0).size() == 2);
  CHECK(rails.route(0, 10, 0).size() == 3);  // through the node's switch to the other rail
  // What a leaf sends up is what its adapters send, over the oversubscription.
  tree.oversubscription = 4;
  const Links thin(tree, 64);
  const auto up = static_cast<std::size_t>(thin.route(0, 16, 0)[1]);
  CHECK(3 * thin.capacities()[up] == Approx(2 * 50.0 / 4));

  const Links dragonfly(nodes(Fabric::Kind::dragonfly), 64);
  const auto way = dragonfly.route(0, 63, 0);
  REQUIRE(way.size() == 3);
  CHECK(dragonfly.capacities()[static_cast<std::size_t>(way[1])] == Approx(2 * 4 * 50.0 / 3));
  CHECK(dragonfly.route(0, 63, 0)[1] != dragonfly.route(63, 0, 0)[1]);
}

TEST_CASE("a ring is as fast as its slowest link, and has a channel for each member of a node") {
  const Links links(nodes(), 32);
  const RingCost inside = ring_cost(links, {ranks(0, 8)}, 1);
  CHECK(inside.seconds_per_byte == Approx(1.0 / 400));
  CHECK(inside.latency == Approx(8));
  CHECK_FALSE(inside.between_nodes);
  // Eight members, four adapters: 200 B/s leave the node.
  const RingCost all = ring_cost(links, {ranks(0, 32)}, 1);
  CHECK(all.seconds_per_byte == Approx(1.0 / 200));
  CHECK(all.latency == Approx(4 * (7 + 10)));
  // One member in each node, eight such groups: two share an adapter.
  std::vector<std::vector<int>> across;
  for (int r = 0; r < 8; ++r) across.push_back(ranks(r, 32, 8));
  CHECK(ring_cost(links, across, 1).seconds_per_byte == Approx(1.0 / 25));
  CHECK(ring_cost(links, {across[0]}, 1).seconds_per_byte == Approx(1.0 / 50));

  CHECK(all.reduce_scatter(3200) == Approx(31.0 / 32 * (68 + 3200 / 200.0)));
  CHECK(all.all_reduce(1e9) == Approx(2 * all.reduce_scatter(1e9)));  // the ring
  CHECK(all.all_reduce(8) == Approx(2 * 5 * 10 + 2 * 8 / 200.0));     // a tree of five levels
  CHECK(ring_cost(links, {{5}}, 1).all_reduce(100) == 0);
}

TEST_CASE("messages that meet on an uplink share it") {
  Fabric tree = nodes(Fabric::Kind::fat_tree);
  tree.oversubscription = 4;  // 100 B/s leave a leaf of two nodes
  const Links links(tree, 32);
  const auto costs = message_costs(links, {{0, 16}, {2, 18}, {4, 20}, {6, 22}}, 7);
  for (const MessageCost& c : costs) CHECK(c.bandwidth == Approx(25));
  CHECK(message_costs(links, {{0, 16}}, 7)[0].bandwidth == Approx(50));
  CHECK(message_costs(links, {{0, 16}}, 7)[0].seconds(100) == Approx(12));
}

TEST_CASE("static routes collide: the slowest message has its share of the fullest path, though all would have room") {
  Fabric tree = nodes(Fabric::Kind::fat_tree);
  tree.paths = 4;  // of 100 B/s each; two nodes send 400 B/s
  const Links links(tree, 32);
  std::vector<std::pair<int, int>> pairs;
  for (int a = 0; a < 16; a += 2) pairs.emplace_back(a, 16 + a);
  int collisions = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::map<std::int32_t, int> flows;
    for (const Flow& f : message_flows(links, pairs, seed).links) ++flows[f[1]];
    int most = 0;
    for (const auto& [link, count] : flows) most = std::max(most, count);
    double slowest = 50;
    for (const MessageCost& c : message_costs(links, pairs, seed)) slowest = std::min(slowest, c.bandwidth);
    CHECK(slowest == Approx(std::min(50.0, 100.0 / most)));
    collisions += most > 2;
  }
  CHECK(collisions > 10);
}

TEST_CASE("kinds of messages slow each other down where they share links") {
  const Links links(nodes(), 16);  // two nodes of eight GPUs and four adapters
  std::vector<std::vector<int>> tensor, data;
  for (int n = 0; n < 2; ++n)
    for (int g = 0; g < 8; g += 4) tensor.push_back(ranks(8 * n + g, 8 * n + g + 4));
  for (int g = 0; g < 8; ++g) data.push_back({g, g + 8});
  // Groups within a node and groups of one GPU in each node share nothing.
  Slowdown s = slowdown(links, ring_flows(links, tensor, 1), ring_flows(links, data, 1));
  CHECK(s.first == Approx(1));
  CHECK(s.second == Approx(1));
  // Groups of two GPUs in each node: their rings take the GPUs' ports too, and are bound by their adapters.
  data.clear();
  for (int g = 0; g < 4; ++g) data.push_back({g, g + 4, g + 8, g + 12});
  s = slowdown(links, ring_flows(links, tensor, 1), ring_flows(links, data, 1));
  CHECK(s.first == Approx(2));
  CHECK(s.second == Approx(1));
  // Messages over the adapters that a ring fills, two flows on each.
  std::vector<std::pair<int, int>> messages;
  for (int g = 0; g < 8; ++g) messages.emplace_back(g, g + 8);
  data.clear();
  for (int g = 0; g < 8; ++g) data.push_back({g, g + 8});
  s = slowdown(links, message_flows(links, messages, 1), ring_flows(links, data, 1));
  CHECK(s.first == Approx(2));
  CHECK(s.second == Approx(2));
  CHECK(slowdown(links, Flows{}, ring_flows(links, data, 1)).second == 1);
}
