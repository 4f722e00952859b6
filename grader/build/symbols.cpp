#include "grader/build/symbols.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "grader/build/symbol_list.hpp"

namespace ridge {

namespace {

std::string readable(const std::string& name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

bool begins(const std::string& name, std::string_view head) { return name.compare(0, head.size(), head) == 0; }

struct Patterns {
  std::set<std::string> exact;
  std::vector<std::string> heads;

  explicit Patterns(std::string_view list) {
    std::istringstream words{std::string(list)};
    for (std::string w; words >> w;)
      if (w.back() == '*')
        heads.push_back(w.substr(0, w.size() - 1));
      else if (w.back() == '?')
        for (char c = 'a'; c <= 'z'; ++c) exact.insert(w.substr(0, w.size() - 1) + c);
      else
        exact.insert(w);
  }
  bool match(const std::string& name) const {
    return exact.count(name) != 0 ||
           std::any_of(heads.begin(), heads.end(), [&](const std::string& h) { return begins(name, h); });
  }
};

// "ridge_simt::collective(char const*, ...)": by the compiler's own view, after all macros and templates.
bool of_the_emulator(const std::string& name) {
  static const Patterns list(kEmulatorFunctions);
  constexpr std::string_view kSpace = "ridge_simt::";
  const std::string text = readable(name);
  return begins(text, kSpace) && list.match(text.substr(kSpace.size(), text.find('(') - kSpace.size()));
}

bool allowed(const std::string& name) {
  static const Patterns list(kAllowedSymbols), math(kMathSymbols);
  if (begins(name, "_ZN10ridge_simt") || begins(name, "_ZNK10ridge_simt")) return of_the_emulator(name);
  if (list.match(name) || math.match(name)) return true;
  return !name.empty() && (name.back() == 'f' || name.back() == 'l') && math.match(name.substr(0, name.size() - 1));
}

// The replacement that a lab's code should use.
std::string advice(const std::string& name) {
  if (begins(name, "cublas") || begins(name, "nccl")) return "the task is to write this yourself";
  if (begins(name, "_ZN5ridge") || begins(name, "_ZN10ridge_simt") || begins(name, "_ZNK10ridge_simt"))
    return "the emulator's insides are not for labs; use CUDA's functions";
  for (const char* f : {"open", "openat", "fopen", "freopen", "fdopen", "read", "write", "mmap", "mprotect", "munmap"})
    if (name == f || name == f + std::string("64"))
      return "inputs and outputs come as arguments; memory comes from cudaMalloc, new or std::vector";
  if (name == "getenv" || name == "secure_getenv" || name == "environ")
    return "a lab's code takes nothing from the environment";
  for (const char* f : {"fork", "vfork", "exec", "system", "popen", "posix_spawn", "clone"})
    if (begins(name, f)) return "a submission starts no processes; std::thread starts threads";
  return "labs use the C++ standard library and CUDA";
}

// A C++ function or variable of no library: somebody was to define it.
bool of_the_course(const std::string& name) {
  const std::string_view rest = begins(name, "_ZNK") ? "_ZNK" : begins(name, "_ZN") ? "_ZN" : "_Z";
  return begins(name, rest) && name.size() > rest.size() && name[rest.size()] >= '1' && name[rest.size()] <= '9' &&
         !begins(name, "_ZN5ridge") && !begins(name, "_ZNK5ridge") && !begins(name, "_ZN10ridge_simt") &&
         !begins(name, "_ZNK10ridge_simt");
}

// Calls that the judge answers, in the middle of a run (runtime/lab/ask.hpp, runtime/files/request.hpp).
bool of_calls_to_the_judge(const std::string& name, bool entry) {
  for (const char* of_all : {"ridge_files_window", "ridge_files_call", "ridge_files_work", "ridge_files_wait",
                             "ridge_files_lock", "ridge_files_died", "ridge_files_in_place"})
    if (name == of_all) return true;
  return entry && (name == "ridge_ask" || name == "ridge_files_lives" || name == "ridge_files_mark");
}

// Names that belong to somebody else: a definition would be called in the place of theirs.
bool reserved(const std::string& name, bool weak) {
  if (name == "ridge_entry" || begins(name, "DW.ref.") || name == "__clang_call_terminate") return false;
  for (const char* head : {"_Znw", "_Zna", "_Zdl", "_Zda", "_ZN5ridge", "_ZNK5ridge"})
    if (begins(name, head)) return true;
  if (begins(name, "_Z")) {
    // Instances of the headers' templates and inline functions are weak.
    return !weak && (begins(name, "_ZN10ridge_simt") || begins(name, "_ZNSt6thread") || begins(name, "_ZSt"));
  }
  if (name == "main" || begins(name, "_") || begins(name, "cuda") || begins(name, "cublas") || begins(name, "nccl") ||
      begins(name, "nvtx") || begins(name, "ridge_"))
    return true;
  static const std::set<std::string> system = {
      "syscall",      "open",      "openat", "read",   "write", "close",  "mmap",    "munmap",    "mprotect",
      "fork",         "execve",    "system", "dlopen", "dlsym", "send",   "sendmsg", "recvmsg",   "socket",
      "getenv",       "environ",   "fopen",  "fclose", "fread", "getpid", "poll",    "sigaction", "signal",
      "memfd_create", "ftruncate", "dup2",   "pipe",   "ioctl", "recv",   "select",  "kill",      "raise"};
  return allowed(name) || system.count(name) != 0;
}

}  // namespace

ObjectSymbols read_symbols(const std::string& listing, const std::string& source) {
  ObjectSymbols out;
  out.source = source;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, value, size, type, bind, visibility, section, name;
    if (!(words >> number >> value >> size >> type >> bind >> visibility >> section >> name)) continue;
    if (number.back() != ':' || bind == "LOCAL") continue;
    if (section == "UND")
      out.imported.push_back(name);
    else
      (bind == "GLOBAL" ? out.defined : out.weak).push_back(name);
    if (type == "TLS" && section == "UND") out.imported.pop_back();  // extern __shared__; the rest does not link
    if (type == "IFUNC") out.imported.push_back("ifunc " + name);
  }
  return out;
}

std::vector<SymbolFault> symbol_faults(const std::vector<ObjectSymbols>& objects, const SymbolRules& rules) {
  std::set<std::string> own;
  std::map<std::string, std::vector<std::size_t>> owners;  // of strong definitions
  for (std::size_t i = 0; i < objects.size(); ++i) {
    own.insert(objects[i].defined.begin(), objects[i].defined.end());
    own.insert(objects[i].weak.begin(), objects[i].weak.end());
    for (const std::string& name : objects[i].defined) owners[name].push_back(i);
  }
  std::vector<SymbolFault> out;
  auto permitted = [&](const std::string& name) {
    return std::any_of(rules.libraries.begin(), rules.libraries.end(),
                       [&](const std::string& l) { return begins(name, l); });
  };
  const Patterns listed(fmt::format("{}", fmt::join(rules.forbidden, " ")));
  const Patterns needed(fmt::format("{}", fmt::join(rules.entry, " ")));
  auto taken = [&](const std::string& name) {
    return rules.worker_imports.count(name) != 0 && name.find("ridge_") == std::string::npos;
  };
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const ObjectSymbols& o = objects[i];
    auto fault = [&](SymbolFault::Kind kind, const std::string& name, const std::string& words) {
      out.push_back({kind, i, name, fmt::format("{}: error: {}\n", o.source, words)});
    };
    using Kind = SymbolFault::Kind;
    auto forbidden = [&](const std::string& name) {
      return listed.match(name) && !(o.source == "entry.cu" && needed.match(name));
    };
    constexpr const char* kYours = "{} is not allowed in this lab\n  the task is to write this yourself, as a kernel";
    for (const auto& name : o.imported)
      if (of_calls_to_the_judge(name, o.source == "entry.cu"))
        continue;
      else if (name == "_Z11ridge_entryRK10ridge_call" && o.source != "entry.cu")
        fault(Kind::refused, name,
              fmt::format("{} is not allowed in a submission\n  the judge alone makes calls; call your own functions",
                          readable(name)));
      else if (own.count(name) == 0 && !allowed(name) && !permitted(name) && of_the_course(name))
        fault(Kind::missing, name,
              fmt::format("{} is called and defined nowhere\n  keep the name and the parameters of each of the lab's "
                          "functions, and define what you declare",
                          readable(name)));
      else if (own.count(name) == 0 && !allowed(name) && !permitted(name))
        fault(Kind::refused, name,
              fmt::format("{} is not allowed in a submission\n  {}", readable(name), advice(name)));
      else if (forbidden(name))
        fault(Kind::refused, name, fmt::format(kYours, readable(name)));
    // Templates of a library, such as CUB's kernels, are instantiated here.
    if (auto at = std::find_if(o.weak.begin(), o.weak.end(), forbidden); at != o.weak.end())
      fault(Kind::refused, *at, fmt::format(kYours, readable(*at)));
    for (bool weak : {false, true})
      for (const auto& name : weak ? o.weak : o.defined)
        if (reserved(name, weak) || taken(name))
          fault(Kind::refused, name,
                fmt::format("{} may not be defined by a submission\n  choose another name", readable(name)));
    if (o.source == "entry.cu") continue;
    for (const std::string& name : o.defined)
      if (const auto& all = owners[name]; all.size() > 1) {
        std::vector<std::string> others;
        for (std::size_t k : all)
          if (k != i) others.push_back(objects[k].source == "entry.cu" ? "the lab's entry.cu" : objects[k].source);
        fault(Kind::twice, name,
              fmt::format("multiple definition of {}: {} {} it as well\n  delete one, or put each into an unnamed "
                          "namespace, namespace {{ ... }}",
                          readable(name), fmt::join(others, ", "), others.size() == 1 ? "defines" : "define"));
      }
  }
  return out;
}

std::string check_symbols(const std::vector<ObjectSymbols>& objects, const SymbolRules& rules) {
  std::string out;
  for (const SymbolFault& f : symbol_faults(objects, rules)) out += f.message;
  return out;
}

}  // namespace ridge
