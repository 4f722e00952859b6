// No JSON library here: this is linked into students' programs.
#include "count/warp_json.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "device/block_record.hpp"
#include "device/device_profile.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "device/source_lines.hpp"

namespace ridge::simt {

namespace {

constexpr std::size_t kMaxRequests = 480;  // in a file: about 200 KB
constexpr std::size_t kMaxBlocks = 160;    // in a kernel
constexpr std::size_t kMaxSource = 64 * 1024;
constexpr std::size_t kMaxSources = 8;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char ch : text) {
    char escaped[8];
    if (ch == '"' || ch == '\\')
      out += std::string("\\") + ch;
    else if (ch == '\n')
      out += "\\n";
    else if (ch == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(ch) < 0x20)
      out.append(escaped, static_cast<std::size_t>(std::snprintf(escaped, sizeof escaped, "\\u%04x", ch)));
    else
      out += ch;
  }
  return out + '"';
}

// An object, member by member.
class Object {
 public:
  Object& number(const char* name, std::uint64_t value) { return text(name, std::to_string(value)); }
  Object& integer(const char* name, std::int64_t value) { return text(name, std::to_string(value)); }
  Object& word(const char* name, const std::string& value) { return text(name, quoted(value)); }
  Object& mask(const char* name, std::uint32_t value) {
    char hex[16];
    std::snprintf(hex, sizeof hex, "%08x", value);
    return word(name, hex);
  }
  Object& triple(const char* name, const unsigned (&v)[3]) {
    return text(name, "[" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + "]");
  }
  Object& text(const char* name, const std::string& json) {
    out_ += (out_.size() == 1 ? "\"" : ",\"") + std::string(name) + "\":" + json;
    return *this;
  }
  std::string done() const { return out_ + "}"; }

 private:
  std::string out_ = "{";
};

std::string list(const std::vector<std::string>& items, const char* between = ",\n  ") {
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : between) + items[i];
  return out + "]";
}

class Writer {
 public:
  Writer(const std::vector<std::unique_ptr<WarpKernel>>& kernels, std::uint64_t left_out, bool with_lines)
      : kernels_(kernels), left_out_(left_out), with_lines_(with_lines) {}

  std::string text() {
    if (with_lines_) find_lines();
    choose();
    std::vector<std::string> kernels;
    for (std::size_t i = 0; i < kernels_.size(); ++i) kernels.push_back(kernel(i));
    Object left_out;
    left_out.number("launches", left_out_).number("requests", dropped_).number("blocks", dropped_blocks_);
    Object kept;
    kept.number("first", first_).number("worst", worst_);
    Object all;
    all.word("schema", "ridge.warp/1").word("device", device_profile().id);
    all.text("kept", kept.done()).text("left_out", left_out.done());
    all.text("kernels", list(kernels, ",\n "));
    if (with_lines_) all.text("sources", sources());
    return all.done() + "\n";
  }

 private:
  static std::uint32_t pc_of(std::uint64_t record) {
    return static_cast<std::uint32_t>(reinterpret_cast<const BlockRecord*>(record)->address - Program::instance().base);
  }

  void find_lines() {
    std::vector<std::uint32_t> pcs;
    for (const auto& k : kernels_) {
      for (const auto& [key, n] : k->line) pcs.push_back(static_cast<std::uint32_t>(key / kOps));
      for (const auto& [record, runs] : k->log.blocks) pcs.push_back(pc_of(record));
    }
    std::sort(pcs.begin(), pcs.end());
    pcs.erase(std::unique(pcs.begin(), pcs.end()), pcs.end());
    lines_ = source_lines(pcs, &paths_);
  }

  // The number of requests of each access: fewer where there are many accesses.
  void choose() {
    std::size_t accesses = 0;
    for (const auto& k : kernels_) accesses += k->log.accesses.size();
    first_ = WarpLog::kFirst;
    worst_ = WarpLog::kWorst;
    while (first_ > 1 && accesses * (first_ + worst_) > kMaxRequests) {
      first_ /= 2;
      worst_ = std::max<std::size_t>(1, worst_ / 2);
    }
  }

  void place(Object& o, std::uint32_t pc) const {
    o.number("pc", pc);
    if (auto at = lines_.find(pc); at != lines_.end())
      o.word("file", at->second.file).number("line", static_cast<std::uint64_t>(at->second.line));
  }

  static void counts(Object& o, const AccessCount& n) {
    o.number("requests", n.requests).number("lanes", n.lanes).number("bytes", n.bytes).number("sectors", n.sectors);
    o.number("ideal_sectors", n.ideal_sectors).number("wavefronts", n.wavefronts).number("conflicts", n.conflicts);
  }

  void when(Object& o, const WarpKernel& k, const WarpMoment& m) const {
    const unsigned index[3] = {static_cast<unsigned>(m.block % k.grid[0]),
                               static_cast<unsigned>(m.block / k.grid[0] % k.grid[1]),
                               static_cast<unsigned>(m.block / k.grid[0] / k.grid[1])};
    o.number("launch", m.launch).triple("block", index).number("warp", m.warp).number("number", m.number);
  }

  std::string request(const WarpKernel& k, const WarpLog::Kept& r, const char* why) {
    Object o;
    o.number("pc", r.request.pc()).word("op", op_name(r.request.op())).number("size", r.request.bytes());
    o.number("part", r.request.where >> 16 & 0xFFFF).word("kept", why);
    when(o, k, r.when);
    o.number("path", path(r.path));
    o.mask("lanes", r.request.lanes);
    o.number("sectors", r.count.sectors).number("ideal_sectors", r.count.ideal_sectors);
    o.number("wavefronts", r.count.wavefronts).number("conflicts", r.count.conflicts);
    o.integer("memory", r.memory);
    // Addresses of the active lanes, each as the distance from the one before: small numbers.
    std::vector<std::string> addresses;
    std::uint64_t before = 0;
    for (std::uint32_t left = r.request.lanes; left != 0; left &= left - 1) {
      const std::uint64_t a = r.request.address[std::countr_zero(left)];
      addresses.push_back(std::to_string(static_cast<std::int64_t>(a - before)));
      before = a;
    }
    o.text("addresses", list(addresses, ","));
    return o.done();
  }

  // Hashes of paths hold addresses of the program: they are numbered as they come.
  std::uint64_t path(std::uint64_t hash) { return path_numbers_.emplace(hash, path_numbers_.size()).first->second; }

  std::string requests_of(const WarpKernel& k) {
    std::vector<std::uint64_t> keys;
    for (const auto& [key, access] : k.log.accesses) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    std::vector<std::string> out;
    for (std::uint64_t key : keys) {
      const auto& access = k.log.accesses.at(key);
      auto is_first = [&](const WarpLog::Kept& r) {
        for (std::size_t i = 0; i < access.first.size() && i < first_; ++i)
          if (access.first[i].when == r.when) return true;
        return false;
      };
      std::vector<std::pair<const WarpLog::Kept*, const char*>> chosen;
      for (std::size_t i = 0; i < access.first.size() && i < first_; ++i) chosen.push_back({&access.first[i], "first"});
      for (std::size_t i = 0; i < access.worst.size() && i < worst_; ++i)
        if (!is_first(access.worst[i])) chosen.push_back({&access.worst[i], "worst"});
      for (const auto& [r, why] : chosen) {
        if (written_ == kMaxRequests) {
          ++dropped_;
          continue;
        }
        ++written_;
        out.push_back(request(k, *r, why));
      }
    }
    return list(out);
  }

  std::string blocks_of(const WarpKernel& k) {
    std::vector<std::uint64_t> records;
    for (const auto& [record, runs] : k.log.blocks) records.push_back(record);
    auto order = [](std::uint64_t r) {
      const auto* b = reinterpret_cast<const BlockRecord*>(r);
      return std::pair(b->function, b->position);
    };
    std::sort(records.begin(), records.end(), [&](auto a, auto b) { return order(a) < order(b); });
    std::vector<std::string> out;
    for (std::uint64_t record : records) {
      if (out.size() == kMaxBlocks) {
        dropped_blocks_ += records.size() - out.size();
        break;
      }
      const auto& b = k.log.blocks.at(record);
      Object o;
      place(o, pc_of(record));
      o.number("runs", b.runs).number("lanes", b.lanes).number("partial", b.partial);
      std::vector<std::string> samples;
      for (const auto* some : {&b.first, &b.fewest})
        for (const auto& r : *some) {
          if (some == &b.fewest &&
              std::any_of(b.first.begin(), b.first.end(), [&](const auto& f) { return f.when == r.when; }))
            continue;
          Object s;
          when(s, k, r.when);
          s.number("path", path(r.path)).mask("lanes", r.lanes);
          samples.push_back(s.done());
        }
      o.text("samples", list(samples, ","));
      out.push_back(o.done());
    }
    return list(out);
  }

  std::string lines_of(const WarpKernel& k) {
    std::vector<std::pair<std::uint64_t, AccessCount>> lines(k.line.begin(), k.line.end());
    std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> out;
    for (const auto& [key, n] : lines) {
      Object o;
      place(o, static_cast<std::uint32_t>(key / kOps));
      o.word("op", op_name(static_cast<Op>(key % kOps)));
      counts(o, n);
      out.push_back(o.done());
    }
    return list(out);
  }

  // The arrays in shared memory, and the variables among global addresses, of the kept requests.
  std::string arrays_of(const WarpKernel& k) {
    std::map<std::uint64_t, std::pair<Variable, bool>> found;
    const Program& p = Program::instance();
    auto look = [&](const WarpLog::Kept& r) {
      const bool shared = !is_global(r.request.op());
      const std::uint64_t a = r.request.address[std::countr_zero(r.request.lanes) % kWarpSize];
      if (!shared && a < DeviceMemory::kReserve) return;
      for (const auto& [begin, known] : found)
        if (a - begin < known.first.bytes && known.second == shared) return;
      Variable v = variable_near(shared ? a : p.base + (a - DeviceMemory::kReserve), shared);
      const std::uint64_t begin = shared ? v.begin : v.begin - p.base + DeviceMemory::kReserve;
      if (v.name.empty() || a - begin >= v.bytes) return;
      if (v.name.find("ridge_dynamic") != std::string::npos) v.bytes = k.dynamic_shared, v.name.clear();
      found[begin] = {v, shared};
    };
    for (const auto& [key, access] : k.log.accesses) {
      for (const auto& r : access.first) look(r);
      for (const auto& r : access.worst) look(r);
    }
    std::vector<std::string> out;
    for (const auto& [begin, known] : found) {
      Object o;
      o.word("name", known.first.name).word("space", known.second ? "shared" : "global");
      o.number("begin", begin).number("bytes", known.first.bytes);
      out.push_back(o.done());
    }
    return list(out, ",");
  }

  std::string kernel(std::size_t index) {
    const WarpKernel& k = *kernels_[index];
    Object o;
    o.word("kernel", k.kernel).triple("grid", k.grid).triple("block", k.block).number("launches", k.launches);
    o.number("dynamic_shared", k.dynamic_shared).number("static_shared", k.static_shared);
    std::vector<std::string> memory;
    for (const auto& m : k.memory) {
      Object at;
      at.number("begin", m.begin).number("bytes", m.bytes).integer("argument", m.argument);
      memory.push_back(at.done());
    }
    o.integer("pointers", k.pointers).text("memory", list(memory, ",")).text("arrays", arrays_of(k));
    o.text("lines", lines_of(k)).text("requests", requests_of(k)).text("blocks", blocks_of(k));
    return o.done();
  }

  std::string sources() const {
    std::map<std::string, bool> named;
    for (const auto& [pc, at] : lines_) named[at.file] = true;
    std::vector<std::string> out;
    for (const auto& [file, yes] : named) {
      auto path = paths_.find(file);
      if (out.size() == kMaxSources || path == paths_.end()) continue;
      std::ifstream in = open_source(path->second);
      if (!in) continue;
      std::string text(kMaxSource + 1, '\0');
      in.read(text.data(), static_cast<std::streamsize>(text.size()));
      text.resize(static_cast<std::size_t>(in.gcount()));
      const bool cut = text.size() > kMaxSource;
      if (cut) text.resize(text.rfind('\n', kMaxSource) + 1);
      Object o;
      o.word("file", file).word("text", text).text("cut", cut ? "true" : "false");
      out.push_back(o.done());
    }
    return list(out);
  }

  const std::vector<std::unique_ptr<WarpKernel>>& kernels_;
  std::uint64_t left_out_;
  bool with_lines_;
  std::map<std::uint32_t, SourceLine> lines_;
  SourcePaths paths_;
  std::map<std::uint64_t, std::size_t> path_numbers_;
  std::size_t first_ = 0, worst_ = 0, written_ = 0, dropped_ = 0, dropped_blocks_ = 0;
};

}  // namespace

std::string warp_json(const std::vector<std::unique_ptr<WarpKernel>>& kernels, std::uint64_t left_out,
                      bool with_lines) {
  return Writer(kernels, left_out, with_lines).text();
}

void WarpRecords::write() {
  const char* target = std::getenv("RIDGE_WARP");
  if (target == nullptr) return;
  const std::string temporary = std::string(target) + ".part" + std::to_string(getpid());
  FILE* f = std::fopen(temporary.c_str(), "w");
  bool good = f != nullptr;
  if (good) {
    good = std::fputs(take_json(true).c_str(), f) >= 0;
    good = std::fflush(f) == 0 && fsync(fileno(f)) == 0 && good;
    good = std::fclose(f) == 0 && good;
  }
  if (good && std::rename(temporary.c_str(), target) == 0) return;
  std::fprintf(stderr, "ridge: cannot write RIDGE_WARP to ");
  std::perror(target);
  if (f != nullptr) unlink(temporary.c_str());
}

}  // namespace ridge::simt
