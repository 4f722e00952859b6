#include "sides.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "simt/rewrite/assembly/kernel_calls.hpp"
#include "simt/rewrite/text/policy_words.hpp"

namespace ridge::simt {

namespace {

constexpr std::array<std::string_view, 4> kIndices = {"threadIdx", "blockIdx", "blockDim", "gridDim"};

// Words in front of a call: other words are types, and what follows is declared.
constexpr std::array<std::string_view, 8> kBeforeCall = {"return", "else", "do", "case", "throw", "and", "or", "not"};

// Words of CUDA and of the compilers in front of a function's name. Others with two underscores may be macros.
constexpr std::array<std::string_view, 9> kQualifiers = {"__global__",      "__device__",   "__host__",
                                                         "__forceinline__", "__noinline__", "__inline__",
                                                         "__inline",        "__restrict__", "__extension__"};

// Names of CUDA that both sides have.
constexpr std::array<std::string_view, 20> kBoth = {
    "min",    "max",    "umin", "umax",   "llmin", "llmax",  "ullmin", "ullmax", "rsqrt",    "rsqrtf",
    "printf", "malloc", "free", "assert", "clock", "memcpy", "memset", "swap",   "saturate", "rcbrt"};

// CUDA's functions that kernels alone may call.
constexpr std::array<std::string_view, 31> kDeviceAlone = {"__syncthreads",
                                                           "__syncthreads_count",
                                                           "__syncthreads_and",
                                                           "__syncthreads_or",
                                                           "__syncwarp",
                                                           "__shfl_sync",
                                                           "__shfl_up_sync",
                                                           "__shfl_down_sync",
                                                           "__shfl_xor_sync",
                                                           "__ballot_sync",
                                                           "__any_sync",
                                                           "__all_sync",
                                                           "__activemask",
                                                           "__match_any_sync",
                                                           "__match_all_sync",
                                                           "__threadfence",
                                                           "__nanosleep",
                                                           "__threadfence_block",
                                                           "__threadfence_system",
                                                           "__ldg",
                                                           "atomicAdd",
                                                           "atomicSub",
                                                           "atomicExch",
                                                           "atomicMin",
                                                           "atomicMax",
                                                           "atomicInc",
                                                           "atomicDec",
                                                           "atomicCAS",
                                                           "atomicAnd",
                                                           "atomicOr",
                                                           "atomicXor"};

constexpr std::size_t kLongestCall = 2000;  // bytes of its arguments

// Reads the body of one function.
class Body {
 public:
  Body(std::string_view s, const std::vector<Kind>& kind, const SourceFunction& f) : s_(s), walk_(s, kind), f_(f) {
    names_in(f.open, f.close);
    names_in(f.body, f.end);
  }

  void collect(std::vector<SideUse>& uses) const {
    for (std::size_t i = f_.body; i < f_.end;) {
      if (!walk_.code(i) || !is_word(s_[i])) {
        ++i;
        continue;
      }
      const std::size_t end = walk_.word_end(i);
      use(i, end, uses);
      i = end;
    }
  }

 private:
  // Names that the function may give to something of its own: every word that no call follows.
  void names_in(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to;) {
      if (!walk_.code(i) || !is_word(s_[i])) {
        ++i;
        continue;
      }
      const std::size_t end = walk_.word_end(i);
      const std::string_view word = s_.substr(i, end - i);
      const std::size_t before = walk_.skip_space_back(i);
      const std::string_view previous = walk_.word_before(before);
      const bool typed = !previous.empty() && !one_of(previous, kBeforeCall);
      const std::size_t next = walk_.skip_space(end);
      const bool reference = before > 0 && (s_[before - 1] == '&' || s_[before - 1] == '*') && from == f_.open;
      if (typed || reference) declared_.emplace(word);
      if (next < s_.size() && s_[next] != '(' && s_[next] != '<') mentioned_.emplace(word);
      i = end;
    }
  }

  void use(std::size_t i, std::size_t end, std::vector<SideUse>& uses) const {
    const std::string_view word = s_.substr(i, end - i);
    const std::size_t before = walk_.skip_space_back(i);
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return;
    if (before > 0 && (s_[before - 1] == '.' || s_[before - 1] == ':' || s_[before - 1] == '~')) return;
    if (before > 1 && s_.substr(before - 2, 2) == "->") return;
    if (declared_.count(word) != 0) return;
    SideUse found;
    found.at = i;
    found.name = word;
    const std::size_t next = walk_.skip_space(end);
    if (one_of(word, kIndices)) {
      if (f_.for_device_alone() || next >= s_.size() || s_[next] != '.') return;
      // Perhaps a member of the class, or of one that it inherits from.
      if (f_.member && (word == "blockDim" || word == "gridDim")) return;
      found.index = true;
    } else if (s_.substr(next, 3) == "<<<") {
      return;
    } else {
      const std::size_t open = walk_.skip_space(walk_.behind_angles(next));
      if (open >= f_.end || s_[open] != '(') return;
      const std::size_t close = walk_.matching(open, kLongestCall);
      if (close == kNoPlace || close > f_.end) return;
      const std::size_t behind = walk_.skip_space(close + 1);
      if (s_.substr(behind, 3) == "<<<") return;
      // A function's name without a call is passed on: a kernel's is, to be launched.
      if (f_.for_device_alone() && mentioned_.count(word) != 0) return;
      found.arguments = walk_.parts(open, close).size();
    }
    uses.push_back(std::move(found));
  }

  std::string_view s_;
  SourceWalk walk_;
  const SourceFunction& f_;
  std::set<std::string, std::less<>> declared_, mentioned_;
};

bool capitals(const std::string& word) {
  return word.size() > 1 && word != "FILE" &&
         std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; }) &&
         std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

}  // namespace

std::vector<SideUse> side_uses(std::string_view s, const std::vector<Kind>& kind, const SourceFunctions& functions) {
  std::vector<SideUse> uses;
  if (!functions.readable) return uses;
  const std::vector<Kind> code = without_directives(s, kind, nullptr);
  for (std::size_t k = 0; k < functions.all.size(); ++k) {
    const SourceFunction& f = functions.all[k];
    if (!f.defined() || f.unclear || (f.host && f.device)) continue;
    // A body with these words holds lambdas for the device, or its braces do not match its text.
    const std::string_view body = s.substr(f.body, f.end - f.body);
    if (body.find("__device__") != std::string_view::npos || body.find("__global__") != std::string_view::npos)
      continue;
    const std::size_t first = uses.size();
    Body(s, code, f).collect(uses);
    for (std::size_t u = first; u < uses.size(); ++u) uses[u].caller = k;
  }
  return uses;
}

void Sides::add(const SourceFunctions& functions) {
  readable_ = readable_ && functions.readable;
  macros_.insert(functions.macros.begin(), functions.macros.end());
  namespaces_.insert(functions.namespaces.begin(), functions.namespaces.end());
  used_.insert(functions.used_namespaces.begin(), functions.used_namespaces.end());
  for (const SourceFunction& f : functions.all) named_[f.name].push_back(f);
}

bool Sides::others_in_scope() const {
  // Those of CUDA and of the C++ library hold no function that is named as one of a program's for the device.
  static constexpr std::array<std::string_view, 6> kKnown = {"std", "cooperative_groups", "nvcuda", "wmma", "cg",
                                                             "cub"};
  return std::any_of(used_.begin(), used_.end(), [&](const std::string& name) {
    const std::string last = name.substr(name.rfind(':') + 1);  // npos + 1 is 0
    return namespaces_.count(last) == 0 && !one_of(name.substr(0, name.find(':')), kKnown);
  });
}

bool may_hide_qualifier(const std::string& word) {
  return (word.substr(0, 2) == "__" && !one_of(word, kQualifiers)) || capitals(word);
}

bool Sides::clear(const SourceFunction& f) const {
  return !f.unclear && std::none_of(f.words.begin(), f.words.end(), [&](const std::string& word) {
    return may_hide_qualifier(word) || macros_.count(word) != 0;
  });
}

std::string Sides::message(const SideUse& use, const SourceFunction& caller) const {
  if (!readable_ || !clear(caller) || macros_.count(use.name) != 0) return {};
  const bool device = caller.for_device_alone();
  if (use.index)
    return use.name + " is known in kernels and device functions alone: " + caller.name +
           " is host code. Mark it __device__, or launch it with <<<...>>> and mark it __global__";
  const auto found = named_.find(use.name);
  if (found == named_.end() && !device && one_of(use.name, kDeviceAlone))
    return "calling a __device__ function (" + use.name + ") from a __host__ function (" + caller.name +
           ") is not allowed: kernels and __device__ functions can call it";
  if (found == named_.end()) return {};
  bool all_host = true, all_global = true, all_device = true;
  for (const SourceFunction& f : found->second) {
    if (f.member || !clear(f) || use.arguments < f.required || use.arguments > f.parameters) return {};
    all_host = all_host && !f.global && !f.device;
    all_global = all_global && f.global;
    all_device = all_device && f.device && !f.host;
  }
  if (all_global)
    return "the call of the __global__ function " + use.name + " has no configuration: write " + use.name +
           "<<<blocks, threads>>>(...)";
  const std::string side = caller.global ? "__global__" : caller.device ? "__device__" : "__host__";
  if (device && all_host && !one_of(use.name, kBoth) && !kernels_may_call(use.name))
    return "calling a __host__ function (" + use.name + ") from a " + side + " function (" + caller.name +
           ") is not allowed: mark " + use.name + " __device__";
  if (!device && all_device && !one_of(use.name, kBoth) && !kernels_may_call(use.name) && !others_in_scope())
    return "calling a __device__ function (" + use.name + ") from a __host__ function (" + caller.name +
           ") is not allowed: mark " + use.name + " __host__ __device__";
  return {};
}

}  // namespace ridge::simt
