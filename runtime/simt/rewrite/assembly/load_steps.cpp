#include "load_steps.hpp"

#include <algorithm>
#include <charconv>

#include "operands.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

constexpr Places bit(int place) { return Places{1} << place; }
constexpr Places general(int r) { return r >= 0 && r < 16 ? bit(r) : 0; }

constexpr Places kArguments = general(kRdi) | general(kRsi) | general(kRdx) | general(kRcx) | general(8) | general(9) |
                              Places{0xFF} << kVectorPlace;
constexpr Places kResults = general(kRax) | general(kRdx) | Places{3} << kVectorPlace;

bool starts_with_one_of(View name, std::initializer_list<View> heads) {
  return std::any_of(heads.begin(), heads.end(), [&](View head) { return starts_with(name, head); });
}
bool names_one_of(View text, std::initializer_list<View> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](View part) { return text.find(part) != View::npos; });
}

Places register_place(View operand) {
  if (int r = general_register(operand).number; r >= 0) return general(r);
  if (!starts_with_one_of(operand, {"%xmm", "%ymm", "%zmm"})) return 0;
  int n = 0;
  std::from_chars(operand.data() + 4, operand.data() + operand.size(), n);
  return n < 16 ? bit(kVectorPlace + n) : 0;
}

bool hands_on(View name) {
  return starts_with_one_of(name, {"mov", "vmov", "lea", "cvts", "sh", "sa", "cltq", "cwtl", "cltd", "cqto", "pshuf",
                                   "unpck", "shufp", "pinsr", "pextr", "insertps", "extractps", "punpck"});
}
// Moves that keep a part of what they write to.
bool merges(View name) {
  return starts_with_one_of(name, {"movh", "movl", "sh", "sa", "unpck", "shufp", "pinsr", "insertps", "punpck"}) &&
         (!starts_with(name, "movl") || starts_with(name, "movlp"));
}
bool compares_values(View name) {
  return starts_with_one_of(name, {"cmp", "test", "ucomi", "comi", "vucomi", "vcomi", "bt"}) &&
         !starts_with(name, "cmpxchg") && name != "cmpss" && name != "cmpsd" && name != "cmpps" && name != "cmppd";
}
bool sets_flags(View name) {
  return starts_with_one_of(name,
                            {"add", "sub", "and", "or", "xor", "neg", "inc", "dec", "imul", "mul", "adc", "sbb"}) &&
         !name.ends_with("ss") && !name.ends_with("sd") && !name.ends_with("ps") && !name.ends_with("pd");
}

}  // namespace

LoadStep LoadSteps::call(View target, bool own_function) {
  LoadStep step;
  step.reads = arguments_;
  arguments_ = 0;
  step.kind = LoadStep::Kind::use;
  step.writes = kResults;
  if (own_function || names_one_of(target, {"10ridge_simt7barrier", "grid_barrier", "barrier_wait", "pipeline_wait"})) {
    step.kind = LoadStep::Kind::fence;
    step.reads |= bit(kCopyPlace);
  } else if (names_one_of(target, {"multiply_matrices"})) {
    step.reads |= bit(kCopyPlace);
  } else if (names_one_of(target, {"memcpy", "memmove", "pipeline_copy", "device_access"})) {
    step.kind = LoadStep::Kind::load;
    step.address = step.reads;
    step.writes = bit(kCopyPlace) | bit(kArrayPlace) | general(kRax);
  }
  return step;
}

std::vector<LoadStep> LoadSteps::of(const AssemblyLine& line, const Instruction& i, const std::vector<FrameUse>& frame,
                                    bool own_function) {
  const View name = line.name;
  if (i.flow == Flow::call) {
    const bool copy = names_one_of(i.target, {"mem"});
    if (!copy && starts_with_one_of(i.target, {"__tsan_", "__sanitizer_", "__ridge_"})) {
      arguments_ = 0;
      return {};
    }
    return {call(i.target, own_function)};
  }
  const std::vector<View> operands = operands_of(line.operands);
  if (i.flow == Flow::conditional) return {{LoadStep::Kind::branch, bit(kFlagsPlace), 0, 0, {}, false}};
  if (i.flow != Flow::next || operands.empty() || starts_with_one_of(name, {"push", "nop", "prefetch"})) return {};
  const View last = operands.back();
  if (general_register(last).number == kRsp) return {};

  LoadStep step;
  const bool cleared = starts_with_one_of(name, {"xor", "pxor", "sub"}) && operands.size() == 2 &&
                       operands.front() == last && starts_with(last, "%");
  step.kind = hands_on(name) || compares_values(name) || starts_with(name, "set") || cleared ? LoadStep::Kind::move
                                                                                             : LoadStep::Kind::use;
  step.pointer = names_one_of(line.operands, {"tpoff", "TPOFF", "%fs:0"});
  std::vector<LoadStep> out;
  bool stores = false;
  LoadStep store;
  const bool lea = starts_with(name, "lea");
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool is_last = k + 1 == operands.size();
    MemoryOperand m;
    if (!parse_memory(operands[k], m)) {
      const Places place = register_place(operands[k]);
      // The last operand is read as well, where it is not only written to.
      const bool reads = !is_last || operands.size() == 1 || (!hands_on(name) && !starts_with(name, "set")) ||
                         merges(name) || compares_values(name);
      if (reads) step.reads |= place;
      if (is_last && !compares_values(name)) step.writes |= place;
      continue;
    }
    const Places address = general(m.base) | general(m.index);
    if (lea) {
      if (m.base == kRsp) step.pointer = true;
      step.reads |= address & ~general(kRsp);
      continue;
    }
    if (m.base == kRip || (m.thread_local_segment && m.displacement == "0")) continue;  // constants; the thread's base
    const bool writes = writes_memory(name, k, operands.size()) && !compares_values(name);
    const bool reads = !writes || !starts_with_one_of(name, {"mov", "vmov", "set"});
    LoadStep access;
    access.address = address & ~general(kRsp);
    access.pointer = m.thread_local_segment || m.base == kRsp || !frame.empty();
    if (reads) {
      LoadStep load = access;
      load.kind = LoadStep::Kind::load;
      load.writes = bit(kOperandPlace);
      if (!frame.empty()) {
        load.kind = LoadStep::Kind::move;
        load.frame = frame.front();
        load.frame.store = false;
        load.frame.load = true;
      } else if (m.base == kRsp) {
        load.kind = LoadStep::Kind::move;
        load.reads = bit(kArrayPlace) | load.address;
      }
      load.pointer = m.thread_local_segment;
      out.push_back(load);
      step.reads |= bit(kOperandPlace);
    }
    if (writes) {
      stores = true;
      store = access;
      store.kind = LoadStep::Kind::store;
      if (!frame.empty()) {
        store.kind = LoadStep::Kind::move;
        store.frame = frame.front();
        store.frame.load = false;
        store.frame.store = true;
        store.pointer = false;
      } else if (m.base == kRsp) {
        store.kind = LoadStep::Kind::move;
        store.writes = bit(kArrayPlace);
        store.reads = bit(kArrayPlace);
        store.pointer = false;
      }
    }
  }
  if (cleared) step.reads = 0;
  if (starts_with_one_of(name, {"cmov", "adc", "sbb", "set"})) step.reads |= bit(kFlagsPlace);
  if (compares_values(name) || sets_flags(name)) step.writes |= bit(kFlagsPlace);
  if (operands.size() == 1 && starts_with_one_of(name, {"mul", "imul", "div", "idiv"})) {
    step.reads |= general(kRax) | general(kRdx);
    step.writes = general(kRax) | general(kRdx);
  }
  if (starts_with(name, "pop") && !starts_with(name, "popcnt")) step.reads = 0;
  if (stores) step.writes |= bit(kOperandPlace);
  arguments_ |= step.writes & kArguments;
  out.push_back(step);
  if (stores) {
    store.reads |= bit(kOperandPlace);
    out.push_back(store);
  }
  return out;
}

}  // namespace ridge::simt
