#include "learn/report/warp_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/result/record.hpp"
#include "learn/report/svg.hpp"

namespace ridge::loop {

using nlohmann::json;

namespace {

constexpr unsigned kLanes = 32, kBanks = 32, kWordsOfSector = 8;
constexpr double kPicture = 760, kLane = kPicture / kLanes, kLanesTop = 28, kBox = 16, kBetween = 64;

struct Request {
  std::string place;  // "copy.cu:12"
  std::string kernel, op;
  std::uint64_t size = 4, cost = 0, ideal = 1;
  std::vector<std::pair<unsigned, std::uint64_t>> lanes;  // each active lane and its address

  bool global() const { return op.starts_with("global"); }
  double ratio() const { return static_cast<double>(cost) / static_cast<double>(std::max<std::uint64_t>(ideal, 1)); }
};

// Nothing where a field is missing or makes no sense.
std::optional<Request> read_request(const json& r) {
  Request out;
  out.op = text_at(r, "op", 32);
  out.size = count_at(r, "size");
  const std::string mask_text = text_at(r, "lanes", 8);
  std::uint32_t mask = 0;
  std::from_chars(mask_text.data(), mask_text.data() + mask_text.size(), mask, 16);
  const auto addresses = r.find("addresses");
  if (mask == 0 || out.size == 0 || out.size > 16 || addresses == r.end() || !addresses->is_array() ||
      addresses->size() != static_cast<std::size_t>(std::popcount(mask)))
    return {};
  std::int64_t address = 0;
  std::size_t next = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const json& step = (*addresses)[next++];
    constexpr std::int64_t kFar = std::int64_t{1} << 56;
    const std::int64_t by = step.is_number_integer() ? step.get<std::int64_t>() : kFar;
    if (by <= -kFar || by >= kFar) return {};
    address += by;
    if (address < 0 || address >= kFar) return {};
    out.lanes.emplace_back(lane, static_cast<std::uint64_t>(address));
  }
  if (out.global()) {
    out.cost = count_at(r, "sectors"), out.ideal = count_at(r, "ideal_sectors");
  } else {
    out.cost = count_at(r, "wavefronts");
    out.ideal = out.cost - std::min(out.cost, count_at(r, "conflicts"));
  }
  return out.cost > 0 ? std::optional(out) : std::nullopt;
}

std::optional<Request> dearest_request(const json& file) {
  std::optional<Request> best;
  if (!file.is_object() || !file.contains("kernels") || !file["kernels"].is_array()) return best;
  for (const json& kernel : file["kernels"]) {
    if (!kernel.is_object() || !kernel.contains("requests") || !kernel["requests"].is_array()) continue;
    std::map<std::uint64_t, std::string> places;
    if (kernel.contains("lines") && kernel["lines"].is_array())
      for (const json& l : kernel["lines"])
        if (l.is_object())
          places[count_at(l, "pc")] = fmt::format("{}:{}", text_at(l, "file", 200), count_at(l, "line"));
    for (const json& r : kernel["requests"]) {
      if (!r.is_object()) continue;
      auto request = read_request(r);
      if (!request || (best && request->ratio() <= best->ratio() + 1e-9)) continue;
      request->kernel = text_at(kernel, "kernel", 200);
      request->place = places[count_at(r, "pc")];
      best = std::move(request);
    }
  }
  return best;
}

// The lanes, as a row of boxes.
std::string lane_row(const Request& r) {
  std::string out = fmt::format("<text class=\"soft\" x=\"0\" y=\"{}\">lanes 0 to 31</text>\n", kLanesTop - 7);
  std::set<unsigned> active;
  for (const auto& [lane, address] : r.lanes) active.insert(lane);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>\n",
                       active.count(lane) != 0 ? "lane" : "none", kLane * lane + 1, kLanesTop, kLane - 2, kBox);
  return out;
}

std::string wire(unsigned lane, double x, double y, const char* css) {
  const double from = kLane * (lane + 0.5), top = kLanesTop + kBox, bend = (y - top) / 2;
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n", css,
                     from, top, from, top + bend, x, y - bend, x, y);
}

// Sectors of 32 bytes; the words that a lane uses are filled.
std::string sectors_below(const Request& r, double& height) {
  std::map<std::uint64_t, std::uint32_t> used;  // the bytes of each sector
  for (const auto& [lane, address] : r.lanes)
    for (std::uint64_t b = address; b < address + r.size; ++b) used[b / 32] |= 1U << (b % 32);
  const double y = kLanesTop + kBox + kBetween,
               width = std::min(kPicture / static_cast<double>(used.size()), 8 * kLane);
  const double word = (width - 3) / kWordsOfSector;
  std::map<std::uint64_t, double> left;
  std::string boxes, wires;
  double x = 0;
  for (const auto& [sector, bytes] : used) {
    left[sector] = x;
    for (unsigned w = 0; w < kWordsOfSector; ++w)
      boxes += fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>\n",
                           (bytes >> (4 * w) & 0xF) != 0 ? "used" : "wasted", x + w * word, y, word, kBox);
    boxes += fmt::format("<rect class=\"frame\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>\n", x, y,
                         width - 3, kBox);
    x += width;
  }
  for (const auto& [lane, address] : r.lanes)
    wires += wire(lane, left[address / 32] + (static_cast<double>(address % 32) / 4 + 0.5) * word, y, "wire");
  height = y + kBox + 20;
  return wires + boxes +
         fmt::format(
             "<text class=\"soft\" x=\"0\" y=\"{}\">{} sectors of 32 bytes; filled: bytes that a lane "
             "uses</text>\n",
             height - 4, used.size());
}

// Banks of shared memory; the different words that lanes need of one bank are stacked.
std::string banks_below(const Request& r, double& height) {
  std::map<unsigned, std::set<std::uint64_t>> words;  // of each bank
  for (const auto& [lane, address] : r.lanes)
    for (std::uint64_t w = address / 4; w <= (address + r.size - 1) / 4; ++w) words[w % kBanks].insert(w);
  std::size_t deepest = 1;
  for (const auto& [bank, of_bank] : words) deepest = std::max(deepest, of_bank.size());
  const double y = kLanesTop + kBox + kBetween, cell = std::min(kBox, 160.0 / static_cast<double>(deepest));
  std::string boxes, wires;
  for (unsigned bank = 0; bank < kBanks; ++bank) {
    const auto at = words.find(bank);
    const std::size_t count = at == words.end() ? 0 : at->second.size();
    for (std::size_t k = 0; k < std::max<std::size_t>(count, 1); ++k)
      boxes += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                           count == 0 ? "none"
                           : k == 0   ? "used"
                                      : "again",
                           kLane * bank + 1, y + cell * static_cast<double>(k), kLane - 2, cell - 1);
  }
  for (const auto& [lane, address] : r.lanes)
    wires += wire(lane, kLane * (static_cast<double>(address / 4 % kBanks) + 0.5), y, "wire");
  height = y + cell * static_cast<double>(deepest) + 20;
  return wires + boxes +
         fmt::format(
             "<text class=\"soft\" x=\"0\" y=\"{}\">banks 0 to 31; each row of words takes a wavefront</text>\n",
             height - 4);
}

std::string sentence(const Request& r) {
  const char* unit = r.global() ? "sector" : "wavefront";
  return fmt::format("{}, {}: one request of a warp takes {} {}{}{}", r.place, r.kernel, r.cost, unit,
                     r.cost == 1 ? "" : "s",
                     r.cost > r.ideal ? fmt::format(", where {} would do.", r.ideal) : ", as few as can be.");
}

std::string figure(const Request& r) {
  double height = 0;
  const std::string below = r.global() ? sectors_below(r, height) : banks_below(r, height);
  const std::string told = escaped(sentence(r));
  return fmt::format(
      "<figure class=\"warp\"><svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}{}</svg>"
      "<figcaption>{}</figcaption></figure>\n",
      kPicture, height, told, lane_row(r), below, told);
}

// The list below `key`; an empty one where there is none.
const json& list_at(const json& object, const char* key) {
  static const json none = json::array();
  if (!object.is_object()) return none;
  const auto at = object.find(key);
  return at != object.end() && at->is_array() ? *at : none;
}

LineAccess access_of(const json& kernel, const json& line) {
  LineAccess out;
  out.kernel = text_at(kernel, "kernel", 200);
  out.op = text_at(line, "op", 32);
  out.requests = count_at(line, "requests");
  if (out.op.starts_with("global")) {
    out.took = count_at(line, "sectors"), out.ideal = count_at(line, "ideal_sectors");
  } else {
    out.took = count_at(line, "wavefronts");
    out.ideal = out.took - std::min(out.took, count_at(line, "conflicts"));
  }
  std::optional<Request> dearest;
  for (const json& r : list_at(kernel, "requests")) {
    if (!r.is_object() || count_at(r, "pc") != count_at(line, "pc") || text_at(r, "op", 32) != out.op) continue;
    auto request = read_request(r);
    if (!request || (dearest && request->ratio() <= dearest->ratio() + 1e-9)) continue;
    request->kernel = out.kernel;
    request->place = fmt::format("{}:{}", text_at(line, "file", 200), count_at(line, "line"));
    dearest = std::move(request);
  }
  if (dearest) out.svg = figure(*dearest);
  return out;
}

}  // namespace

std::string warp_svg(const std::string& warp) {
  std::optional<Request> request;
  try {
    request = dearest_request(parse_json(warp));
  } catch (const Error&) {
  }
  return request ? figure(*request) : std::string();
}

std::vector<LineAccess> line_accesses(const std::string& warp, const std::string& file, std::uint64_t line) {
  std::vector<LineAccess> out;
  try {
    const json recording = parse_json(warp);
    for (const json& kernel : list_at(recording, "kernels"))
      for (const json& l : list_at(kernel, "lines"))
        if (l.is_object() && text_at(l, "file", 200) == file && count_at(l, "line") == line)
          out.push_back(access_of(kernel, l));
  } catch (const Error&) {
  }
  return out;
}

}  // namespace ridge::loop
