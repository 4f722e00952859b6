// Launch records as JSON and as a table. No JSON library here: this is linked into students' programs.
#include <algorithm>
#include <cstdio>

#include "../simt.hpp"

namespace ridge::simt {

namespace {

const AccessCount& of(const KernelCounters& c, Op op) { return c.op[static_cast<std::size_t>(op)]; }

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char ch : text) {
    if (ch == '"' || ch == '\\') out += '\\';
    if (static_cast<unsigned char>(ch) < 0x20)
      out += ' ';
    else
      out += ch;
  }
  return out + '"';
}

void field(std::string& out, const char* name, std::uint64_t value, bool last = false) {
  out += '"';
  out += name;
  out += "\": " + std::to_string(value) + (last ? "" : ", ");
}

std::string triple(const unsigned v[3]) {
  return "[" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]) + "]";
}

void counters_json(std::string& out, const KernelCounters& c) {
  const auto &gl = of(c, Op::global_load), &gs = of(c, Op::global_store);
  const auto &sl = of(c, Op::shared_load), &ss = of(c, Op::shared_store);
  out += "{";
  field(out, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", gl.requests);
  field(out, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", gs.requests);
  field(out, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", gl.sectors);
  field(out, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", gs.sectors);
  field(out, "smsp__sass_inst_executed_op_shared_ld.sum", sl.requests);
  field(out, "smsp__sass_inst_executed_op_shared_st.sum", ss.requests);
  field(out, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", sl.wavefronts);
  field(out, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", ss.wavefronts);
  field(out, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", sl.conflicts);
  field(out, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", ss.conflicts);
  field(out, "ridge__ideal_sectors_global_op_ld.sum", gl.ideal_sectors);
  field(out, "ridge__ideal_sectors_global_op_st.sum", gs.ideal_sectors);
  field(out, "ridge__bytes_global_op_ld.sum", gl.bytes);
  field(out, "ridge__bytes_global_op_st.sum", gs.bytes);
  const auto &gr = of(c, Op::global_red), &ga = of(c, Op::global_atom), &sa = of(c, Op::shared_atom);
  field(out, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", gr.requests);
  field(out, "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", ga.requests);
  field(out, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", gr.sectors);
  field(out, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", ga.sectors);
  field(out, "smsp__sass_inst_executed_op_shared_atom.sum", sa.requests);
  field(out, "ridge__warp_operations.sum", c.warp_operations);
  field(out, "ridge__warp_basic_blocks.sum", c.warp_basic_blocks);
  field(out, "ridge__lane_basic_blocks.sum", c.lane_basic_blocks);
  field(out, "ridge__warp_instructions.sum", c.warp_instructions);
  field(out, "ridge__operations_fp32.sum", c.fp32);
  field(out, "ridge__operations_fp64.sum", c.fp64);
  field(out, "ridge__operations_special.sum", c.special);
  field(out, "ridge__operations_matrix.sum", c.matrix);
  field(out, "ridge__bytes_l1.sum", c.l1_bytes);
  field(out, "ridge__bytes_l2.sum", c.l2_bytes);
  field(out, "ridge__bytes_dram.sum", c.dram_bytes);
  field(out, "ridge__warps.sum", c.warps);
  field(out, "ridge__block_barriers.sum", c.barriers, true);
  out += "}";
}

void lines_json(std::string& out, const KernelCounters& c) {
  std::vector<std::pair<std::uint64_t, AccessCount>> lines(c.line.begin(), c.line.end());
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out += "[";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [key, n] = lines[i];
    out += i == 0 ? "{" : ", {";
    field(out, "pc", key / kOps);
    out += "\"op\": " + quoted(op_name(static_cast<Op>(key % kOps))) + ", ";
    field(out, "requests", n.requests);
    field(out, "lanes", n.lanes);
    field(out, "bytes", n.bytes);
    field(out, "sectors", n.sectors);
    field(out, "ideal_sectors", n.ideal_sectors);
    field(out, "wavefronts", n.wavefronts);
    field(out, "conflicts", n.conflicts, true);
    out += "}";
  }
  out += "]";
}

double per(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b); }

}  // namespace

std::string launches_json(const std::vector<LaunchRecord>& launches) {
  std::string out = "{\"launches\": [";
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const LaunchRecord& l = launches[i];
    out += i == 0 ? "\n" : ",\n";
    out +=
        "{\"kernel\": " + quoted(l.kernel) + ", \"grid\": " + triple(l.grid) + ", \"block\": " + triple(l.block) + ", ";
    field(out, "dynamic_shared", l.dynamic_shared);
    out += "\"counters\": ";
    counters_json(out, l.counters);
    out += ", \"lines\": ";
    lines_json(out, l.counters);
    out += "}";
  }
  return out + "\n]}\n";
}

std::string launches_table(const std::vector<LaunchRecord>& launches) {
  std::string out =
      "kernel                          grid             block        ld req  sect/req    st req  sect/req  "
      "bank conflicts  barriers\n";
  char row[512];
  for (const LaunchRecord& l : launches) {
    const auto &gl = of(l.counters, Op::global_load), &gs = of(l.counters, Op::global_store);
    std::string grid = std::to_string(l.grid[0]) + "x" + std::to_string(l.grid[1]) + "x" + std::to_string(l.grid[2]);
    std::string block =
        std::to_string(l.block[0]) + "x" + std::to_string(l.block[1]) + "x" + std::to_string(l.block[2]);
    std::snprintf(row, sizeof row, "%-30.30s  %-15s  %-11s %8llu  %8.2f  %8llu  %8.2f  %14llu  %8llu\n",
                  l.kernel.c_str(), grid.c_str(), block.c_str(), static_cast<unsigned long long>(gl.requests),
                  per(gl.sectors, gl.requests), static_cast<unsigned long long>(gs.requests),
                  per(gs.sectors, gs.requests),
                  static_cast<unsigned long long>(of(l.counters, Op::shared_load).conflicts +
                                                  of(l.counters, Op::shared_store).conflicts),
                  static_cast<unsigned long long>(l.counters.barriers));
    out += row;
  }
  return out;
}

}  // namespace ridge::simt
