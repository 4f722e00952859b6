// Counters of bulk copies and of wgmma, by arithmetic on the shapes that benchmarks/fidelity/hopper.cu launches.
#include <map>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

namespace {

using Launches = std::map<std::string, std::map<std::string, long>>;

// "tma_load_2d.1": its counters.
Launches counted() {
  Folder scratch;
  const std::string program = scratch / "hopper", file = scratch / "counters.json";
  Run r = run({ridge_program(), "cc", repository() + std::string("/benchmarks/fidelity/hopper.cu"), "-o", program},
              {{"RIDGE_ROOT", repository()}}, 120);
  INFO(r.out + r.err);
  REQUIRE(r.code == 0);
  r = run({program}, {{"RIDGE_COUNTERS", file}}, 120);
  INFO(r.out + r.err);
  REQUIRE(r.code == 0);
  Launches all;
  std::map<std::string, int> seen;
  const nlohmann::json recorded = nlohmann::json::parse(read_file(file));
  for (const auto& l : recorded["launches"]) {
    const std::string kernel = l["kernel"];
    auto& counters = all[kernel + "." + std::to_string(++seen[kernel])];
    for (const auto& [name, value] : l["counters"].items()) counters[name] = value.get<long>();
  }
  return all;
}

}  // namespace

TEST_CASE("bulk copies and products are counted") {
  const Launches all = counted();
  const auto at = [&](const std::string& launch, const std::string& counter) {
    INFO(launch << " " << counter);
    REQUIRE(all.count(launch) == 1);
    const auto found = all.at(launch).find(counter);
    return found == all.at(launch).end() ? -1 : found->second;
  };
  const std::string read = "ridge__sectors_bulk_op_ld.sum",
                    delivered = "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum",
                    written = "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
                    reduced = "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum",
                    loads = "smsp__sass_inst_executed_op_tma_ld.sum", brought = "ridge__bytes_bulk_to_shared.sum",
                    wgmma = "sm__inst_executed_pipe_tensor_op_gmma.sum";
  // 4 boxes of 64 rows of 128 bytes, whatever the swizzle.
  CHECK(at("tma_load_2d.1", read) == 4 * 64 * 4);
  CHECK(at("tma_load_2d.4", read) == 4 * 64 * 4);
  CHECK(at("tma_load_2d.1", loads) == 4);
  // The tensor has 104 x 40 of the 128 x 64: what lies outside is brought as zeros, and not read.
  CHECK(at("tma_load_2d.5", read) == 40 * 104 / 8);
  CHECK(at("tma_load_2d.5", delivered) == 4 * 64 * 4);  // as an H200 counts, which also has the following figures
  CHECK(at("tma_load_2d.6", delivered) == 4 * 16 * 4);
  CHECK(at("tma_load_2d.7", delivered) == 16 * (5 + 4 + 5 + 4));
  CHECK(at("tma_multicast_4.1", delivered) == 8 * 64 * 4);
  CHECK(at("stmatrix_rows.2", "smsp__sass_inst_executed_op_shared_st.sum") == 0);
  CHECK(at("tma_load_2d.5", brought) == 4 * 64 * 128);
  // Boxes of 32 floats from the floats 4, 40, 76 (of 104) on: 5 sectors a row, 16 rows; the one from 112 on is outside.
  CHECK(at("tma_load_2d.7", read) == 16 * (5 + 4 + 4));
  CHECK(at("tma_load_3d.1", read) == 4 * 4 * 8 * 4);
  CHECK(at("bulk_load.2", read) == 4 * 16384 / 32);
  // One copy of 64 x 128 bytes for each cluster.
  CHECK(at("tma_multicast_4.1", read) == 2 * 64 * 4);
  CHECK(at("tma_multicast_4.1", brought) == 8 * 64 * 128);
  CHECK(at("tma_store_2d.3", written) == 40 * 104 / 8);
  CHECK(at("tma_store_2d.3", reduced) == 0);
  CHECK(at("tma_add_2d.3", reduced) == 40 * 104 / 8);
  CHECK(at("bulk_add.1", reduced) == 4 * 2048 / 32);
  // Rings: as many bytes under way as they have stages.
  for (long stages : {1, 2, 4}) {
    const std::string launch = "tma_ring." + std::to_string(stages == 4 ? 3 : stages);
    CHECK(at(launch, "ridge__bytes_bulk_under_way.max") == stages * 16384);
    CHECK(at(launch, "ridge__bulk_phases.sum") == 132 * 7);
  }
  // 4 blocks, 4 warps, 8 products. A warpgroup reads 2 KiB of the left factor and 32 n bytes of the right one.
  CHECK(at("wgmma_bf16_n8.1", wgmma) == 128);
  CHECK(at("wgmma_bf16_n8.1", "ridge__wavefronts_wgmma.sum") == 32 * (16 + 2));
  CHECK(at("wgmma_bf16_n64.1", "ridge__wavefronts_wgmma.sum") == 32 * (16 + 16));
  CHECK(at("wgmma_bf16_registers_n8.1", "ridge__wavefronts_wgmma.sum") == 32 * 2);
  CHECK(at("wgmma_e4m3_n8.1", "ridge__operations_matrix.sum") == 32 * 2 * 64 * 8 * 32);
  CHECK(at("stmatrix_rows.2", written) == -1);  // a kernel without bulk copies has no such counter
}
