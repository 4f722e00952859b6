#include "accesses.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "operands.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

constexpr std::int64_t kGuard = 4096;  // below a thread's stack: larger steps could pass over it

bool number(View s, std::int64_t& out) {
  if (s.empty()) return false;
  char* end = nullptr;
  const std::string text(s);
  out = static_cast<std::int64_t>(std::strtoull(text.c_str(), &end, 0));
  return *end == 0;
}

void add(Sum& to, const Sum& from, std::uint64_t factor) {
  to.constant += from.constant * factor;
  for (auto [unknown, n] : from.terms)
    if ((to.terms[unknown] += n * factor) == 0) to.terms.erase(unknown);
}

// No compiler makes these from plain C++, or their addresses cannot be followed.
bool unchecked(View name) {
  for (View head : {"maskmov", "vmaskmov", "vgather", "vpgather", "vscatter", "vpscatter", "vpmaskmov", "movdir",
                    "enqcmd",  "tile",     "enter",   "lods",     "scas",     "cmps",      "xlat",      "fsave",
                    "fnsave",  "frstor",   "fnstenv", "fstenv",   "fldenv",   "std"})
    if (starts_with(name, head) && !starts_with(name, "cmpss") && !starts_with(name, "cmpsd")) return true;
  return false;
}

bool string_instruction(View name, View operands) {
  if (!operands.empty() && operands.find("%es:") == View::npos) return false;
  for (View head : {"movs", "stos"})
    for (View width : {"b", "w", "l", "q"})
      if (name.size() == 5 && starts_with(name, head) && name.ends_with(width)) return true;
  return false;
}

// Instructions that write to their last operand and to nothing else.
bool plain(View name) {
  for (View head :
       {"mov",  "lea", "add", "sub", "xor", "and", "or",  "sh",    "sa",  "ro",  "rc",     "cvt",   "set",
        "cmov", "not", "neg", "inc", "dec", "bsf", "bsr", "bswap", "adc", "sbb", "popcnt", "pextr", "pmovmsk"})
    if (starts_with(name, head)) return true;
  return false;
}

bool compares(View name) {
  if (starts_with(name, "cmpxchg")) return false;
  for (View head : {"cmp", "test", "ucomi", "comi", "nop", "prefetch"})
    if (starts_with(name, head)) return true;
  return name == "bt" || name == "btl" || name == "btq" || name == "btw";
}

}  // namespace

Sum Accesses::of(int unknown) { return {{{unknown, 1}}, 0}; }

int Accesses::symbol(View name) {
  auto [at, is_new] = symbols_.try_emplace(std::string(name), unknowns_);
  if (is_new) ++unknowns_;
  return at->second;
}

void Accesses::begin_function() {
  forget();
  frame_bytes_ = 0;
  prologue_ = true;
}

void Accesses::forget() {
  for (Sum& r : registers_) r = of(fresh());
  stack_ = fresh();
  registers_[kRsp] = of(stack_);
  slots_.clear();
  announced_.clear();
  prologue_ = false;
}

Sum Accesses::address_of(const MemoryOperand& m) {
  Sum sum;
  View d = m.displacement;
  std::int64_t value = 0;
  if (number(d, value)) {
    sum.constant = static_cast<std::uint64_t>(value);
  } else if (!d.empty()) {
    std::size_t sign = d.find_last_of("+-");
    if (sign != View::npos && sign > 0 && number(d.substr(sign + (d[sign] == '+' ? 1 : 0)), value)) {
      sum.constant = static_cast<std::uint64_t>(value);
      d = d.substr(0, sign);
    }
    std::string name(d);
    if (name.ends_with("@TPOFF")) name.replace(name.size() - 6, 6, "@tpoff");
    sum.terms[symbol(name)] = 1;
  }
  if (m.thread_local_segment) add(sum, of(symbol("%fs")), 1);
  if (m.base >= 0 && m.base < kRip) add(sum, registers_[m.base], 1);
  if (m.index >= 0) add(sum, registers_[m.index], m.scale);
  if (m.base == kNoAddress || m.index == kNoAddress) add(sum, of(fresh()), 1);
  return sum;
}

// A fixed place between the stack pointer and the return address, which may be read.
bool Accesses::frame(const Sum& address, unsigned bytes, bool store) const {
  const Sum& top = registers_[kRsp];
  if (address.terms != top.terms) return false;
  const auto at = static_cast<std::int64_t>(address.constant - top.constant);
  return at >= 0 && at + bytes <= frame_bytes_ + (store ? 0 : 8);
}

bool Accesses::announced(const Sum& address, unsigned bytes, bool store) const {
  return std::any_of(announced_.rbegin(), announced_.rend(), [&](const Announced& a) {
    const std::uint64_t at = address.constant - a.address.constant;
    return a.store == store && at <= a.bytes && bytes <= a.bytes - at && a.address.terms == address.terms;
  });
}

// Constants that the compiler made, the loader's table of addresses, the thread's own base and the stack protector.
bool Accesses::harmless(const Use& use) const {
  const MemoryOperand& m = use.operand;
  if (use.store || m.index != -1) return false;
  if (m.thread_local_segment)
    return m.base == -1 && (m.displacement == "0" || m.displacement == "40" || m.displacement == "0x28");
  if (m.base != kRip) return false;
  if (m.displacement.ends_with("@GOTPCREL") || m.displacement.ends_with("@GOTTPOFF") ||
      m.displacement.ends_with("@gottpoff"))
    return true;
  return starts_with(m.displacement, ".LC") && m.displacement.find_first_of("+-") == View::npos;
}

// Neither flags nor registers change.
std::string Accesses::check(const MemoryOperand& m, unsigned bytes, bool store, std::string& refused) const {
  std::string place;
  if (m.base == kNoAddress || m.index == kNoAddress) refused = "an address of this kind is not allowed";
  View d = m.displacement;
  const View text = starts_with(m.text, "*") ? m.text.substr(1) : m.text;
  static constexpr View kNames[] = {"%rax", "%rcx", "%rdx", "%rbx", "%rsp", "%rbp", "%rsi", "%rdi", "%r8",
                                    "%r9",  "%r10", "%r11", "%r12", "%r13", "%r14", "%r15", "%rip"};
  auto name = [&](int r) { return std::string(kNames[r]); };
  if (m.base == kRsp) {
    std::int64_t offset = 0;
    if ((!d.empty() && !number(d, offset)) || m.thread_local_segment)
      refused = "an address of this kind is not allowed";
    place = "\tleaq\t" + std::to_string(offset + 8) + "(%rsp";
    if (m.index >= 0) place += "," + name(m.index) + "," + std::to_string(m.scale);
    place += "), %r11\n";
  } else if (m.thread_local_segment) {
    if (m.base == 11 || m.index == 11) refused = "an address of this kind is not allowed";
    place = "\tmovq\t%fs:0, %r11\n";
    if (m.base >= 0) place += "\tleaq\t(%r11," + name(m.base) + "), %r11\n";
    place += "\tleaq\t" + std::string(d) + "(%r11";
    if (m.index >= 0) place += "," + name(m.index) + "," + std::to_string(m.scale);
    place += "), %r11\n";
  } else {
    place = "\tleaq\t" + std::string(text) + ", %r11\n";
  }
  return "\tpushq\t%r11\n" + place + "\tpushq\t$" + std::to_string(bytes + (store ? 256 : 0)) +
         "\n\tcall\t__ridge_check_access@PLT\n\tleaq\t8(%rsp), %rsp\n\tpopq\t%r11\n";
}

// Both ends of what it moves. A count of 0 moves nothing, and its ends are 8 bytes apart.
std::string Accesses::strings(View name, bool repeated) const {
  const unsigned bytes = name.back() == 'b' ? 1 : name.back() == 'w' ? 2 : name.back() == 'l' ? 4 : 8;
  std::string out, unused;
  auto ends = [&](int reg, bool store) {
    MemoryOperand m;
    m.base = reg;
    m.text = reg == kRsi ? "(%rsi)" : "(%rdi)";
    out += check(m, bytes, store, unused);
    const std::string last =
        "-" + std::to_string(bytes) + (reg == kRsi ? "(%rsi,%rcx," : "(%rdi,%rcx,") + std::to_string(bytes) + ")";
    m.index = kRcx;
    m.text = last;
    if (repeated) out += check(m, bytes, store, unused);
  };
  if (starts_with(name, "movs")) ends(kRsi, false);
  ends(kRdi, true);
  return out;
}

// The stack pointer moves by small steps, or to a place that is checked.
std::string Accesses::stack_pointer(const AssemblyLine& line, const std::vector<View>& operands, std::string& refused) {
  const View name = line.name;
  Sum& top = registers_[kRsp];
  auto moved = [&](const std::string& text) {
    MemoryOperand m;
    parse_memory(text, m);
    std::string lines = check(m, 1, false, refused);
    stack_ = fresh();
    top = of(stack_);
    slots_.clear();
    return lines;
  };
  if (starts_with(name, "leave")) return moved("(%rbp)");
  if (operands.empty() || general_register(operands.back()).number != kRsp) return {};
  if (compares(name) || starts_with(name, "push")) return {};
  const View first = operands.front();
  std::int64_t step = 0;
  MemoryOperand m;
  if (operands.size() == 2 && starts_with(first, "$") && number(first.substr(1), step) &&
      (name == "subq" || name == "addq")) {
    if (name == "subq") step = -step;
  } else if (name == "leaq" && parse_memory(first, m) && m.base == kRsp && m.index == -1 &&
             number(m.displacement, step)) {
  } else if (name == "leaq" && parse_memory(first, m) && !m.thread_local_segment) {
    return moved(std::string(first));
  } else if (name == "movq" && general_register(first).bytes == 8) {
    return moved("(" + std::string(first) + ")");
  } else if (name == "andq" && starts_with(first, "$") && number(first.substr(1), step) && step < 0 &&
             step >= -kGuard) {
    stack_ = fresh();
    top = of(stack_);
    slots_.clear();
    return {};
  } else if (name == "subq" && general_register(first).bytes == 8 && first != "%r11") {
    std::string lines = "\tpushq\t%r11\n\tleaq\t8(%rsp), %r11\n\tsubq\t" + std::string(first) +
                        ", %r11\n\tpushq\t$1\n\tcall\t__ridge_check_access@PLT\n\tleaq\t8(%rsp), %rsp\n\tpopq\t%r11\n";
    stack_ = fresh();
    top = of(stack_);
    slots_.clear();
    return lines;
  } else {
    refused = "the stack may not be moved in this way";
    return {};
  }
  std::string lines;
  if (step <= -kGuard) {
    const std::string text = std::to_string(step) + "(%rsp)";
    parse_memory(text, m);
    lines = check(m, 1, false, refused);
  }
  top.constant += static_cast<std::uint64_t>(step);
  if (prologue_ && step < 0) frame_bytes_ -= step;
  return lines;
}

void Accesses::stored(const Sum* address, std::uint64_t bytes) {
  if (address == nullptr || address->terms != registers_[kRsp].terms) return slots_.clear();
  const auto at = static_cast<std::int64_t>(address->constant);
  slots_.erase(slots_.upper_bound(at - 8), slots_.lower_bound(at + static_cast<std::int64_t>(bytes)));
}

void Accesses::call(View target) {
  const bool hook = starts_with(target, "__tsan_") || target == "__sanitizer_cov_trace_pc";
  const Sum address = registers_[kRdi], size = registers_[kRsi];
  for (int r : {kRax, kRcx, kRdx, kRsi, kRdi, 8, 9, 10, 11}) kill(r);
  if (!hook || starts_with(target, "__tsan_atomic") || starts_with(target, "__tsan_mem")) slots_.clear();
  if (!hook) return announced_.clear();
  View name = target.substr(std::min<std::size_t>(7, target.size()));
  for (View prefix : {"unaligned_", "volatile_", "unaligned_volatile_"})
    if (starts_with(name, prefix) && name.size() > prefix.size() &&
        (name[prefix.size()] == 'r' || name[prefix.size()] == 'w'))
      name.remove_prefix(prefix.size());
  bool load = starts_with(name, "read"), store = starts_with(name, "write") || starts_with(name, "read_write");
  std::uint64_t bytes = 0;
  if (name == "vptr_read" || name == "vptr_update") {
    (name == "vptr_read" ? load : store) = true;
    bytes = 8;
  } else if (name.ends_with("_range")) {
    bytes = size.terms.empty() ? size.constant : 0;
  } else if (std::size_t digits = name.find_first_of("0123456789"); digits != View::npos) {
    std::from_chars(name.data() + digits, name.data() + name.size(), bytes);
  }
  if (bytes == 0) return;
  if (announced_.size() >= 64) announced_.erase(announced_.begin());
  if (load) announced_.push_back({address, bytes, false});
  if (store) announced_.push_back({address, bytes, true});
}

void Accesses::effects(const AssemblyLine& line, const Instruction& i, const std::vector<View>& operands) {
  const View name = line.name;
  if (i.flow == Flow::call) return call(i.target);
  if (starts_with(name, "push") || starts_with(name, "pop")) {
    if (starts_with(name, "popcnt")) {
      if (!operands.empty()) kill(general_register(operands.back()).number);
      return;
    }
    const bool push = starts_with(name, "push");
    registers_[kRsp].constant += push ? std::uint64_t{0} - 8 : 8;
    if (push && prologue_) frame_bytes_ += 8;
    if (push) stored(&registers_[kRsp], 8);
    if (!push && !operands.empty())
      if (int r = general_register(operands.back()).number; r >= 0) kill(r);
    return;
  }
  if (i.flow != Flow::next || operands.empty() || compares(name)) {
    if (i.flow == Flow::next && operands.empty() && !starts_with(name, "nop") && name != "endbr64")
      for (int r : {kRax, kRcx, kRdx, kRbx, kRsi, kRdi}) kill(r);
    return;
  }
  const View last = operands.back(), first = operands.front();
  const Register to = general_register(last), from = general_register(first);
  if (to.number == kRsp) return;  // see stack_pointer
  MemoryOperand m;
  if (to.number < 0 && parse_memory(last, m)) {
    const Sum address = address_of(m);
    stored(&address, access_bytes(name, operands));
    if (name == "movq" && from.bytes == 8 && address.terms == registers_[kRsp].terms)
      slots_[static_cast<std::int64_t>(address.constant)] = registers_[from.number];
    if (!plain(name))
      for (int r : {kRax, kRcx, kRdx, kRbx, kRsi, kRdi}) kill(r);
    if (starts_with(name, "xchg") || starts_with(name, "xadd"))
      if (from.number >= 0) kill(from.number);
    return;
  }
  if (to.number < 0 && last.starts_with("%xmm") && !starts_with(name, "pcmpi") && !starts_with(name, "pcmpe")) return;
  if (to.number < 0 || !plain(name)) {
    if (operands.size() > 1 && starts_with(name, "imul")) return kill(to.number);
    for (View o : operands)
      if (int r = general_register(o).number; r >= 0) kill(r);
    for (int r : {kRax, kRcx, kRdx, kRbx, kRsi, kRdi}) kill(r);
    return;
  }
  // The value that the register holds now.
  Sum value = of(fresh());
  auto source = [&](Sum& out) {
    if (from.bytes == 8) {
      out = registers_[from.number];
      return true;
    }
    std::int64_t immediate = 0;
    MemoryOperand memory;
    if (starts_with(first, "$")) {
      if (number(first.substr(1), immediate)) {
        out = {{}, static_cast<std::uint64_t>(immediate)};
        return true;
      }
      memory.displacement = first.substr(1);
      out = address_of(memory);
      return true;
    }
    if (!parse_memory(first, memory)) return false;
    if (memory.thread_local_segment && memory.base == -1 && memory.index == -1 && memory.displacement == "0") {
      out = of(symbol("%fs"));
      return true;
    }
    const Sum address = address_of(memory);
    if (name != "movq" || memory.thread_local_segment || address.terms != registers_[kRsp].terms) return false;
    out = slots_.try_emplace(static_cast<std::int64_t>(address.constant), of(fresh())).first->second;
    return true;
  };
  Sum other;
  const bool wide = to.bytes == 8;
  std::int64_t count = 0;
  if ((wide && (name == "movq" || name == "movabsq")) || (name == "movl" && to.bytes == 4 && starts_with(first, "$"))) {
    if (source(other)) {
      value = other;
      if (!wide && other.terms.empty()) value.constant &= 0xffffffffu;
    }
  } else if (wide && name == "leaq" && parse_memory(first, m) && !m.thread_local_segment) {
    value = address_of(m);
  } else if (wide && (name == "addq" || name == "subq") && operands.size() == 2 && source(other)) {
    value = registers_[to.number];
    add(value, other, name == "addq" ? 1 : ~std::uint64_t{0});
  } else if (wide && (name == "incq" || name == "decq")) {
    value = registers_[to.number];
    value.constant += name == "incq" ? 1 : ~std::uint64_t{0};
  } else if (wide && (name == "shlq" || name == "salq") && starts_with(first, "$") && number(first.substr(1), count) &&
             count >= 0 && count < 64) {
    value = {};
    add(value, registers_[to.number], std::uint64_t{1} << count);
  } else if ((name == "xorl" || name == "xorq") && first == last) {
    value = {};
  }
  registers_[to.number] = value;
}

std::string Accesses::before(const AssemblyLine& raw, const Instruction& i, std::string& refused) {
  AssemblyLine line = raw;
  bool repeated = false;
  frame_uses_.clear();
  if (starts_with(line.name, "rep;")) {  // rep;movsq (%rsi), %es:(%rdi)
    repeated = true;
    line.name.remove_prefix(4);
  }
  const View name = line.name;
  std::string lines;
  if (string_instruction(name, line.operands)) {
    lines = strings(name, repeated || raw.repeated);
    slots_.clear();
    for (int r : {kRcx, kRsi, kRdi}) kill(r);
    return lines;
  }
  const std::vector<View> operands = operands_of(line.operands);
  if (unchecked(name) || repeated) refused = "memory instructions of this kind are not allowed";
  const bool transfer = i.flow != Flow::next;
  if (!starts_with(name, "lea") && !starts_with(name, "nop") && !starts_with(name, "prefetch")) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      Use use;
      if (transfer && !starts_with(operands[k], "*")) continue;
      if (!parse_memory(operands[k], use.operand)) continue;
      if (starts_with(name, "bt") && starts_with(operands.front(), "%"))
        refused = "memory instructions of this kind are not allowed";
      use.bytes = access_bytes(name, operands);
      use.store = writes_memory(name, k, operands.size());
      const Sum address = address_of(use.operand);
      if (frame(address, use.bytes, use.store)) {
        const auto offset = static_cast<std::int64_t>(address.constant - registers_[kRsp].constant);
        // Hooks take addresses, and compilers keep these in the frame; they keep scalars as whole vector registers.
        const bool address_kept = use.bytes == 8 && raw.operands.find("%xmm") == View::npos;
        frame_uses_.push_back({offset, use.bytes,
                               address_kept      ? 0
                               : use.bytes == 16 ? 4
                                                 : use.bytes,
                               !use.store || !starts_with(name, "mov"), use.store});
        continue;
      }
      if (harmless(use) || announced(address, use.bytes, use.store)) continue;
      lines += check(use.operand, use.bytes, use.store, refused);
    }
  }
  for (View o : operands)
    if (starts_with(name, "xchg") && general_register(o).number == kRsp)
      refused = "the stack may not be moved in this way";
  if (starts_with(name, "pop") && !operands.empty() && general_register(operands.back()).number == kRsp)
    refused = "the stack may not be moved in this way";
  lines += stack_pointer(line, operands, refused);
  effects(line, i, operands);
  if (transfer && i.flow != Flow::conditional) prologue_ = false;
  return lines;
}

}  // namespace ridge::simt
