// PTX ISA, chapter "Instructions": those that CUDA programs write by hand and that C++ says too.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "ptx_instruction.hpp"
#include "simt/rewrite/text/policy_words.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

// The C++ type of a register of this PTX type; empty for others.
std::string type_of(View name) {
  static const std::map<View, View> types = {{"b8", "std::uint8_t"},
                                             {"u8", "std::uint8_t"},
                                             {"s8", "std::int8_t"},
                                             {"b16", "std::uint16_t"},
                                             {"u16", "std::uint16_t"},
                                             {"s16", "std::int16_t"},
                                             {"b32", "std::uint32_t"},
                                             {"u32", "std::uint32_t"},
                                             {"s32", "std::int32_t"},
                                             {"b64", "std::uint64_t"},
                                             {"u64", "std::uint64_t"},
                                             {"s64", "std::int64_t"},
                                             {"f32", "float"},
                                             {"f64", "double"},
                                             {"f16", "::ridge_simt::PtxHalf"},
                                             {"f16x2", "::ridge_simt::PtxHalf2"}};
  const auto at = types.find(name);
  return at == types.end() ? std::string() : "::" + std::string(at->second.substr(at->second[0] == ':' ? 2 : 0));
}

std::string typed(const std::string& type) {
  return type.rfind("::float", 0) == 0 || type == "::double" ? type.substr(2) : type;
}

// name{.modifiers}.type d, a{, b{, c}}: ptx_name<type>(d, ...)
std::string arithmetic(const PtxInstruction& i) {
  constexpr std::array<View, 15> modifiers = {"rn",  "ftz",  "approx", "lo", "hi",  "wide", "wrap", "clamp",
                                              "sat", "full", "l",      "r",  "rni", "rzi",  "sync"};
  struct Form {
    View kinds;    // of the operands, a register or a number each
    View allowed;  // modifiers, with a space before each
  };
  static const std::map<View, Form> forms = {{"mov", {"rr", ""}},
                                             {"add", {"rrr", " rn ftz"}},
                                             {"sub", {"rrr", " rn ftz"}},
                                             {"mul", {"rrr", " rn ftz lo hi wide"}},
                                             {"mad", {"rrrr", " rn ftz lo hi wide"}},
                                             {"fma", {"rrrr", " rn ftz"}},
                                             {"div", {"rrr", " rn ftz approx full"}},
                                             {"rem", {"rrr", ""}},
                                             {"min", {"rrr", " ftz"}},
                                             {"max", {"rrr", " ftz"}},
                                             {"and", {"rrr", ""}},
                                             {"or", {"rrr", ""}},
                                             {"xor", {"rrr", ""}},
                                             {"not", {"rr", ""}},
                                             {"neg", {"rr", " ftz"}},
                                             {"abs", {"rr", " ftz"}},
                                             {"shl", {"rrr", ""}},
                                             {"shr", {"rrr", ""}},
                                             {"popc", {"rr", ""}},
                                             {"clz", {"rr", ""}},
                                             {"brev", {"rr", ""}},
                                             {"bfind", {"rr", ""}},
                                             {"bfe", {"rrrr", ""}},
                                             {"bfi", {"rrrrr", ""}},
                                             {"lop3", {"rrrrr", ""}},
                                             {"prmt", {"rrrr", ""}},
                                             {"ex2", {"rr", " approx ftz"}},
                                             {"lg2", {"rr", " approx ftz"}},
                                             {"rcp", {"rr", " approx ftz rn"}},
                                             {"sqrt", {"rr", " approx ftz rn"}},
                                             {"rsqrt", {"rr", " approx ftz"}},
                                             {"sin", {"rr", " approx ftz"}},
                                             {"cos", {"rr", " approx ftz"}},
                                             {"tanh", {"rr", " approx"}}};
  const auto form = forms.find(i.words[0]);
  if (form == forms.end() || i.words.size() < 2) return {};
  std::string name(form->first);
  for (std::size_t w = 1; w + 1 < i.words.size(); ++w) {
    if (!one_of(i.words[w], modifiers) || form->second.allowed.find(" " + i.words[w]) == View::npos) return {};
    if (i.words[w] == "hi" || i.words[w] == "wide") name += "_" + i.words[w];
  }
  const std::string type = type_of(i.words.back()), given = kinds(i);
  if (type.empty() || given.size() != form->second.kinds.size() || given[0] != 'r') return {};
  if (given.find_first_of("[{") != std::string::npos) return {};
  return call("ptx_" + name + "<" + typed(type) + ">", i);
}

// mov.b64 %0, {%1, %2} and mov.b64 {%0, %1}, %2
std::string halves(const PtxInstruction& i) {
  if (i.words.size() != 2 || i.words[0] != "mov" || i.operands.size() != 2) return {};
  if (i.words[1] != "b64" && i.words[1] != "b32") return {};
  const std::string form = kinds(i);
  if (form == "r{" && i.operands[1].expressions.size() == 2) return call("ptx_pack", i);
  if (form == "{r" && i.operands[0].expressions.size() == 2) return call("ptx_unpack", i);
  return {};
}

// cvt{.rounding}{.ftz}{.sat}.to.from d, a
std::string conversion(const PtxInstruction& i) {
  if (i.words.size() < 3 || kinds(i) != "rr") return {};
  std::string mode = "nearest";
  bool whole = false;
  for (std::size_t w = 1; w + 2 < i.words.size(); ++w) {
    const std::string& word = i.words[w];
    whole = whole || (word.size() == 3 && word[0] == 'r' && word[2] == 'i');
    if (word == "rzi" || word == "rz")
      mode = "zero";
    else if (word == "rmi" || word == "rm")
      mode = "down";
    else if (word == "rpi" || word == "rp")
      mode = "up";
    else if (word != "rn" && word != "rni" && word != "ftz")
      return {};
  }
  const std::string to = type_of(i.words[i.words.size() - 2]), from = type_of(i.words.back());
  if (to.empty() || from.empty() || to.find("Half2") != std::string::npos || from.find("Half2") != std::string::npos)
    return {};
  whole = whole && (to == "::float" || to == "::double");
  if (whole && to != from) return {};
  return call(std::string(whole ? "ptx_whole<" : "ptx_cvt<") + typed(to) + ", " + typed(from) +
                  ", ::ridge_simt::Round::" + mode + ">",
              i);
}

// Words of loads, stores and atomics between the name and the type.
struct Memory {
  std::string order = "weak";  // weak, volatile, relaxed, acquire, release, acq_rel
  bool shared = false, good = true;
  std::string vector = "1", operation;
};

Memory memory_words(const PtxInstruction& i) {
  constexpr std::array<View, 6> orders = {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel"};
  constexpr std::array<View, 18> ignored = {"global", "const", "local", "param", "cta",   "cluster",
                                            "gpu",    "sys",   "ca",    "cg",    "cs",    "lu",
                                            "cv",     "wb",    "wt",    "nc",    "noftz", "gl"};
  constexpr std::array<View, 10> operations = {"add", "exch", "min", "max", "and", "or", "xor", "cas", "inc", "dec"};
  Memory m;
  for (std::size_t w = 1; w + 1 < i.words.size(); ++w) {
    const std::string& word = i.words[w];
    if (one_of(word, orders))
      m.order = word;
    else if (word == "shared" || word == "shared::cta" || word == "shared::cluster")
      m.shared = true;
    else if (word == "v2" || word == "v4")
      m.vector = word.substr(1);
    else if (one_of(word, operations))
      m.operation = word;
    else if (word.rfind("L1::", 0) != 0 && word.rfind("L2::", 0) != 0 && !one_of(word, ignored))
      m.good = false;
  }
  return m;
}

std::string space(const Memory& m) { return m.shared ? "true" : "false"; }

// ld...type d, [a]; ld...v4.type {d, d, d, d}, [a]; st likewise
std::string load_or_store(const PtxInstruction& i) {
  const bool load = i.words[0] == "ld" || i.words[0] == "ldu";
  const Memory m = memory_words(i);
  const std::string type = type_of(i.words.back());
  if (!m.good || type.empty() || i.operands.size() != 2 || !m.operation.empty()) return {};
  const PtxOperand& registers = i.operands[load ? 0 : 1];
  const PtxOperand& address = i.operands[load ? 1 : 0];
  if (address.kind != '[' || address.expressions.size() != 1 || registers.kind == '[') return {};
  if (std::to_string(registers.expressions.size()) != m.vector) return {};
  const std::string order = m.order == "weak"                               ? "plain"
                            : m.order == "volatile" || m.order == "relaxed" ? "relaxed"
                                                                            : "ordered";
  std::string s = "::ridge_simt::ptx_" + std::string(load ? "load" : "store") + "<" + typed(type) + ", " + space(m) +
                  ", ::ridge_simt::PtxOrder::" + order + ">(" + address.expressions[0];
  for (const std::string& e : registers.expressions) s += ", " + e;
  return s + ")";
}

// atom...op.type d, [a], b{, c}; red...op.type [a], b
std::string atomic(const PtxInstruction& i) {
  const bool result = i.words[0] == "atom";
  const Memory m = memory_words(i);
  const std::string type = type_of(i.words.back());
  const std::string wanted = std::string(result ? "r" : "") + "[r" + (m.operation == "cas" ? "r" : "");
  std::string given = kinds(i);
  std::replace(given.begin() + 1, given.end(), 'n', 'r');
  if (!m.good || m.vector != "1" || type.empty() || m.operation.empty() || given != wanted ||
      type.find("Half") != std::string::npos)
    return {};
  const std::string fence = m.order == "weak" || m.order == "relaxed" ? "false" : "true";
  const std::string function = "ptx_atom_" + m.operation + "<" + typed(type) + ", " + space(m) + ", " + fence + ">";
  if (result) return call(function, i);
  std::string s = "::ridge_simt::" + function + "(::ridge_simt::PtxNothing()";
  for (const PtxOperand& o : i.operands) s += ", " + o.expressions[0];
  return s + ")";
}

// Operations of lanes and blocks together, fences, and single words.
std::string together(const PtxInstruction& i) {
  const std::string name = joined(i.words, 0, i.words.size());
  std::string given = kinds(i);
  std::replace(given.begin(), given.end(), 'n', 'r');
  if (name.rfind("shfl.sync.", 0) == 0 && i.words.size() == 4 && i.words[3] == "b32" && given == "rrrrr") {
    static const std::map<View, View> modes = {{"idx", "index"}, {"up", "up"}, {"down", "down"}, {"bfly", "exclusive"}};
    const auto mode = modes.find(i.words[2]);
    return mode == modes.end() ? "" : call("ptx_shfl<::ridge_simt::Shuffle::" + std::string(mode->second) + ">", i);
  }
  if (name == "match.any.sync.b32" && given == "rrr") return call("ptx_match_any", i);
  if (name == "activemask.b32" && given == "r") return call("ptx_activemask", i);
  if (i.words[0] == "redux" && i.words.size() == 4 && given == "rrr")
    if (const std::string type = type_of(i.words[3]); type.find("int32") != std::string::npos)
      return call("ptx_redux_" + i.words[2] + "<" + type + ">", i);
  if ((name == "bar.warp.sync") && given == "r") return call("ptx_warp_sync", i);
  if ((name == "bar.sync" || name == "barrier.sync" || name == "barrier.cta.sync" || name == "barrier.sync.aligned") &&
      given == "r" && i.operands[0].expressions[0] == "0")
    return "__syncthreads()";
  if (name == "cvta.to.global.u64" && given == "rr") return call("ptx_mov<std::uint64_t>", i);
  if ((name == "cvta.to.shared.u64" || name == "cvta.to.shared.u32") && given == "rr") return call("ptx_to_shared", i);
  if ((name == "nanosleep.u32") && given == "r") return call("ptx_nanosleep", i);
  if (i.words[0] == "prefetch" && given == "[") return "(void)0";
  static const std::map<View, View> words = {{"trap", "__trap()"},
                                             {"membar.cta", "__threadfence_block()"},
                                             {"membar.gl", "__threadfence()"},
                                             {"membar.sys", "__threadfence_system()"},
                                             {"fence.acq_rel.cta", "__threadfence_block()"},
                                             {"fence.acq_rel.gpu", "__threadfence()"},
                                             {"fence.acq_rel.sys", "__threadfence_system()"},
                                             {"fence.sc.cta", "__threadfence_block()"},
                                             {"fence.sc.gpu", "__threadfence()"},
                                             {"fence.sc.sys", "__threadfence_system()"},
                                             {"griddepcontrol.wait", "(void)0"},
                                             {"griddepcontrol.launch_dependents", "(void)0"}};
  const auto word = words.find(name);
  return word == words.end() || !given.empty() ? std::string() : std::string(word->second);
}

}  // namespace

std::string ptx_type(View name) { return typed(type_of(name)); }

std::string ptx_common(const PtxInstruction& given) {
  PtxInstruction i = given;
  for (PtxOperand& o : i.operands)
    if (o.kind == 's') o.kind = 'n';  // something to read
  const std::string& name = i.words[0];
  if (name == "ld" || name == "ldu" || name == "st") return load_or_store(i);
  if (name == "atom" || name == "red") return atomic(i);
  if (name == "cvt") return conversion(i);
  if (name == "shf" && i.words.size() == 4 && i.words[3] == "b32" && i.operands.size() == 4)
    return call("ptx_shf_" + i.words[1] + "_" + i.words[2], i);
  for (const auto& translate : {halves, arithmetic, together})
    if (std::string s = translate(i); !s.empty()) return s;
  return {};
}

}  // namespace ridge::simt
