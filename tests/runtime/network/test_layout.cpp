// Ranks of groups, and layouts that are impossible.
#include <set>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

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
