#include "assembly.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace ridge::simt {

namespace {

constexpr std::size_t kStaticSharedMax = 48 * 1024;  // CUDA C++ Programming Guide, "Compute Capabilities"
constexpr int kRedZone = 256;

bool is_space(char c) { return c == ' ' || c == '\t'; }

// One line, taken apart: "label:", "mnemonic operands", or a directive.
struct Line {
  std::string_view text;   // whole
  std::string_view label;  // without the colon
  std::string_view op;     // mnemonic or directive
  std::string_view args;   // without comment and surrounding space
};

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

std::string_view unquoted(std::string_view s) {
  return s.size() > 1 && s.front() == '"' && s.back() == '"' ? s.substr(1, s.size() - 2) : s;
}

Line take_apart(std::string_view text) {
  Line l{text, {}, {}, {}};
  std::string_view s = text;
  bool quoted = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '"' && (i == 0 || s[i - 1] != '\\')) quoted = !quoted;
    if (s[i] == '#' && !quoted) {
      s = s.substr(0, i);
      break;
    }
  }
  s = trim(s);
  if (s.empty()) return l;
  if (s.back() == ':' && s.find(' ') == std::string_view::npos && s.find('\t') == std::string_view::npos) {
    l.label = unquoted(s.substr(0, s.size() - 1));
    return l;
  }
  std::size_t end = s.find_first_of(" \t");
  l.op = s.substr(0, end);
  if (end != std::string_view::npos) l.args = trim(s.substr(end));
  return l;
}

// "name@PLT" -> "name"
std::string_view symbol_of(std::string_view args) {
  args = unquoted(args.substr(0, args.find('@')));
  return args;
}

bool starts(std::string_view s, std::string_view with) { return s.substr(0, with.size()) == with; }
bool ends(std::string_view s, std::string_view with) {
  return s.size() >= with.size() && s.substr(s.size() - with.size()) == with;
}

constexpr std::string_view kTrace = "__sanitizer_cov_trace_pc";

bool is_call(const Line& l) { return l.op == "call" || l.op == "callq"; }
bool is_jump(const Line& l) { return !l.op.empty() && l.op[0] == 'j'; }
bool is_trace(const Line& l) { return (is_call(l) || l.op == "jmp") && symbol_of(l.args) == kTrace; }
bool is_instruction(const Line& l) { return !l.op.empty() && l.op[0] != '.'; }
bool never_returns(std::string_view symbol) {
  return symbol == "__assert_fail" || symbol == "abort" || symbol == "__cxa_throw" || symbol == "_ZSt9terminatev" ||
         symbol == "__clang_call_terminate" || symbol == "_Unwind_Resume" || symbol == "exit";
}

struct Mix {
  int instructions = 0, fp32 = 0, fp64 = 0, special = 0;
};

// Adds one instruction to `mix`. `before`: the instruction before it, which may only set up a hook's argument.
void add(Mix& mix, const Line& l, const Line& before) {
  if (is_call(l)) {
    std::string_view callee = symbol_of(l.args);
    if (starts(callee, "__tsan_") || starts(callee, "__ridge_") || callee == kTrace) {
      if (ends(before.args, "%rdi") && mix.instructions > 0) --mix.instructions;
      return;
    }
    static const std::set<std::string_view> kMath = {"expf", "exp2f", "logf", "log2f", "sinf", "cosf", "tanhf", "powf",
                                                     "exp",  "log",   "sin",  "cos",   "tanh", "pow",  "erff",  "erf"};
    constexpr int kMathInstructions = 8;  // about what a GPU's version takes
    if (callee == "fmaf") {
      ++mix.instructions, mix.fp32 += 2;
    } else if (callee == "fma") {
      ++mix.instructions, mix.fp64 += 2;
    } else if (kMath.count(callee) != 0) {
      mix.instructions += kMathInstructions;
      ++mix.special;
    } else {
      ++mix.instructions;
    }
    return;
  }
  if (l.text.find("-byte Spill") != std::string_view::npos || l.text.find("-byte Reload") != std::string_view::npos)
    return;
  ++mix.instructions;
  std::string_view op = l.op[0] == 'v' ? l.op.substr(1) : l.op;
  bool single = ends(op, "ss") || ends(op, "ps"), twice = ends(op, "sd") || ends(op, "pd");
  if (!single && !twice) return;
  int flops = 0;
  for (std::string_view name : {"add", "sub", "mul", "min", "max"}) flops += starts(op, name);
  if (starts(op, "fm") || starts(op, "fnm")) flops = 2;
  if (starts(op, "div") || starts(op, "sqrt") || starts(op, "rcp") || starts(op, "rsqrt")) {
    flops = 1;
    ++mix.special;
  }
  (single ? mix.fp32 : mix.fp64) += flops;
}

// A stretch of a function's code that is entered at its start only.
struct Segment {
  int record = -1;  // the trace call at its start, or none
  std::vector<std::string_view> targets;
  bool falls_through = true, any_target = false;
  Mix mix;
};

struct Function {
  std::string_view name, group;           // group: signature of the COMDAT section
  std::vector<Segment> segments{1};
  std::map<std::string_view, int> label;  // jump target -> segment
  std::set<std::string_view> shared, calls;
  int records = 0;
};

class Annotator {
 public:
  explicit Annotator(std::string_view text) {
    while (!text.empty()) {
      std::size_t end = text.find('\n');
      lines_.push_back(take_apart(text.substr(0, end)));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
  }

  Annotated run() {
    survey();
    for (const Line& l : lines_) line(l);
    return std::move(out_);
  }

 private:
  // First pass: which symbols are functions and variables, which labels are jumped to, how large the variables are.
  void survey() {
    for (const Line& l : lines_) {
      if (l.op == ".type") {
        std::size_t comma = l.args.find(',');
        if (comma == std::string_view::npos) continue;
        std::string_view name = unquoted(trim(l.args.substr(0, comma)));
        if (l.args.find("@function") != std::string_view::npos) functions_.insert(name);
        if (l.args.find("@object") != std::string_view::npos) objects_.insert(name);
      } else if (l.op == ".size") {
        std::size_t comma = l.args.find(',');
        if (comma == std::string_view::npos) continue;
        std::string_view bytes = trim(l.args.substr(comma + 1));
        if (!bytes.empty() && bytes[0] >= '0' && bytes[0] <= '9')
          bytes_[unquoted(trim(l.args.substr(0, comma)))] =
              static_cast<std::size_t>(std::strtoull(std::string(bytes).c_str(), nullptr, 0));
      } else if (is_jump(l) && !l.args.empty() && l.args[0] != '*') {
        targets_.insert(symbol_of(l.args));
      }
    }
  }

  void line(const Line& l) {
    if (l.op == ".section" || l.op == ".text" || l.op == ".data" || l.op == ".bss") {
      close_object();
      section(l);
    }
    if (!l.label.empty()) {
      if (functions_.count(l.label) != 0) {
        close_object();
        begin_function(l.label);
      } else if (function_ != nullptr) {
        if (targets_.count(l.label) != 0) {
          new_segment();
          function_->label[l.label] = static_cast<int>(function_->segments.size()) - 1;
        }
      } else if (objects_.count(l.label) != 0) {
        close_object();
        object_ = !read_only_;
      }
      emit(l.text);
      return;
    }
    if (object_ && is_boundary(l.op)) close_object();
    if ((l.op == ".comm") && common(l)) return;
    if (function_ != nullptr && l.op == ".size" && unquoted(trim(l.args.substr(0, l.args.find(',')))) == function_->name) {
      emit(l.text);
      end_function();
      return;
    }
    if (is_instruction(l) && function_ != nullptr)
      instruction(l);
    else
      emit(l.text);
  }

  static bool is_boundary(std::string_view op) {
    return op == ".type" || op == ".globl" || op == ".weak" || op == ".local" || op == ".p2align" || op == ".align" ||
           op == ".comm" || op == ".ident" || op == ".file" || op == ".hidden";
  }

  void section(const Line& l) {
    group_ = {};
    read_only_ = l.args.find("rodata") != std::string_view::npos || l.op == ".text" ||
                 starts(l.args, ".debug") || l.args.find("\"a\"") != std::string_view::npos ||
                 l.args.find(".note") != std::string_view::npos || l.args.find("_array") != std::string_view::npos;
    if (ends(l.args, ",comdat")) {
      std::string_view rest = l.args.substr(0, l.args.size() - 7);
      group_ = rest.substr(rest.rfind(',') + 1);
    }
  }

  // An overrun of a variable must not reach its neighbour.
  void close_object() {
    if (object_) out_.text += "\t.zero\t" + std::to_string(kRedZone) + "\n";
    object_ = false;
  }

  // ".comm name,bytes,align" -> a variable in .bss with a red zone.
  bool common(const Line& l) {
    std::size_t a = l.args.find(','), b = l.args.rfind(',');
    if (a == std::string_view::npos || a == b) return false;
    std::string name(l.args.substr(0, a)), bytes(l.args.substr(a + 1, b - a - 1)), align(l.args.substr(b + 1));
    out_.text += "\t.pushsection\t.bss\n\t.balign\t" + align + "\n\t.type\t" + name + ",@object\n" + name +
                 ":\n\t.zero\t" + bytes + "\n\t.size\t" + name + ", " + bytes + "\n\t.zero\t" +
                 std::to_string(kRedZone) + "\n\t.popsection\n";
    return true;
  }

  void begin_function(std::string_view name) {
    current_ = Function{};
    current_.name = name;
    current_.group = group_;
    function_ = &current_;
    before_ = {};
  }

  void new_segment() { function_->segments.emplace_back(); }
  Segment& segment() { return function_->segments.back(); }

  void instruction(const Line& l) {
    if (is_trace(l)) {
      new_segment();
      segment().record = function_->records;
      out_.text += "\tleaq\t" + record_label(function_->records++) + "(%rip), %rdi\n\t" + std::string(l.op) +
                   "\t__ridge_block@PLT\n";
      if (l.op == "jmp") {
        segment().falls_through = false;
        new_segment();
      }
      before_ = l;
      return;
    }
    add(segment().mix, l, before_);
    before_ = l;
    if (is_jump(l)) {
      Segment& s = segment();
      if (l.args[0] == '*')
        s.any_target = true;
      else
        s.targets.push_back(symbol_of(l.args));
      s.falls_through = l.op != "jmp";
      if (l.op == "jmp" && functions_.count(symbol_of(l.args)) != 0) function_->calls.insert(symbol_of(l.args));
      new_segment();
    } else if (starts(l.op, "ret") || l.op == "ud2" || (is_call(l) && never_returns(symbol_of(l.args)))) {
      segment().falls_through = false;
      new_segment();
    } else if (is_call(l)) {
      function_->calls.insert(symbol_of(l.args));
    }
    // name@TPOFF: a thread-local variable, which is what __shared__ arrays are.
    for (std::string_view mark : {"@TPOFF", "@tpoff"})
      if (std::size_t at = l.args.find(mark); at != std::string_view::npos) {
        std::size_t from = at;
        auto part_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$'; };
        while (from > 0 && part_of_name(l.args[from - 1])) --from;
        function_->shared.insert(l.args.substr(from, at - from));
      }
    std::string text(l.text);
    if (is_call(l) || l.op == "jmp")
      for (std::string_view name : {"memcpy", "memmove", "memset"})
        if (symbol_of(l.args) == name) text.insert(text.find(name), "__tsan_");
    emit(text);
  }

  std::string record_label(int record) const {
    return ".Lridge_r" + std::to_string(function_number_) + "_" + std::to_string(record);
  }

  std::string section_of(const char* name) const {
    std::string s = std::string("\t.pushsection\t") + name + ",\"aw";
    return function_->group.empty() ? s + "\",@progbits\n"
                                    : s + "G\",@progbits," + std::string(function_->group) + ",comdat\n";
  }

  void end_function() {
    write_records();
    write_shared();
    ++function_number_;
    function_ = nullptr;
  }

  // Traced segments that can follow segment `from`, through segments without a trace call.
  void followers(std::size_t from, std::set<std::size_t>& seen, std::set<int>& out) const {
    const auto& segments = function_->segments;
    auto visit = [&](std::size_t s) {
      if (s >= segments.size()) return;
      if (segments[s].record >= 0)
        out.insert(segments[s].record);
      else if (seen.insert(s).second)
        followers(s, seen, out);
    };
    const Segment& s = segments[from];
    if (s.falls_through) visit(from + 1);
    for (std::string_view t : s.targets)
      if (auto at = function_->label.find(t); at != function_->label.end()) visit(static_cast<std::size_t>(at->second));
    if (s.any_target)
      for (const auto& [name, target] : function_->label) visit(static_cast<std::size_t>(target));
  }

  void write_records() {
    if (function_->records == 0) return;
    std::vector<FlowNode> nodes(static_cast<std::size_t>(function_->records));
    std::vector<Mix> mixes(nodes.size());
    int last = -1;
    for (std::size_t i = 0; i < function_->segments.size(); ++i) {
      const Segment& s = function_->segments[i];
      if (s.record >= 0) {
        std::set<std::size_t> seen;
        std::set<int> next;
        followers(i, seen, next);
        nodes[static_cast<std::size_t>(s.record)].next.assign(next.begin(), next.end());
        last = s.record;
      }
      // Code without a trace call of its own belongs to the block before it.
      Mix& m = mixes[static_cast<std::size_t>(std::max(last, 0))];
      m.instructions += s.mix.instructions;
      m.fp32 += s.mix.fp32;
      m.fp64 += s.mix.fp64;
      m.special += s.mix.special;
    }
    weak_topological_order(nodes);
    out_.text += section_of("ridge_blocks") + "\t.p2align\t3\n";
    for (int r = 0; r < function_->records; ++r) {
      const FlowNode& n = nodes[static_cast<std::size_t>(r)];
      const Mix& m = mixes[static_cast<std::size_t>(r)];
      auto reference = [&](int head) { return head < 0 ? std::string("0") : record_label(head); };
      auto number = [](int value) { return std::to_string(std::min(value, 0xFFFF)); };
      out_.text += record_label(r) + ":\n\t.quad\t" + std::string(function_->name) + "\n\t.quad\t" + reference(n.loop) +
                   "\n\t.quad\t" + reference(n.outer) + "\n\t.long\t" + std::to_string(n.position) + "\n\t.short\t" +
                   number(n.depth) + "\n\t.short\t" + (r == 0 ? "1" : "0") + "\n\t.short\t" + number(m.instructions) +
                   "\n\t.short\t" + number(m.fp32) + "\n\t.short\t" + number(m.fp64) + "\n\t.short\t" +
                   number(m.special) + "\n";
    }
    out_.text += "\t.popsection\n";
  }

  // The arrays that a function names, and those of the functions that it calls, once each.
  void write_shared() {
    shared_[function_->name] = function_->shared;
    calls_[function_->name] = function_->calls;
    std::set<std::string_view> arrays, seen;
    bool callee_too_large = collect(function_->name, arrays, seen);
    std::size_t sum = 0;
    for (std::string_view a : arrays) sum += bytes_[a];
    if (sum == 0) return;
    out_.text += section_of("ridge_shared") + "\t.p2align\t3\n";
    for (std::string_view a : arrays)
      if (std::size_t n = bytes_[a]; n != 0)
        out_.text += "\t.quad\t" + std::string(function_->name) + "\n\t.quad\t" + std::to_string(n) + "\n";
    out_.text += "\t.popsection\n";
    if (sum <= kStaticSharedMax || callee_too_large) return;
    too_large_.insert(function_->name);
    int status = 0;
    std::string name(function_->name);
    char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    out_.errors.push_back("error: kernel " + (text != nullptr ? std::string(text) : name) + " uses too much shared memory: " +
                          std::to_string(sum) + " bytes of static __shared__ arrays, " +
                          std::to_string(kStaticSharedMax) +
                          " at most. Larger tiles need dynamic shared memory (extern __shared__) and "
                          "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes).");
    std::free(text);
  }

  // Functions that come later in the file are not seen: the compiler puts callees first, mostly.
  bool collect(std::string_view function, std::set<std::string_view>& arrays, std::set<std::string_view>& seen) {
    if (!seen.insert(function).second) return false;
    bool too_large = false;
    if (auto at = shared_.find(function); at != shared_.end()) arrays.insert(at->second.begin(), at->second.end());
    if (auto at = calls_.find(function); at != calls_.end())
      for (std::string_view callee : at->second) {
        too_large |= too_large_.count(callee) != 0;
        too_large |= collect(callee, arrays, seen);
      }
    return too_large;
  }

  void emit(std::string_view text) {
    out_.text += text;
    out_.text += '\n';
  }

  std::vector<Line> lines_;
  std::set<std::string_view> functions_, objects_, targets_, too_large_;
  std::map<std::string_view, std::size_t> bytes_;
  std::map<std::string_view, std::set<std::string_view>> shared_, calls_;
  Annotated out_;
  Function current_;
  Function* function_ = nullptr;
  Line before_;
  std::string_view group_;
  bool read_only_ = true, object_ = false;
  int function_number_ = 0;
};

}  // namespace

Annotated annotate_assembly(std::string_view text) { return Annotator(text).run(); }

}  // namespace ridge::simt
