#include "grader/measure/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "formats/json_fields.hpp"
#include "formats/stream_name.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"

namespace ridge {

using nlohmann::json;

namespace {

using Place = std::pair<std::string, int>;

using Frames = std::vector<Place>;

std::vector<Frames> ask_for_frames(const fs::path& program, const std::vector<std::uint64_t>& offsets) {
  std::vector<Frames> found(offsets.size());
  constexpr std::size_t kBatch = 512;
  for (std::size_t first = 0; first < offsets.size(); first += kBatch) {
    std::vector<std::string> argv = {"addr2line", "-a", "-i", "-e", program.string()};
    std::size_t last = std::min(offsets.size(), first + kBatch);
    for (std::size_t i = first; i < last; ++i) argv.push_back(fmt::format("{:#x}", offsets[i]));
    ProcessLimits limits;
    limits.output_bytes = 4 << 20;
    Sandbox sandbox = builder_sandbox({}, {program});
    ProcessResult r = run_process(argv, {}, limits, &sandbox);
    std::istringstream lines(r.output);
    std::size_t at = first;
    bool started = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("0x", 0) == 0) {
        if (started) ++at;
        started = true;
        if (at >= last) break;
        continue;
      }
      auto colon = line.rfind(':');
      if (!started || colon == std::string::npos || line[0] == '?') continue;
      std::string file = line.substr(0, colon);
      if (file.find("/simt/include/") != std::string::npos || file.find("/c++/") != std::string::npos) continue;
      found[at].emplace_back(fs::path(file).filename().string(), std::atoi(line.c_str() + colon + 1));
    }
  }
  return found;
}

// The outermost frame has the line of the kernel that the student wrote.
std::vector<Place> ask_for_lines(const fs::path& program, const std::vector<std::uint64_t>& offsets) {
  std::vector<Place> found;
  for (const Frames& frames : ask_for_frames(program, offsets))
    found.push_back(frames.empty() ? Place{} : frames.back());
  return found;
}

// Where the compiler merged the code of two lines, it names the file and line 0. The instruction before has a line.
std::vector<Place> find_lines(const fs::path& program, const std::vector<std::uint64_t>& offsets) {
  constexpr std::uint64_t kBefore = 96;     // bytes
  constexpr std::size_t kMostMerged = 256;  // places
  std::vector<Place> found = ask_for_lines(program, offsets);
  std::vector<std::size_t> merged;
  std::vector<std::uint64_t> before;
  for (std::size_t i = 0; i < found.size() && merged.size() < kMostMerged; ++i)
    if (!found[i].first.empty() && found[i].second == 0) {
      merged.push_back(i);
      for (std::uint64_t back = 1; back <= kBefore; ++back) before.push_back(offsets[i] - std::min(back, offsets[i]));
    }
  if (merged.empty()) return found;
  const std::vector<Place> nearby = ask_for_lines(program, before);
  for (std::size_t m = 0; m < merged.size(); ++m) {
    Place& place = found[merged[m]];
    for (std::size_t k = 0; k < kBefore && place.second == 0; ++k)
      if (const Place& p = nearby[m * kBefore + k]; p.first == place.first) place.second = p.second;
  }
  return found;
}

// What was found in one program: a lab's cases ask for the same places again, and each addr2line starts a sandbox.
template <class What>
struct Known {
  fs::path program;
  fs::file_time_type written;
  std::map<std::uint64_t, What> at;

  std::vector<What> of(const fs::path& asked_program, const std::vector<std::uint64_t>& offsets,
                       std::vector<What> (*find)(const fs::path&, const std::vector<std::uint64_t>&)) {
    std::error_code ec;
    const fs::file_time_type now = fs::last_write_time(asked_program, ec);
    if (program != asked_program || written != now) program = asked_program, written = now, at.clear();
    std::vector<std::uint64_t> asked;
    for (std::uint64_t offset : offsets)
      if (!at.contains(offset)) asked.push_back(offset);
    std::sort(asked.begin(), asked.end());
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    if (!asked.empty()) {
      const std::vector<What> found = find(program, asked);
      for (std::size_t i = 0; i < asked.size(); ++i) at[asked[i]] = found[i];
    }
    std::vector<What> all;
    for (std::uint64_t offset : offsets) all.push_back(at[offset]);
    return all;
  }
};

}  // namespace

std::vector<Place> source_lines(const fs::path& program, const std::vector<std::uint64_t>& offsets) {
  static std::mutex mutex;
  static Known<Place> known;
  std::lock_guard lock(mutex);
  return known.of(program, offsets, find_lines);
}

std::vector<std::vector<Place>> source_frames(const fs::path& program, const std::vector<std::uint64_t>& offsets) {
  static std::mutex mutex;
  static Known<Frames> known;
  std::lock_guard lock(mutex);
  return known.of(program, offsets, ask_for_frames);
}

namespace {

std::optional<std::pair<std::int64_t, std::int64_t>> lane_step(const json& line) {
  auto at = line.find("lane_step");
  if (at == line.end() || !at->is_array() || at->size() != 2) return std::nullopt;
  for (const json& v : *at)
    if (!v.is_number_integer()) return std::nullopt;
  return std::pair{(*at)[0].get<std::int64_t>(), (*at)[1].get<std::int64_t>()};
}

constexpr std::size_t kMaxParts = 256;

constexpr std::size_t kMostText = 256;

// [peer, sent, bytes, channel, number, latency, seconds a byte]
std::vector<Timeline::Item::Part> parts_of(const json& j) {
  std::vector<Timeline::Item::Part> all;
  if (!j.contains("parts") || !j["parts"].is_array()) return all;
  for (const json& p : j["parts"]) {
    std::uint64_t v[5] = {};
    for (std::size_t i = 0; i < 5 && p.is_array() && i < p.size(); ++i)
      if (p[i].is_number_unsigned()) v[i] = p[i].get<std::uint64_t>();
    double link[2] = {};
    for (std::size_t i = 0; i < 2 && p.is_array() && 5 + i < p.size(); ++i)
      if (p[5 + i].is_number()) link[i] = p[5 + i].get<double>();
    if (all.size() < kMaxParts) all.push_back({v[0], v[1], v[2], v[3], v[4], link[0], link[1]});
  }
  return all;
}

constexpr std::size_t kMaxListed = 4096;  // as many as the emulator lists
constexpr std::size_t kMaxWaits = 64;

std::vector<std::uint64_t> waits_of(const json& j) {
  std::vector<std::uint64_t> all;
  if (!j.contains("waits") || !j["waits"].is_array()) return all;
  for (const json& w : j["waits"])
    if (w.is_number_unsigned() && all.size() < kMaxWaits) all.push_back(w.get<std::uint64_t>());
  return all;
}

Timeline read_timeline(const json& j) {
  Timeline t;
  t.seconds = number_at(j, "seconds");
  t.launches = number_at(j, "launches");
  t.left_out = count_at(j, "left_out");
  if (j.contains("stream")) t.stream = static_cast<int>(count_at(j, "stream"));
  t.graphs_made = count_at(j, "graphs_made");
  t.graphs_changed = count_at(j, "graphs_changed");
  auto listed = [&](const char* key, auto take) {
    if (!j.contains(key) || !j[key].is_array()) return;
    for (std::size_t i = 0; i < std::min(j[key].size(), kMaxListed); ++i)
      if (j[key][i].is_object()) take(j[key][i]);
    t.left_out += j[key].size() - std::min(j[key].size(), kMaxListed);
  };
  listed("items", [&](const json& i) {
    t.items.push_back({text_at(i, "name", kMostText), text_at(i, "kind", kMostText),
                       static_cast<int>(count_at(i, "stream")), number_at(i, "issued"), number_at(i, "start"),
                       number_at(i, "end"), number_at(i, "bytes"), triple_at(i, "grid"), triple_at(i, "block"),
                       count_at(i, "graph"), parts_of(i), waits_of(i), count_at(i, "pageable") != 0,
                       count_at(i, "source"), count_at(i, "unwaited") != 0});
  });
  listed("calls", [&](const json& c) {
    t.calls.push_back({text_at(c, "name", kMostText), number_at(c, "start"), number_at(c, "end")});
  });
  listed("streams", [&](const json& s) {
    t.streams[static_cast<int>(count_at(s, "stream"))] = {text_at(s, "name", kMostText), count_at(s, "made_at"),
                                                          count_at(s, "nth")};
  });
  return t;
}

// A variable's name for the streams to which the submission gave none. The sources lie beside the program.
void name_streams(Timeline& t, const fs::path& program) {
  std::vector<MadeStream> made;
  std::vector<Timeline::Stream*> unnamed;
  std::vector<std::uint64_t> places;
  for (auto& [number, stream] : t.streams) {
    if (!stream.name.empty() || stream.made_at == 0) continue;
    made.push_back({stream.made_at, static_cast<std::size_t>(stream.nth), {}});
    unnamed.push_back(&stream);
    places.push_back(stream.made_at);
  }
  if (places.empty()) return;
  const std::vector<Frames> frames = source_frames(program, places);
  for (std::size_t i = 0; i < made.size(); ++i) made[i].frames = frames[i];
  const auto variables = stream_variables(made, [&](const std::string& file) {
    std::vector<std::string> lines;
    std::ifstream in(program.parent_path() / "src" / file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  });
  for (std::size_t i = 0; i < made.size(); ++i) unnamed[i]->name = variables[i];
}

// More accesses than a lab's kernels have: finding the lines of so many would hold up the judge.
constexpr std::size_t kMaxOffsets = 1 << 14;

using LineKey = std::tuple<std::string, int, std::string>;

}  // namespace

Counted count_launches(const std::string& text, const fs::path& program) {
  Counted c = count_launches(text, [&](const auto& offsets) { return source_lines(program, offsets); });
  name_streams(c.timeline, program);
  return c;
}

Counted count_launches(const std::string& text, const LineFinder& lines_of) {
  Counted c;
  json records = json::parse(text, nullptr, false);
  if (!records.is_object() || !records.contains("launches") || !records["launches"].is_array()) return c;

  if (records.contains("transfers") && records["transfers"].is_object()) {
    const json& t = records["transfers"];
    c.from_host = static_cast<double>(count_at(t, "from_host"));
    c.to_host = static_cast<double>(count_at(t, "to_host"));
    c.on_device = static_cast<double>(count_at(t, "on_device"));
    c.filled = static_cast<double>(count_at(t, "filled"));
  }
  if (records.contains("schedule") && records["schedule"].is_object()) c.timeline = read_timeline(records["schedule"]);
  std::map<std::uint64_t, std::pair<std::string, int>> where;
  for (const auto& launch : records["launches"])
    if (launch.is_object() && launch.contains("lines") && launch["lines"].is_array())
      for (const auto& line : launch["lines"])
        if (line.is_object()) where[count_at(line, "pc")];
  if (where.size() > kMaxOffsets) return c;
  std::vector<std::uint64_t> offsets;
  for (const auto& [pc, unused] : where) offsets.push_back(pc);
  auto lines = lines_of(offsets);
  for (std::size_t i = 0; i < offsets.size(); ++i) where[offsets[i]] = lines[i];

  std::map<std::string, std::pair<KernelCount, std::map<LineKey, LineCount>>> kernels;
  for (const auto& launch : records["launches"]) {
    if (!launch.is_object() || !launch.contains("kernel") || !launch["kernel"].is_string()) continue;
    auto& [k, by_line] = kernels[launch["kernel"].get<std::string>()];
    if (k.launches++ == 0) {
      k.kernel = launch["kernel"].get<std::string>();
      k.grid = triple_at(launch, "grid");
      k.block = triple_at(launch, "block");
    }
    if (launch.contains("counters") && launch["counters"].is_object())
      for (const auto& [name, value] : launch["counters"].items())
        if (value.is_number_unsigned()) k.counters[name] += value.get<std::uint64_t>();
    if (!launch.contains("lines") || !launch["lines"].is_array()) continue;
    for (const auto& line : launch["lines"]) {
      if (!line.is_object() || !line.contains("op") || !line["op"].is_string()) continue;
      const auto& [file, number_of] = where[count_at(line, "pc")];
      LineCount& n = by_line[{file, number_of, line["op"].get<std::string>()}];
      n.file = file;
      n.line = number_of;
      n.op = line["op"].get<std::string>();
      n.requests += count_at(line, "requests");
      n.sectors += count_at(line, "sectors");
      n.ideal_sectors += count_at(line, "ideal_sectors");
      n.wavefronts += count_at(line, "wavefronts");
      n.conflicts += count_at(line, "conflicts");
      n.lanes += count_at(line, "lanes");
      n.bytes += count_at(line, "bytes");
      if (auto step = lane_step(line)) {
        if (!n.lane_step) n.lane_step = step;
        n.lane_step = {std::min(n.lane_step->first, step->first), std::max(n.lane_step->second, step->second)};
      }
    }
  }

  for (auto& [name, entry] : kernels) {
    auto& [k, by_line] = entry;
    for (const auto& [key, n] : by_line) {
      k.lines.push_back(n);
      if (n.op.rfind("global", 0) == 0) {
        c.global_sectors += static_cast<double>(n.sectors);
      } else {
        c.shared_requests += static_cast<double>(n.requests);
        c.shared_conflicts += static_cast<double>(n.conflicts);
      }
    }
    // Bulk copies (TMA), which have no lines.
    for (const char* bulk :
         {"ridge__sectors_bulk_op_ld.sum", "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
          "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum"})
      if (const auto at = k.counters.find(bulk); at != k.counters.end())
        c.global_sectors += static_cast<double>(at->second);
    c.kernels.push_back(std::move(k));
  }
  return c;
}

DeviceLog device_log(const std::string& text) {
  const json j = json::parse(text, nullptr, false);
  DeviceLog log;
  if (!j.is_object()) return log;
  if (j.contains("launches") && j["launches"].is_array()) log.launches = static_cast<double>(j["launches"].size());
  if (j.contains("transfers") && j["transfers"].is_object()) {
    log.bytes_from_host = static_cast<double>(count_at(j["transfers"], "from_host"));
    log.bytes_to_host = static_cast<double>(count_at(j["transfers"], "to_host"));
  }
  if (!j.contains("schedule") || !j["schedule"].is_object() || !j["schedule"].contains("file_parts")) return log;
  for (const json& p : j["schedule"]["file_parts"]) {
    if (!p.is_array() || p.size() != 5 || !p[0].is_number_unsigned() || !p[1].is_number_integer()) continue;
    double v[3] = {-1, -1, -1};
    for (std::size_t i = 0; i < 3; ++i)
      if (p[2 + i].is_number()) v[i] = p[2 + i].get<double>();
    log.files.push_back({p[0].get<std::uint64_t>(), p[1].get<int>(), v[0], v[1], v[2]});
  }
  return log;
}

}  // namespace ridge
