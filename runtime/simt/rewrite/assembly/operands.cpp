#include "operands.hpp"

#include <algorithm>
#include <charconv>

namespace ridge::simt {

namespace {

using View = std::string_view;

}  // namespace

Register general_register(View o) {
  if (o.size() < 3 || o.front() != '%') return {};
  o.remove_prefix(1);
  static constexpr View k64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
  static constexpr View k32[] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"};
  static constexpr View k16[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
  static constexpr View k8[] = {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"};
  static constexpr View kHigh[] = {"ah", "ch", "dh", "bh"};
  for (int i = 0; i < 8; ++i) {
    if (o == k64[i]) return {i, 8};
    if (o == k32[i]) return {i, 4};
    if (o == k16[i]) return {i, 2};
    if (o == k8[i] || (i < 4 && o == kHigh[i])) return {i, 1};
  }
  int number = 0;
  if (!starts_with(o, "r")) return {};
  auto [end, error] = std::from_chars(o.data() + 1, o.data() + o.size(), number);
  if (error != std::errc() || number < 8 || number > 15) return {};
  View width(end, static_cast<std::size_t>(o.data() + o.size() - end));
  return {number, width.empty() ? 8u : width == "d" ? 4u : width == "w" ? 2u : 1u};
}

std::vector<View> operands_of(View text) {
  std::vector<View> out;
  while (!text.empty()) out.push_back(next_argument(text));
  return out;
}

bool parse_memory(View o, MemoryOperand& m) {
  m = {};
  m.text = o;
  if (o.empty() || o.front() == '$') return false;
  if (starts_with(o, "*")) o.remove_prefix(1);
  if (o.empty()) return false;
  if (starts_with(o, "%")) {
    if (!starts_with(o, "%fs:")) return false;  // a register
    m.thread_local_segment = true;
    o.remove_prefix(4);
  }
  std::size_t open = o.rfind('(');
  m.displacement = o.substr(0, open);
  if (open == View::npos || o.back() != ')') {
    m.displacement = o;
    return true;
  }
  View inside = o.substr(open + 1, o.size() - open - 2);
  View base = next_argument(inside), index = next_argument(inside), scale = next_argument(inside);
  auto whole = [](View name) {  // other registers make no address that can be followed
    Register r = general_register(name);
    return r.bytes == 8 ? r.number : kNoAddress;
  };
  if (base == "%rip")
    m.base = kRip;
  else if (!base.empty())
    m.base = whole(base);
  if (!index.empty()) m.index = whole(index);
  if (!scale.empty()) std::from_chars(scale.data(), scale.data() + scale.size(), m.scale);
  return true;
}

unsigned access_bytes(View name, const std::vector<View>& operands) {
  // AVX: vmovss for movss, in newer processors' code.
  if (name.starts_with('v') && operands.size() > 0) name.remove_prefix(1);
  auto ends = [&](View tail) { return name.ends_with(tail); };
  if (starts_with(name, "movzb") || starts_with(name, "movsb")) return 1;
  if (starts_with(name, "movzw") || starts_with(name, "movsw")) return 2;
  if (name == "movslq" || name == "movsxd") return 4;
  if (starts_with(name, "cvtsi2s")) return ends("q") ? 8 : 4;
  if (starts_with(name, "cvtps2pd") || starts_with(name, "cvtdq2pd") || starts_with(name, "movlp") ||
      starts_with(name, "movhp"))
    return 8;
  if (starts_with(name, "cvt")) {
    if (name.find("ss2") != View::npos) return 4;
    return name.find("sd2") != View::npos ? 8 : 16;
  }
  if (starts_with(name, "f")) {  // x87
    if (starts_with(name, "fldcw") || starts_with(name, "fnstcw") || starts_with(name, "fstcw")) return 2;
    if (ends("t")) return 10;
    if (starts_with(name, "fi")) return ends("ll") || ends("q") ? 8 : ends("l") ? 4 : 2;
    return ends("l") ? 8 : ends("s") ? 4 : 64;
  }
  if (starts_with(name, "set")) return 1;
  if (ends("mxcsr")) return 4;
  bool vector = false;
  for (View o : operands) {
    vector = vector || starts_with(o, "%xmm");
    if (starts_with(o, "%ymm")) return starts_with(name, "extract") ? 16 : 32;
    if (starts_with(o, "%zmm")) return 64;
  }
  if (vector) {
    if (name == "movd") return 4;
    if (name == "movq") return 8;
    if (starts_with(name, "pinsr") || starts_with(name, "pextr"))
      return ends("b") ? 1 : ends("w") ? 2 : ends("d") ? 4 : 8;
    if (name == "extractps" || name == "insertps") return 4;
    if (ends("ss")) return 4;
    if (ends("sd")) return 8;
    return 16;
  }
  unsigned bytes = 0;
  for (View o : operands)
    if (Register r = general_register(o); r.number >= 0) bytes = std::max(bytes, r.bytes);
  const bool shift =
      starts_with(name, "sh") || starts_with(name, "sa") || starts_with(name, "ro") || starts_with(name, "rc");
  if (bytes != 0 && !shift) return bytes;
  if (starts_with(name, "call") || starts_with(name, "jmp") || starts_with(name, "push") || starts_with(name, "pop"))
    return 8;
  switch (name.empty() ? ' ' : name.back()) {
    case 'b':
      return 1;
    case 'w':
      return 2;
    case 'l':
      return 4;
    case 'q':
      return 8;
    default:
      return 64;
  }
}

bool writes_memory(View name, std::size_t at, std::size_t operands) {
  if (starts_with(name, "xchg") || starts_with(name, "xadd")) return true;
  if (at + 1 != operands) return false;
  for (View head : {"cmpxchg", "fst", "fist", "fnst", "stmxcsr", "fbst"})
    if (starts_with(name, head)) return true;
  for (View head : {"cmp", "test", "ucomi", "comi", "push", "call", "jmp", "ldmxcsr", "f"})
    if (starts_with(name, head)) return false;
  if (operands == 1)
    for (View head : {"mul", "imul", "div", "idiv"})
      if (starts_with(name, head)) return false;
  return true;
}

}  // namespace ridge::simt
