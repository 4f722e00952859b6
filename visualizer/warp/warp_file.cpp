#include "warp_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/json_fields.hpp"
#include "kit/files.hpp"

namespace ridge::viz {
namespace {

using nlohmann::json;
constexpr std::uintmax_t kMostBytes = 64 << 20;
constexpr std::size_t kMostKernels = 256, kMostItems = 20000, kMostLines = 20000;
constexpr std::array<const char*, 7> kOps{"global_ld", "global_st", "global_red", "global_atom",
                                          "shared_ld", "shared_st", "shared_atom"};

using Field = JsonField<>;

// The document as a whole is refused, for this reason.
struct Bad {
  std::string why;
};

// The index that the field holds, below `count`; -1 where it holds none.
int index(const Field& f, std::size_t count) {
  if (!f || !f.value()->is_number_integer()) return -1;
  const auto i = f.value()->get<std::int64_t>();
  return i >= 0 && i < static_cast<std::int64_t>(count) ? static_cast<int>(i) : -1;
}

std::string word(const Field& f) { return f.text(256); }

std::uint32_t mask(const Field& f) {
  const std::string text = f.text(9);
  if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    f.fail("a mask of eight hexadecimal digits");
  return static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
}

WarpOp op_of(const Field& f) {
  const std::string name = word(f);
  for (std::size_t i = 0; i < kOps.size(); ++i)
    if (name == kOps[i]) return static_cast<WarpOp>(i);
  f.fail("the name of a memory operation");
}

// Calls `read` with the first `most` elements, and notes it where there are more.
template <class F>
void each(const Field& list, const char* name, std::size_t most, std::vector<std::string>& notes, F read) {
  for (const Field& item : list.items(most)) read(item);
  if (const std::size_t all = list ? list.value()->size() : 0; all > most)
    notes.push_back(fmt::format("of {} '{}' the first {} are shown", all, name, most));
}

void read_place(const Field& j, WarpPlace& p) {
  p.pc = j["pc"].count();
  p.file = word(j["file"]);
  p.line = static_cast<int>(j["line"].count(1 << 24));
}

WarpWhen read_when(const Field& j) {
  WarpWhen w;
  w.launch = j["launch"].count();
  w.block = j["block"].triple();
  w.warp = j["warp"].count(31);
  w.number = j["number"].count();
  w.path = j["path"].count();
  return w;
}

WarpLine read_line(const Field& j) {
  WarpLine l;
  read_place(j, l);
  l.op = op_of(j["op"]);
  WarpTotals& t = l.totals;
  t.requests = j["requests"].count();
  t.lanes = j["lanes"].count();
  t.bytes = j["bytes"].count();
  t.sectors = j["sectors"].count();
  t.ideal_sectors = j["ideal_sectors"].count();
  t.wavefronts = j["wavefronts"].count();
  t.conflicts = j["conflicts"].count();
  return l;
}

WarpRequest read_request(const Field& j, std::size_t memories) {
  WarpRequest r;
  r.pc = j["pc"].count();
  r.op = op_of(j["op"]);
  r.size = static_cast<unsigned>(j["size"].count(16));
  if (!std::has_single_bit(r.size)) j["size"].fail("1, 2, 4, 8 or 16");
  r.worst = word(j["kept"]) == "worst";
  r.when = read_when(j);
  r.lanes = mask(j["lanes"]);
  r.memory = index(j["memory"], memories);
  r.sectors = j["sectors"].count();
  r.ideal_sectors = j["ideal_sectors"].count();
  r.wavefronts = j["wavefronts"].count();
  r.conflicts = j["conflicts"].count();
  const Field addresses = j["addresses"];
  if (r.lanes == 0 || !addresses || !addresses.value()->is_array() ||
      addresses.value()->size() != static_cast<std::size_t>(std::popcount(r.lanes)))
    addresses.fail("an array with one number for each active lane");
  constexpr std::int64_t kFarthest = std::int64_t{1} << 48;
  std::int64_t at = 0;
  std::size_t i = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((r.lanes >> lane & 1) == 0) continue;
    const json& step = (*addresses.value())[i++];
    const std::int64_t by = step.is_number_integer() ? step.get<std::int64_t>() : kFarthest + 1;
    if (by < -kFarthest || by > kFarthest || at + by < 0 || at + by > kFarthest)
      addresses.fail("an array of steps between addresses from 0 to 2^48");
    at += by;
    r.address[lane] = static_cast<std::uint64_t>(at);
  }
  return r;
}

WarpBlock read_block(const Field& j, std::vector<std::string>& notes) {
  WarpBlock b;
  read_place(j, b);
  b.runs = j["runs"].count();
  b.lanes = j["lanes"].count();
  b.partial = j["partial"].count();
  each(j["samples"], "samples", 64, notes, [&](const Field& s) {
    b.samples.push_back({read_when(s), mask(s["lanes"])});
  });
  return b;
}

WarpKernel read_kernel(const Field& j, std::vector<std::string>& notes) {
  WarpKernel k;
  k.kernel = word(j["kernel"]);
  k.grid = j["grid"].triple();
  k.block = j["block"].triple();
  k.launches = j["launches"].count();
  k.dynamic_shared = j["dynamic_shared"].count();
  k.static_shared = j["static_shared"].count();
  each(j["memory"], "memory", kMostItems, notes, [&](const Field& m) {
    k.memory.push_back({m["begin"].count(), m["bytes"].count(), index(m["argument"], 256), "", false});
  });
  const std::size_t allocations = k.memory.size();
  each(j["arrays"], "arrays", kMostItems, notes, [&](const Field& m) {
    k.memory.push_back({m["begin"].count(), m["bytes"].count(), -1, word(m["name"]), word(m["space"]) == "shared"});
  });
  each(j["lines"], "lines", kMostItems, notes, [&](const Field& l) { k.lines.push_back(read_line(l)); });
  each(j["requests"], "requests", kMostItems, notes,
       [&](const Field& r) { k.requests.push_back(read_request(r, allocations)); });
  each(j["blocks"], "blocks", kMostItems, notes, [&](const Field& b) { k.blocks.push_back(read_block(b, notes)); });
  return k;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at <= text.size() && lines.size() < kMostLines) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, std::min<std::size_t>(end - at, 400)));
    std::erase(lines.back(), '\r');
    at = end + 1;
  }
  return lines;
}

// The names of a kernel's pointer parameters in order, from the parameter list in the source.
std::vector<std::string> pointer_parameters(const WarpFile& w, std::string kernel) {
  if (const auto open = kernel.find('<'); open != std::string::npos) kernel.resize(open);
  if (const auto scope = kernel.rfind(':'); scope != std::string::npos) kernel.erase(0, scope + 1);
  if (kernel.empty()) return {};
  for (const auto& [file, lines] : w.sources) {
    std::string text;
    for (const auto& l : lines) text += l.substr(0, l.find("//")) + ' ';
    for (std::size_t at = text.find(kernel); at != std::string::npos; at = text.find(kernel, at + 1)) {
      std::size_t open = at + kernel.size();
      while (open < text.size() && text[open] == ' ') ++open;
      const bool own_word = at == 0 || !(std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_');
      if (!own_word || open >= text.size() || text[open] != '(' || text.rfind("__global__", at) == std::string::npos)
        continue;
      const std::size_t close = text.find(')', open), body = text.find_first_not_of(' ', close + 1);
      if (close == std::string::npos || body == std::string::npos || text[body] != '{') continue;
      std::vector<std::string> names;
      std::size_t from = open + 1;
      while (from < close) {
        const std::size_t end = std::min(text.find(',', from), close);
        std::string p = text.substr(from, end - from);
        from = end + 1;
        if (p.find('*') == std::string::npos) continue;
        while (!p.empty() && p.back() == ' ') p.pop_back();
        std::size_t begin = p.size();
        while (begin > 0 && (std::isalnum(static_cast<unsigned char>(p[begin - 1])) || p[begin - 1] == '_')) --begin;
        names.push_back(p.substr(begin));
      }
      return names;
    }
  }
  return {};
}

WarpFile from_json(const json& document) {
  if (!document.is_object()) throw Bad{"the top level is not a JSON object"};
  const Field j(document);
  const std::string schema = word(j["schema"]);
  if (schema != "ridge.warp/1")
    throw Bad{schema.empty() ? "there is no field 'schema'" : fmt::format("its schema is '{}'", schema)};
  WarpFile w;
  w.lab = word(j["lab"]);
  w.task = word(j["task"]);
  w.attempt = word(j["attempt"]);
  w.device = word(j["device"]);
  each(j["sources"], "sources", 64, w.notes, [&](const Field& s) {
    w.sources[word(s["file"])] = split(s["text"].text(1 << 20));
    if (const Field cut = s["cut"]; cut && *cut.value() == json(true))
      w.notes.push_back(fmt::format("{} is longer than what was kept", word(s["file"])));
  });
  each(j["kernels"], "kernels", kMostKernels, w.notes, [&](const Field& k) {
    w.kernels.push_back(read_kernel(k, w.notes));
    WarpKernel& kernel = w.kernels.back();
    const auto names = pointer_parameters(w, kernel.kernel);
    // A null pointer among the arguments would shift the names, so no name is shown then.
    if (names.size() == k["pointers"].count())
      for (WarpMemory& m : kernel.memory)
        if (m.argument >= 0 && m.argument < static_cast<int>(names.size()))
          m.name = names[static_cast<std::size_t>(m.argument)];
  });
  if (w.kernels.empty()) throw Bad{"no kernel was recorded"};
  if (const Field left = j["left_out"]) {
    if (const auto n = left["launches"].count(); n > 0)
      w.notes.push_back(fmt::format("{} launches of further kernels are not in the file", n));
    if (const auto n = left["requests"].count(); n > 0)
      w.notes.push_back(fmt::format("{} requests that were kept are not in the file", n));
    if (const auto n = left["blocks"].count(); n > 0)
      w.notes.push_back(fmt::format("{} basic blocks are not in the file", n));
  }
  return w;
}

}  // namespace

const char* words_of(WarpOp op) {
  constexpr std::array<const char*, 7> words{"global load", "global store", "global atomic (red)", "global atomic",
                                             "shared load", "shared store", "shared atomic"};
  return words[static_cast<std::size_t>(op)];
}

void WarpTotals::add(const WarpTotals& o) {
  requests += o.requests;
  lanes += o.lanes;
  bytes += o.bytes;
  sectors += o.sectors;
  ideal_sectors += o.ideal_sectors;
  wavefronts += o.wavefronts;
  conflicts += o.conflicts;
}

WarpFile parse_warp(const std::string& text, const std::filesystem::path& file) {
  const auto refuse = [&](std::string_view why) {
    return WarpError(
        fmt::format("cannot read the recording '{}': {}\n  try: RIDGE_WARP=file.json with a program of `ridge cc`, or "
                    "`ridge check NN`",
                    file.string(), why));
  };
  try {
    WarpFile w = from_json(json::parse(text));
    w.file = file;
    return w;
  } catch (const json::parse_error& e) {
    throw refuse(fmt::format("not JSON (near byte {})", e.byte));
  } catch (const JsonFieldError& e) {
    throw refuse(e.what());
  } catch (const Bad& bad) {
    throw refuse(bad.why);
  }
}

WarpFile read_warp(const std::filesystem::path& file) {
  const auto refuse = [&](std::string_view why) {
    return WarpError(fmt::format("cannot read the recording '{}': {}\n  try: ls work/.ridge/results/*/*.warp.json",
                                 file.string(), why));
  };
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (!error && bytes > kMostBytes) throw refuse(fmt::format("it has {} MB; recordings have less than 1", bytes >> 20));
  std::string why;
  if (const auto text = read_file(file, &why)) return parse_warp(*text, file);
  throw refuse(why);
}

}  // namespace ridge::viz
