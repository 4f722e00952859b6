// Launch records as JSON and as a table. No JSON library here: this is linked into students' programs.
#include <algorithm>
#include <cstdio>

#include "device/source_lines.hpp"
#include "launch/launch_record.hpp"
#include "launch/time_model.hpp"

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

std::string index_text(const unsigned v[3]) {
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
  field(out, "smsp__sass_inst_executed_op_shared_st.sum", ss.requests - std::min(ss.requests, c.async.stmatrix));
  if (c.async.stmatrix != 0) field(out, "ridge__stmatrix.sum", c.async.stmatrix);
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
  field(out, "ridge__load_waits.sum", c.load_waits);
  field(out, "ridge__operations_fp32.sum", c.fp32);
  field(out, "ridge__operations_fp64.sum", c.fp64);
  field(out, "ridge__operations_special.sum", c.special);
  field(out, "ridge__operations_matrix.sum", c.matrix);
  field(out, "ridge__lines_l1.sum", c.l1_lines);
  field(out, "ridge__bytes_l1.sum", c.l1_bytes);
  field(out, "ridge__bytes_l2.sum", c.l2_bytes);
  field(out, "ridge__bytes_dram.sum", c.dram_bytes);
  field(out, "ridge__atomic_turns_busiest_line.max", c.busiest_atomic_line());
  field(out, "ridge__shared_wavefronts_atom.sum", sa.wavefronts);
  field(out, "ridge__shared_conflicts_atom.sum", sa.conflicts);
  field(out, "ridge__requests_constant.sum", c.constant_requests);
  field(out, "ridge__turns_constant.sum", c.constant_turns);
  field(out, "ridge__requests_local_op_ld.sum", (c.local_loads + c.lane_local_loads / kWarpSize) >> 8);
  field(out, "ridge__requests_local_op_st.sum", (c.local_stores + c.lane_local_stores / kWarpSize) >> 8);
  field(out, "ridge__bytes_link_op_ld.sum", c.link_read);
  field(out, "ridge__bytes_link_op_st.sum", c.link_written);
  field(out, "ridge__lane_instructions.sum", c.lane_instructions);
  field(out, "ridge__longest_thread_instructions.max", c.longest_thread);
  field(out, "ridge__memory_barriers.sum", c.memory_barriers);
  if (const AsyncCounters& a = c.async; a.copies() != 0) {
    field(out, "smsp__sass_inst_executed_op_tma_ld.sum", a.loads);
    field(out, "smsp__sass_inst_executed_op_tma_st.sum", a.stores);
    field(out, "smsp__sass_inst_executed_op_tma_red.sum", a.reductions);
    field(out, "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", a.delivered_sectors);
    field(out, "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum", a.store_sectors);
    field(out, "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum", a.reduction_sectors);
    field(out, "ridge__bulk_copies.sum", a.copies());
    field(out, "ridge__sectors_bulk_op_ld.sum", a.load_sectors);
    field(out, "ridge__bytes_bulk_op_ld.sum", a.bytes_read);
    field(out, "ridge__bytes_bulk_op_st.sum", a.bytes_written);
    field(out, "ridge__bytes_bulk_to_shared.sum", a.brought);
    field(out, "ridge__bulk_phases.sum", a.phases);
    field(out, "ridge__bytes_bulk_under_way.max", a.under_way);
  }
  if (const AsyncCounters& a = c.async; a.wgmma != 0) {
    field(out, "sm__inst_executed_pipe_tensor_op_gmma.sum", a.wgmma);
    field(out, "ridge__wavefronts_wgmma.sum", a.wgmma_wavefronts);
  }
  field(out, "ridge__warps.sum", c.warps);
  field(out, "ridge__block_barriers.sum", c.barriers, true);
  out += "}";
}

using Lines = std::map<std::uint32_t, SourceLine>;

Lines lines_of(const std::vector<LaunchRecord>& launches) {
  std::vector<std::uint32_t> pcs;
  for (const LaunchRecord& l : launches)
    for (const auto& [key, n] : l.counters.line) pcs.push_back(static_cast<std::uint32_t>(key / kOps));
  std::sort(pcs.begin(), pcs.end());
  pcs.erase(std::unique(pcs.begin(), pcs.end()), pcs.end());
  return source_lines(pcs);
}

void lines_json(std::string& out, const KernelCounters& c, const Lines& sources) {
  std::vector<std::pair<std::uint64_t, AccessCount>> lines(c.line.begin(), c.line.end());
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out += "[";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [key, n] = lines[i];
    out += i == 0 ? "{" : ", {";
    field(out, "pc", key / kOps);
    if (auto at = sources.find(static_cast<std::uint32_t>(key / kOps)); at != sources.end()) {
      out += "\"file\": " + quoted(at->second.file) + ", ";
      field(out, "line", static_cast<std::uint64_t>(at->second.line));
    }
    out += "\"op\": " + quoted(op_name(static_cast<Op>(key % kOps))) + ", ";
    field(out, "requests", n.requests);
    field(out, "lanes", n.lanes);
    field(out, "bytes", n.bytes);
    field(out, "sectors", n.sectors);
    field(out, "ideal_sectors", n.ideal_sectors);
    field(out, "wavefronts", n.wavefronts);
    if (n.step_min <= n.step_max)
      out += "\"lane_step\": [" + std::to_string(n.step_min) + ", " + std::to_string(n.step_max) + "], ";
    field(out, "conflicts", n.conflicts, true);
    out += "}";
  }
  out += "]";
}

double per(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b); }

}  // namespace

namespace {

Occupancy occupancy_of(const LaunchRecord& l) {
  return theoretical_occupancy(device_profile(), l.block[0] * l.block[1] * l.block[2],
                               l.dynamic_shared + l.resources.static_shared, l.resources.registers);
}

}  // namespace

std::string launches_json(const std::vector<LaunchRecord>& launches, bool with_lines) {
  Lines sources;
  if (with_lines) sources = lines_of(launches);
  std::string out = "{\"launches\": [";
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const LaunchRecord& l = launches[i];
    out += i == 0 ? "\n" : ",\n";
    out += "{\"kernel\": " + quoted(l.kernel) + ", \"grid\": " + index_text(l.grid) +
           ", \"block\": " + index_text(l.block) + ", ";
    field(out, "dynamic_shared", l.dynamic_shared);
    field(out, "static_shared", l.resources.static_shared);
    field(out, "registers", l.resources.registers);
    const Occupancy o = occupancy_of(l);
    out += "\"occupancy\": {";
    field(out, "blocks_per_sm", o.blocks_per_sm);
    field(out, "warps_per_sm", o.warps_per_sm);
    out += "\"limited_by\": " + quoted(o.limited_by) + "}, ";
    out += "\"counters\": ";
    counters_json(out, l.counters);
    out += ", \"lines\": ";
    lines_json(out, l.counters, sources);
    out += "}";
  }
  return out + "\n]}\n";
}

namespace {

std::string row(const char* format, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

unsigned long long number(std::uint64_t n) { return n; }

// The lines that cost most beyond what is needed: sectors over the ideal, bank conflicts.
std::string worst_lines(const KernelCounters& c, const Lines& sources) {
  struct Cost {
    std::uint64_t waste;
    SourceLine at;
    Op op;
    AccessCount n;
  };
  std::map<std::pair<SourceLine, Op>, AccessCount> by_line;
  for (const auto& [key, n] : c.line)
    if (auto at = sources.find(static_cast<std::uint32_t>(key / kOps)); at != sources.end())
      by_line[{at->second, static_cast<Op>(key % kOps)}].add(n);
  std::vector<Cost> costs;
  for (const auto& [at, n] : by_line) {
    std::uint64_t waste = n.sectors > n.ideal_sectors ? n.sectors - n.ideal_sectors : 0;
    if (waste * 4 < n.sectors) waste = 0;  // edges and offsets
    waste += n.conflicts;
    if (waste != 0) costs.push_back({waste, at.first, at.second, n});
  }
  std::sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.waste > b.waste; });
  constexpr std::size_t kShown = 5;
  if (costs.size() > kShown) costs.resize(kShown);
  std::string out;
  for (const Cost& k : costs) {
    std::string where = k.at.file + ":" + std::to_string(k.at.line);
    if (is_global(k.op))
      out += row("  %s: %s asks for %.1f sectors a request; the bytes fit in %.1f\n", where.c_str(), op_name(k.op),
                 per(k.n.sectors, k.n.requests), per(k.n.ideal_sectors, k.n.requests));
    else
      out += row("  %s: %s takes %.1f wavefronts a request: %llu bank conflicts\n", where.c_str(), op_name(k.op),
                 per(k.n.wavefronts, k.n.requests), number(k.n.conflicts));
  }
  return out;
}

}  // namespace

std::string launches_table(const std::vector<LaunchRecord>& launches) {
  Lines sources = lines_of(launches);
  std::string out =
      "kernel                    grid          block        ld req  sect/req    st req  sect/req  atomics  conflicts  "
      "barriers  lanes active  occupancy\n";
  for (const LaunchRecord& l : launches) {
    const KernelCounters& c = l.counters;
    const auto &gl = of(c, Op::global_load), &gs = of(c, Op::global_store);
    auto size = [](const unsigned v[3]) {
      return std::to_string(v[0]) + "x" + std::to_string(v[1]) + "x" + std::to_string(v[2]);
    };
    std::uint64_t atomics =
        of(c, Op::global_red).requests + of(c, Op::global_atom).requests + of(c, Op::shared_atom).requests;
    std::uint64_t conflicts = of(c, Op::shared_load).conflicts + of(c, Op::shared_store).conflicts;
    out +=
        row("%-24.24s  %-12s  %-10s %8llu  %8.2f  %8llu  %8.2f  %7llu  %9llu  %8llu  ", l.kernel.c_str(),
            size(l.grid).c_str(), size(l.block).c_str(), number(gl.requests), per(gl.sectors, gl.requests),
            number(gs.requests), per(gs.sectors, gs.requests), number(atomics), number(conflicts), number(c.barriers));
    const Occupancy o = occupancy_of(l);
    out += c.warp_basic_blocks == 0 ? "           -"
                                    : row("%11.0f%%", 100 * per(c.lane_basic_blocks, 32 * c.warp_basic_blocks));
    out += row("  %3.0f%% (%s)\n", 100 * o.share, o.limited_by);
    out += worst_lines(c, sources);
  }
  return out;
}

}  // namespace ridge::simt
