#include "grader/measure/warp_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge {

using nlohmann::json;

namespace {

constexpr std::size_t kMostBytes = 1 << 20;  // usually 20 to 200 KB
constexpr std::size_t kMostOffsets = 4096;
constexpr std::size_t kMostSource = 64 << 10;

template <class F>
void for_places(json& warp, F f) {
  if (!warp.contains("kernels") || !warp["kernels"].is_array()) return;
  for (json& kernel : warp["kernels"])
    for (const char* list : {"lines", "blocks"})
      if (kernel.is_object() && kernel.contains(list) && kernel[list].is_array())
        for (json& place : kernel[list])
          if (place.is_object() && place.contains("pc") && place["pc"].is_number_unsigned()) f(place);
}

json source_of(const std::string& file, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    std::ifstream in(folder / file, std::ios::binary);
    if (!in) continue;
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const bool cut = text.size() > kMostSource;
    if (cut) text.resize(kMostSource);
    return {{"file", file}, {"text", text}, {"cut", cut}};
  }
  return nullptr;
}

}  // namespace

std::string warp_file(const std::string& records, const fs::path& program, const std::vector<fs::path>& folders) {
  return warp_file(
      records, [&](const auto& offsets) { return source_lines(program, offsets); }, folders);
}

std::string warp_file(const std::string& records, const LineFinder& lines_of, const std::vector<fs::path>& folders) {
  json all = json::parse(records, nullptr, false);
  if (!all.is_object() || !all.contains("warp") || !all["warp"].is_object()) return "";
  json& warp = all["warp"];
  if (warp.value("schema", json()) != "ridge.warp/1" || !warp.contains("kernels") || warp["kernels"].empty()) return "";
  std::map<std::uint64_t, std::pair<std::string, int>> where;
  for_places(warp, [&](const json& place) { where[place["pc"].get<std::uint64_t>()]; });
  if (where.size() > kMostOffsets) return "";
  std::vector<std::uint64_t> offsets;
  for (const auto& [pc, unused] : where) offsets.push_back(pc);
  const auto lines = lines_of(offsets);
  std::set<std::string> files;
  for (std::size_t i = 0; i < offsets.size() && i < lines.size(); ++i) {
    where[offsets[i]] = lines[i];
    if (!lines[i].first.empty() && lines[i].second > 0) files.insert(lines[i].first);
  }
  for_places(warp, [&](json& place) {
    const auto& [file, line] = where[place["pc"].get<std::uint64_t>()];
    if (file.empty() || line <= 0) return;
    place["file"] = file;
    place["line"] = line;
  });
  warp["sources"] = json::array();
  for (const std::string& file : files)
    if (json source = source_of(file, folders); !source.is_null()) warp["sources"].push_back(std::move(source));
  std::string text = warp.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= kMostBytes ? text : "";
}

void store_warps(Result& r) {
  for (TaskResult& t : r.tasks) {
    if (t.warp.empty()) continue;
    const std::string name = fmt::format("{}.{}.warp.json", r.attempt, t.id);
    json warp = json::parse(t.warp, nullptr, false);
    if (!warp.is_object()) continue;
    warp["lab"] = r.lab;
    warp["task"] = t.id;
    warp["attempt"] = r.attempt;
    try {
      write_durably(results_dir() / r.lab / name, warp.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
      t.warp_name = name;
    } catch (const Error& e) {  // a full disk: the result, which is smaller, may fit
      tell("ridge: no requests of {}: {}\n", t.id, e.what());
    }
  }
}

}  // namespace ridge
