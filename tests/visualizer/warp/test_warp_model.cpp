// Sectors, banks and sentences of single requests, against counting by hand and by brute force.
#include <bit>
#include <map>
#include <random>
#include <set>

#include "support/catch.hpp"
#include "warp/warp_model.hpp"

using namespace ridge::viz;

namespace {

WarpRequest request(WarpOp op, unsigned size, std::uint64_t base, std::int64_t stride, std::uint32_t lanes = ~0u) {
  WarpRequest r;
  r.op = op;
  r.size = size;
  r.lanes = lanes;
  for (unsigned l = 0; l < 32; ++l) r.address[l] = base + static_cast<std::uint64_t>(stride * l);
  return r;
}

}  // namespace

TEST_CASE("sectors of coalesced, shifted, strided and scattered requests") {
  const auto sectors = [](const WarpRequest& r) { return global_picture(r).sectors.size(); };
  CHECK(sectors(request(WarpOp::global_load, 4, 4096, 4)) == 4);
  CHECK(sectors(request(WarpOp::global_load, 4, 4100, 4)) == 5);
  CHECK(sectors(request(WarpOp::global_load, 4, 4096, 8)) == 8);
  CHECK(sectors(request(WarpOp::global_load, 4, 4096, 4096)) == 32);
  CHECK(sectors(request(WarpOp::global_load, 16, 4096, 16)) == 16);
  CHECK(sectors(request(WarpOp::global_load, 4, 4096, 0)) == 1);
  CHECK(sectors(request(WarpOp::global_load, 4, 4096, 4, 0x80000001)) == 2);
  const GlobalPicture p = global_picture(request(WarpOp::global_load, 4, 4096, 128));
  CHECK(p.lines.size() == 32);
  CHECK(p.used_bytes == 128);
  CHECK(p.ideal == 4);
}

TEST_CASE("a sector's lanes and bytes are those that touch it") {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    WarpRequest r = request(WarpOp::global_load, 1u << (random() % 5), 0, 0, static_cast<std::uint32_t>(random()) | 1);
    for (auto& a : r.address) a = (random() % 4096) * r.size;
    std::map<std::uint64_t, std::set<unsigned>> lanes;
    std::set<std::uint64_t> bytes;
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned b = 0; b < r.size && (r.lanes >> l & 1) != 0; ++b) {
        lanes[(r.address[l] + b) / 32].insert(l);
        bytes.insert(r.address[l] + b);
      }
    const GlobalPicture p = global_picture(r);
    REQUIRE(p.sectors.size() == lanes.size());
    REQUIRE(p.used_bytes == bytes.size());
    for (const SectorUse& s : p.sectors) {
      std::uint32_t mask = 0;
      for (unsigned l : lanes.at(s.sector)) mask |= 1u << l;
      REQUIRE(s.lanes == mask);
    }
  }
}

TEST_CASE("wavefronts of shared memory: strides, broadcasts, wide accesses") {
  const auto waves = [](const WarpRequest& r) { return shared_picture(r).wavefronts.size(); };
  for (unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
    INFO(stride);
    CHECK(waves(request(WarpOp::shared_load, 4, 0, 4 * stride)) == stride);
  }
  for (unsigned stride : {3u, 5u, 31u, 33u}) CHECK(waves(request(WarpOp::shared_load, 4, 0, 4 * stride)) == 1);
  CHECK(waves(request(WarpOp::shared_load, 4, 64, 0)) == 1);
  CHECK(waves(request(WarpOp::shared_load, 1, 0, 1)) == 1);
  // As measured on an H200 (runtime/simt/README.md).
  CHECK(waves(request(WarpOp::shared_load, 8, 0, 8)) == 2);
  CHECK(waves(request(WarpOp::shared_load, 8, 0, 24)) == 2);
  CHECK(waves(request(WarpOp::shared_load, 8, 0, 16)) == 4);
  CHECK(waves(request(WarpOp::shared_load, 8, 0, 0)) == 1);
  CHECK(waves(request(WarpOp::shared_load, 16, 0, 16)) == 4);
  CHECK(shared_picture(request(WarpOp::shared_load, 16, 0, 16)).conflicts == 0);
}

TEST_CASE("a wavefront serves one word of each bank, and every lane is served") {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    WarpRequest r = request(i % 2 ? WarpOp::shared_load : WarpOp::shared_store, 1u << (random() % 5), 0, 0,
                            static_cast<std::uint32_t>(random()) | 1);
    for (auto& a : r.address) a = (random() % 2048) * r.size;
    const SharedPicture p = shared_picture(r);
    std::map<unsigned, std::set<std::uint64_t>> wanted, served;
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned b = 0; b < r.size && (r.lanes >> l & 1) != 0; ++b) wanted[l].insert((r.address[l] + b) / 4);
    for (const Wavefront& w : p.wavefronts) {
      std::set<unsigned> banks;
      for (const BankCell& c : w.cells) {
        REQUIRE(c.bank == c.word % 32);
        REQUIRE(banks.insert(c.bank).second);
        for (unsigned l = 0; l < 32; ++l)
          if ((c.lanes >> l & 1) != 0) {
            REQUIRE(l / p.part_lanes == w.part);
            served[l].insert(c.word);
          }
      }
      REQUIRE_FALSE(w.cells.empty());
    }
    REQUIRE(served == wanted);
    REQUIRE(p.conflicts == p.wavefronts.size() - p.parts);
  }
}

TEST_CASE("a sentence says why") {
  CHECK(explain(request(WarpOp::global_load, 4, 4096, 4096)) ==
        "Neighbouring lanes are 4096 bytes apart: 32 sectors where 4 would do. Of the 1024 bytes moved, 128 are used.");
  CHECK(explain(request(WarpOp::global_load, 4, 4100, 4)) ==
        "Neighbouring lanes are neighbours in memory, but the first begins 4 bytes into a sector: 5 sectors where 4 "
        "would do.");
  CHECK(explain(request(WarpOp::shared_load, 4, 0, 0)) ==
        "All 32 lanes read the same word: one wavefront, a broadcast. No conflict.");
  CHECK(
      explain(request(WarpOp::shared_load, 4, 0, 128)) ==
      "Neighbouring lanes are 32 words apart, a multiple of the 32 banks: all want bank 0. 32 wavefronts where 1 would "
      "do. One word of padding in a row would spread them.");
  CHECK(explain_lanes(0xFFFF, ~0u) ==
        "16 of 32 lanes go this way; the other 16 wait until they are done. 50% of the warp works.");
}
