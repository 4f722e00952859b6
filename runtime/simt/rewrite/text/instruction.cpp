#include "instruction.hpp"

#include <algorithm>
#include <cctype>

namespace ridge::simt {

namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.remove_suffix(1);
  return s;
}

bool ends_with(std::string_view s, std::string_view tail) {
  return s.size() >= tail.size() && s.substr(s.size() - tail.size()) == tail;
}
bool contains(std::string_view s, std::string_view part) { return s.find(part) != std::string_view::npos; }

// Position of `wanted` outside quotes, or the end.
std::size_t find_unquoted(std::string_view s, char wanted) {
  bool quoted = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (quoted && s[i] == '\\') {
      ++i;
    } else if (s[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && s[i] == wanted) {
      return i;
    }
  }
  return s.size();
}

template <std::size_t N>
bool one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Functions that never return, as compilers leave nothing behind their calls.
bool never_returns(std::string_view f) {
  static constexpr std::string_view kNames[] = {"__assert_fail",
                                                "abort",
                                                "exit",
                                                "_exit",
                                                "_Exit",
                                                "quick_exit",
                                                "_Unwind_Resume",
                                                "__cxa_throw",
                                                "__cxa_rethrow",
                                                "__cxa_bad_cast",
                                                "__cxa_bad_typeid",
                                                "__cxa_throw_bad_array_new_length",
                                                "__stack_chk_fail",
                                                "__chk_fail",
                                                "__cxa_call_terminate",
                                                "_ZSt21__glibcxx_assert_failPKciS0_S0_",
                                                "__clang_call_terminate",
                                                "__cxa_pure_virtual",
                                                "__cxa_call_unexpected",
                                                "longjmp",
                                                "_ZSt9terminatev"};
  return one_of(f, kNames) || (starts_with(f, "_ZSt") && contains(f, "__throw_"));
}

// Mathematical functions that the compiler left as calls.
void math_call(std::string_view f, Instruction& out) {
  static constexpr std::string_view kSpecial[] = {
      "sqrt",  "rsqrt", "cbrt", "rcbrt", "exp",  "exp2", "exp10", "expm1",  "log",    "log2",
      "log10", "log1p", "sin",  "cos",   "tan",  "asin", "acos",  "atan",   "atan2",  "sinh",
      "cosh",  "tanh",  "pow",  "erf",   "erfc", "fmod", "hypot", "sincos", "tgamma", "lgamma"};
  if (f == "fmaf") out.fp32 = 2;
  if (f == "fma") out.fp64 = 2;
  std::string_view base = f;
  if (one_of(base, kSpecial)) out.special = 1;
  if (ends_with(base, "f")) base.remove_suffix(1);
  if (one_of(base, kSpecial)) out.special = 1;
}

// addss, vmulps, vfmadd231sd, divss, ...: scalar or packed, single or double precision.
void arithmetic(std::string_view m, std::string_view operands, Instruction& out) {
  if (m.size() < 5) return;
  std::string_view suffix = m.substr(m.size() - 2);
  bool packed = suffix[0] == 'p', is_single = suffix[1] == 's';
  if ((suffix[0] != 's' && !packed) || (suffix[1] != 's' && suffix[1] != 'd')) return;
  std::string_view op = m.substr(0, m.size() - 2);
  if (op.front() == 'v') op.remove_prefix(1);
  int register_bytes = contains(operands, "%ymm") ? 32 : contains(operands, "%zmm") ? 64 : 16;
  int lanes = packed ? register_bytes / (is_single ? 4 : 8) : 1;
  int& flops = is_single ? out.fp32 : out.fp64;
  if (op == "add" || op == "sub" || op == "mul" || op == "addsub" || op == "hadd" || op == "hsub")
    flops = lanes;
  else if (starts_with(op, "fmadd") || starts_with(op, "fmsub") || starts_with(op, "fnmadd") ||
           starts_with(op, "fnmsub"))
    flops = 2 * lanes;
  else if (op == "div" || op == "sqrt" || op == "rsqrt" || op == "rcp")
    out.special = lanes;
}

bool is_move(std::string_view m) {
  return m == "mov" || m == "movl" || m == "movq" || m == "movb" || m == "movw" || m == "movss" || m == "movsd" ||
         m == "movaps" || m == "movups" || m == "movapd" || m == "movupd" || m == "movdqa" || m == "movdqu" ||
         m == "vmovss" || m == "vmovsd" || m == "vmovaps" || m == "vmovups" || m == "vmovdqa" || m == "vmovdqu" ||
         m == "movd" || m == "movabsq";
}

}  // namespace

AssemblyLine parse_line(std::string_view text) {
  AssemblyLine line;
  std::string_view s = trimmed(text.substr(0, find_unquoted(text, '#')));
  if (s.empty()) return line;
  std::size_t colon = find_unquoted(s, ':');
  if (colon + 1 == s.size() && s.find_first_of(" \t") >= s.size()) {
    line.kind = AssemblyLine::Kind::label;
    line.name = s.substr(0, colon);
    return line;
  }
  std::size_t blank = std::min(s.find_first_of(" \t"), s.size());
  line.name = s.substr(0, blank);
  line.operands = trimmed(s.substr(blank));
  line.kind = s.front() == '.' ? AssemblyLine::Kind::directive : AssemblyLine::Kind::instruction;
  static constexpr std::string_view kPrefixes[] = {"rep",  "repz",    "repe", "repne", "repnz",
                                                   "lock", "notrack", "bnd",  "data16"};
  while (line.kind == AssemblyLine::Kind::instruction && one_of(line.name, kPrefixes) && !line.operands.empty()) {
    line.repeated = line.repeated || starts_with(line.name, "rep");
    blank = std::min(line.operands.find_first_of(" \t"), line.operands.size());
    line.name = line.operands.substr(0, blank);
    line.operands = trimmed(line.operands.substr(blank));
  }
  return line;
}

std::string_view next_argument(std::string_view& rest) {
  int depth = 0;
  bool quoted = false;
  std::size_t i = 0;
  for (; i < rest.size(); ++i) {
    char c = rest[i];
    if (quoted && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) break;
  }
  i = std::min(i, rest.size());
  std::string_view argument = trimmed(rest.substr(0, i));
  rest = i < rest.size() ? rest.substr(i + 1) : std::string_view();
  return argument;
}

Instruction parse_instruction(const AssemblyLine& line) {
  Instruction out;
  std::string_view m = line.name, operands = line.operands, rest = operands;
  std::string_view first = next_argument(rest), last = first;
  while (!rest.empty()) last = next_argument(rest);

  std::string_view target = first.substr(0, first.find('@'));
  bool direct = !first.empty() && first.front() != '*' && first.front() != '%';
  if (m == "call" || m == "callq") {
    out.flow = Flow::call;
    if (!direct) return out;
    out.target = target;
    math_call(target, out);
    if (never_returns(target)) out.flow = Flow::end;
    return out;
  }
  if (m == "jmp" || m == "jmpq") {
    out.flow = direct ? Flow::jump : Flow::indirect;
    if (direct) out.target = target;
    return out;
  }
  if (m.front() == 'j' || starts_with(m, "loop")) {
    out.flow = Flow::conditional;
    out.target = target;
    return out;
  }
  if (m == "ret" || m == "retq" || m == "ud2" || m == "hlt" || m == "int3") {
    out.flow = Flow::end;
    out.bookkeeping = true;
    return out;
  }
  if (starts_with(m, "push") || starts_with(m, "pop") || m == "leave" || m == "leaveq" || starts_with(m, "nop") ||
      m == "endbr64" || m == "cld") {
    out.bookkeeping = !starts_with(m, "popcnt");
    return out;
  }
  auto is_slot = [](std::string_view o) { return ends_with(o, "(%rsp)"); };
  auto is_register = [](std::string_view o) { return starts_with(o, "%") && !starts_with(o, "%fs:"); };
  out.bookkeeping = last == "%rsp" || first == "%fs:0" ||
                    (is_move(m) && ((is_slot(first) && is_register(last)) || (is_register(first) && is_slot(last)) ||
                                    (is_register(first) && last == "%rbp" && first == "%rsp")));
  out.sets_first_argument = last == "%rdi" || last == "%edi";
  arithmetic(m, operands, out);
  return out;
}

}  // namespace ridge::simt
