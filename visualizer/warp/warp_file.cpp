#include "warp_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

namespace ridge::viz {
namespace {

using nlohmann::json;
constexpr std::uintmax_t kMostBytes = 64 << 20;
constexpr std::size_t kMostKernels = 256, kMostItems = 20000, kMostLines = 20000;
constexpr std::array<const char*, 7> kOps{"global_ld", "global_st", "global_red", "global_atom",
                                          "shared_ld", "shared_st", "shared_atom"};

struct Bad {
  std::string why;
};

const json& member(const json& j, const char* key) {
  static const json none;
  if (!j.is_object()) throw Bad{fmt::format("where '{}' is looked for there is no object", key)};
  const auto at = j.find(key);
  return at == j.end() ? none : *at;
}

std::uint64_t number(const json& j, const char* key, std::uint64_t most = std::uint64_t{1} << 53) {
  const json& v = member(j, key);
  if (v.is_null()) return 0;
  if (!v.is_number_integer() || v.get<std::int64_t>() < 0 || v.get<std::uint64_t>() > most)
    throw Bad{fmt::format("'{}' is not a whole number from 0 to {}", key, most)};
  return v.get<std::uint64_t>();
}

int index(const json& j, const char* key, std::size_t count) {
  const json& v = member(j, key);
  if (!v.is_number_integer()) return -1;
  const auto i = v.get<std::int64_t>();
  return i >= 0 && i < static_cast<std::int64_t>(count) ? static_cast<int>(i) : -1;
}

std::string word(const json& j, const char* key, std::size_t most = 256) {
  const json& v = member(j, key);
  if (v.is_null()) return {};
  if (!v.is_string()) throw Bad{fmt::format("'{}' is not a string", key)};
  return v.get<std::string>().substr(0, most);
}

std::array<std::uint64_t, 3> triple(const json& j, const char* key) {
  const json& v = member(j, key);
  std::array<std::uint64_t, 3> out{};
  if (!v.is_array() || v.size() != 3) throw Bad{fmt::format("'{}' is not a list of three numbers", key)};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!v[i].is_number_unsigned()) throw Bad{fmt::format("'{}' is not a list of three numbers", key)};
    out[i] = v[i].get<std::uint64_t>();
  }
  return out;
}

std::uint32_t mask(const json& j) {
  const std::string text = word(j, "lanes", 9);
  if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw Bad{"'lanes' is not a mask of eight hexadecimal digits"};
  return static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
}

WarpOp op_of(const json& j) {
  const std::string name = word(j, "op");
  for (std::size_t i = 0; i < kOps.size(); ++i)
    if (name == kOps[i]) return static_cast<WarpOp>(i);
  throw Bad{fmt::format("'op' is '{}', which is no operation", name)};
}

template <class F>
void each(const json& j, const char* key, std::size_t most, std::vector<std::string>& notes, F f) {
  const json& list = member(j, key);
  if (list.is_null()) return;
  if (!list.is_array()) throw Bad{fmt::format("'{}' is not a list", key)};
  if (list.size() > most) notes.push_back(fmt::format("of {} '{}' the first {} are shown", list.size(), key, most));
  for (std::size_t i = 0; i < list.size() && i < most; ++i) f(list[i]);
}

void read_place(const json& j, WarpPlace& p) {
  p.pc = number(j, "pc");
  p.file = word(j, "file");
  p.line = static_cast<int>(number(j, "line", 1 << 24));
}

WarpWhen read_when(const json& j) {
  WarpWhen w;
  w.launch = number(j, "launch");
  w.block = triple(j, "block");
  w.warp = number(j, "warp", 31);
  w.number = number(j, "number");
  w.path = number(j, "path");
  return w;
}

WarpLine read_line(const json& j) {
  WarpLine l;
  read_place(j, l);
  l.op = op_of(j);
  WarpTotals& t = l.totals;
  t.requests = number(j, "requests");
  t.lanes = number(j, "lanes");
  t.bytes = number(j, "bytes");
  t.sectors = number(j, "sectors");
  t.ideal_sectors = number(j, "ideal_sectors");
  t.wavefronts = number(j, "wavefronts");
  t.conflicts = number(j, "conflicts");
  return l;
}

WarpRequest read_request(const json& j, std::size_t memories) {
  WarpRequest r;
  r.pc = number(j, "pc");
  r.op = op_of(j);
  r.size = static_cast<unsigned>(number(j, "size", 16));
  if (!std::has_single_bit(r.size)) throw Bad{"'size' is not 1, 2, 4, 8 or 16"};
  r.worst = word(j, "kept") == "worst";
  r.when = read_when(j);
  r.lanes = mask(j);
  r.memory = index(j, "memory", memories);
  r.sectors = number(j, "sectors");
  r.ideal_sectors = number(j, "ideal_sectors");
  r.wavefronts = number(j, "wavefronts");
  r.conflicts = number(j, "conflicts");
  const json& addresses = member(j, "addresses");
  if (r.lanes == 0 || !addresses.is_array() || addresses.size() != static_cast<std::size_t>(std::popcount(r.lanes)))
    throw Bad{"'addresses' is not a list with one number for each active lane"};
  constexpr std::int64_t kFarthest = std::int64_t{1} << 48;
  std::int64_t at = 0;
  std::size_t i = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((r.lanes >> lane & 1) == 0) continue;
    const json& step = addresses[i++];
    const std::int64_t by = step.is_number_integer() ? step.get<std::int64_t>() : kFarthest + 1;
    if (by < -kFarthest || by > kFarthest || at + by < 0 || at + by > kFarthest)
      throw Bad{"an address is not a number from 0 to 2^48"};
    at += by;
    r.address[lane] = static_cast<std::uint64_t>(at);
  }
  return r;
}

WarpBlock read_block(const json& j, std::vector<std::string>& notes) {
  WarpBlock b;
  read_place(j, b);
  b.runs = number(j, "runs");
  b.lanes = number(j, "lanes");
  b.partial = number(j, "partial");
  each(j, "samples", 64, notes, [&](const json& s) { b.samples.push_back({read_when(s), mask(s)}); });
  return b;
}

WarpKernel read_kernel(const json& j, std::vector<std::string>& notes) {
  WarpKernel k;
  k.kernel = word(j, "kernel");
  k.grid = triple(j, "grid");
  k.block = triple(j, "block");
  k.launches = number(j, "launches");
  k.dynamic_shared = number(j, "dynamic_shared");
  k.static_shared = number(j, "static_shared");
  each(j, "memory", kMostItems, notes, [&](const json& m) {
    k.memory.push_back({number(m, "begin"), number(m, "bytes"), index(m, "argument", 256), "", false});
  });
  const std::size_t allocations = k.memory.size();
  each(j, "arrays", kMostItems, notes, [&](const json& m) {
    k.memory.push_back({number(m, "begin"), number(m, "bytes"), -1, word(m, "name"), word(m, "space") == "shared"});
  });
  each(j, "lines", kMostItems, notes, [&](const json& l) { k.lines.push_back(read_line(l)); });
  each(j, "requests", kMostItems, notes, [&](const json& r) { k.requests.push_back(read_request(r, allocations)); });
  each(j, "blocks", kMostItems, notes, [&](const json& b) { k.blocks.push_back(read_block(b, notes)); });
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

// Names of a kernel's pointer parameters, in their order: what stands between the parentheses behind its name.
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

WarpFile from_json(const json& j) {
  if (!j.is_object()) throw Bad{"the top level is not a JSON object"};
  const std::string schema = word(j, "schema");
  if (schema != "ridge.warp/1")
    throw Bad{schema.empty() ? "there is no field 'schema'" : fmt::format("its schema is '{}'", schema)};
  WarpFile w;
  w.lab = word(j, "lab");
  w.task = word(j, "task");
  w.attempt = word(j, "attempt");
  w.device = word(j, "device");
  each(j, "sources", 64, w.notes, [&](const json& s) {
    w.sources[word(s, "file")] = split(word(s, "text", 1 << 20));
    if (member(s, "cut") == json(true))
      w.notes.push_back(fmt::format("{} is longer than what was kept", word(s, "file")));
  });
  each(j, "kernels", kMostKernels, w.notes, [&](const json& k) {
    w.kernels.push_back(read_kernel(k, w.notes));
    WarpKernel& kernel = w.kernels.back();
    const auto names = pointer_parameters(w, kernel.kernel);
    // A null pointer among the arguments would shift the names: then none is shown.
    if (names.size() == number(k, "pointers"))
      for (WarpMemory& m : kernel.memory)
        if (m.argument >= 0 && m.argument < static_cast<int>(names.size()))
          m.name = names[static_cast<std::size_t>(m.argument)];
  });
  if (w.kernels.empty()) throw Bad{"no kernel was recorded"};
  if (const json& left = member(j, "left_out"); left.is_object()) {
    if (const auto n = number(left, "launches"); n > 0)
      w.notes.push_back(fmt::format("{} launches of further kernels are not in the file", n));
    if (const auto n = number(left, "requests"); n > 0)
      w.notes.push_back(fmt::format("{} requests that were kept are not in the file", n));
    if (const auto n = number(left, "blocks"); n > 0)
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
  } catch (const json::exception&) {
    throw refuse("a field is not of its type");
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
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, error)) throw refuse(std::strerror(errno ? errno : EISDIR));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return parse_warp(text, file);
}

}  // namespace ridge::viz
