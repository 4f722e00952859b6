#include "assembly.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "accesses.hpp"
#include "flow_order.hpp"
#include "kernel_calls.hpp"
#include "load_waits.hpp"
#include "simt/rewrite/text/instruction.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

std::uint64_t number(View s) {
  std::uint64_t value = 0;
  std::from_chars(s.data(), s.data() + s.size(), value);
  return value;
}

View unquoted(View s) { return s.size() >= 2 && s.front() == '"' ? s.substr(1, s.size() - 2) : s; }

struct Section {
  View name, group;  // group: the COMDAT signature, empty where there is none
  bool code = false, tls = false;

  bool debug() const { return starts_with(name, ".debug"); }
  // Variables. Constants stay as they are: neighbours of theirs cannot be overwritten either.
  bool padded() const {
    if (starts_with(name, ".data.rel.ro")) return false;
    for (View base : {".data", ".bss", ".tdata", ".tbss"})
      if (name == base || (starts_with(name, base) && name[base.size()] == '.')) return true;
    return false;
  }
};

// A stretch of code that is entered at its start only.
struct Piece {
  int record = -1;  // record of the trace call at its start; -1: none
  std::vector<View> targets;
  bool falls = true, indirect = false;
  int instructions = 0, fp32 = 0, fp64 = 0, special = 0;
  std::vector<FrameUse> frame;
  std::vector<LoadStep> steps;
};

struct Function {
  View name, group;
  std::vector<Piece> pieces;
  std::map<View, int> labels;  // the piece that starts there
  std::set<View> tls, callees;
  View file;
  int line = 0;
  std::int64_t frame_bytes = 0, live_bytes = 0;  // of its frame; those that are live at once
};

bool is_symbol_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' || c == '+';
}

// The symbols before "@tpoff" in an operand list: thread-local variables.
void thread_locals(View operands, std::set<View>& out) {
  for (std::size_t at = operands.find('@'); at < operands.size(); at = operands.find('@', at + 1)) {
    View kind = operands.substr(at + 1, 5);
    if (kind != "tpoff" && kind != "TPOFF") continue;
    std::size_t start = at;
    while (start > 0 && is_symbol_character(operands[start - 1])) --start;
    if (operands[start] == '$') ++start;  // as a number: addq $tile@TPOFF, %rax
    View symbol = operands.substr(start, at - start);
    out.insert(symbol.substr(0, symbol.find('+')));
  }
}

class Annotator {
 public:
  Annotator(View text, AnnotateOptions options) : text_(text), options_(options) {}

  AnnotatedAssembly run() {
    out_.text.reserve(text_.size() + text_.size() / 4);
    read_types();
    if (foreign_) return {std::string(text_), {}, {}};
    bool opaque = false;  // inside inline assembly
    for_lines([&](View raw) {
      AssemblyLine line = parse_line(raw);
      if (line.kind == AssemblyLine::Kind::empty) {
        if (starts_with(raw, "#APP") || raw.find("#APP") != View::npos) opaque = true;
        if (raw.find("#NO_APP") != View::npos) opaque = false;
        emit(raw);
        return;
      }
      if (object_ends(line)) pad();
      if (line.kind == AssemblyLine::Kind::label) label(line, raw);
      if (line.kind == AssemblyLine::Kind::directive) directive(line, raw);
      if (line.kind == AssemblyLine::Kind::instruction) {
        if (opaque) accesses_.forget();
        if (opaque || !section_.code || function_ == nullptr)
          emit(raw);
        else
          instruction(line, raw);
      }
    });
    if (open_object_) pad();
    for (Function& f : functions_) {
      f.live_bytes = live_bytes(f);
      by_name_[f.name] = &f;
    }
    for (Function& f : functions_) write_records(f);
    write_shared();
    return std::move(out_);
  }

 private:
  template <class F>
  void for_lines(F f) const {
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = std::min(text_.find('\n', at), text_.size());
      f(text_.substr(at, end - at));
      at = end + 1;
    }
  }

  void emit(View line) {
    out_.text += line;
    out_.text += '\n';
  }

  // Reads .type and .size, wherever they stand.
  void read_types() {
    for_lines([&](View raw) {
      if (raw.find(".type") == View::npos && raw.find(".size") == View::npos) return;
      AssemblyLine line = parse_line(raw);
      View rest = line.operands, symbol = next_argument(rest), value = next_argument(rest);
      // '@' begins a comment on other processors.
      if (line.name == ".type" && (value == "%function" || value == "%object")) foreign_ = true;
      if (line.name == ".type" && value == "@function") function_names_.insert(symbol);
      if (line.name == ".type" && (value == "@object" || value == "@gnu_unique_object" || value == "@tls_object"))
        object_names_.insert(symbol);
      if (line.name == ".size") sizes_[symbol] = number(value);
    });
  }

  // --- Sections and variables.

  void switch_section(View operands) {
    View rest = operands;
    Section s;
    s.name = unquoted(next_argument(rest));
    if (rest.empty()) {
      auto known = sections_.find(s.name);
      if (known != sections_.end()) {
        section_ = known->second;
        return;
      }
      s.code = starts_with(s.name, ".text");
    } else {
      View flags = unquoted(next_argument(rest));
      auto has = [&](char c) { return flags.find(c) != View::npos; };
      s.code = has('x');
      s.tls = has('T');
      next_argument(rest);  // @progbits
      if (has('M')) next_argument(rest);
      if (has('G')) s.group = next_argument(rest);
    }
    sections_[s.name] = s;
    section_ = s;
  }

  bool change_of_section(const AssemblyLine& line) {
    Section before = section_;
    if (line.name == ".section" || line.name == ".pushsection") {
      if (line.name == ".pushsection") pushed_.emplace_back(section_, previous_);
      switch_section(line.operands);
    } else if (line.name == ".text" || line.name == ".data" || line.name == ".bss") {
      section_ = Section();
      section_.name = line.name;
      section_.code = line.name == ".text";
    } else if (line.name == ".popsection" && !pushed_.empty()) {
      std::tie(section_, before) = pushed_.back();
      pushed_.pop_back();
    } else if (line.name == ".previous") {
      section_ = previous_;
    } else {
      return false;
    }
    previous_ = before;
    return true;
  }

  // Variables go to sections of their own: what a kernel may touch is told from the emulator's and libraries' data.
  void emit_section(const AssemblyLine& line, View raw) {
    if (line.name == ".popsection" || line.name == ".previous" || section_.tls || !section_.padded()) {
      emit(raw);
      return;
    }
    const bool zero = starts_with(section_.name, ".bss");
    std::string text = line.name == ".pushsection" ? "\t.pushsection\t" : "\t.section\t";
    text += zero ? "ridge_bss,\"aw" : "ridge_data,\"aw";
    text += section_.group.empty() ? "\"" : "G\"";
    text += zero ? ",@nobits" : ",@progbits";
    if (!section_.group.empty()) text += "," + std::string(section_.group) + ",comdat";
    emit(text);
  }

  // An object's bytes go on while data directives follow its label.
  bool object_ends(const AssemblyLine& line) const {
    if (!open_object_) return false;
    if (line.kind != AssemblyLine::Kind::directive) return true;
    static const std::set<View> kData = {".zero", ".byte",  ".value", ".short",  ".2byte", ".long",  ".4byte",
                                         ".int",  ".quad",  ".8byte", ".octa",   ".ascii", ".asciz", ".string",
                                         ".skip", ".space", ".float", ".double", ".fill",  ".size",  ".base64"};
    return kData.count(line.name) == 0;
  }

  void pad() {
    out_.text += "\t.zero\t" + std::to_string(kRedZone) + "\n";
    open_object_ = false;
  }

  void directive(const AssemblyLine& line, View raw) {
    if (change_of_section(line)) {
      initialisers_ = 0;
      if (!options_.worker || !move_initialisers()) emit_section(line, raw);
      return;
    }
    if (initialisers_ != 0 && (line.name == ".quad" || line.name == ".8byte")) {
      emit("\t.quad\t" + std::to_string(initialisers_ - 1) + ", " + std::string(line.operands));
      return;
    }
    View rest = line.operands, first = next_argument(rest), second = next_argument(rest);
    // Tells the linker about address-taken symbols, and names the hook that is gone.
    if (starts_with(line.name, ".addrsig")) return;
    if (line.name == ".local") local_names_.insert(first);
    if (line.name == ".comm" && local_names_.count(first) != 0) {
      common(first, second, next_argument(rest));
      return;
    }
    if (line.name == ".file") read_file_name(line.operands);
    if (line.name == ".loc") read_location(line.operands);
    if (line.name == ".size" && function_ != nullptr && first == function_->name) function_ = nullptr;
    if ((line.name == ".quad" || line.name == ".long" || line.name == ".8byte" || line.name == ".4byte") &&
        !section_.debug()) {
      View label = first.substr(0, first.find_first_of("-+ "));
      if (starts_with(label, ".L")) data_labels_.insert(label);
    }
    emit(raw);
  }

  // .init_array.00101 has priority 101; without a number it is the last. One section with a C identifier as its name
  // has no order of its own, so the priority stands beside the function.
  bool move_initialisers() {
    constexpr View kName = ".init_array";
    if (section_.name != kName && !starts_with(section_.name, ".init_array.")) return false;
    View digits = section_.name.substr(std::min(kName.size() + 1, section_.name.size()));
    initialisers_ = (digits.empty() ? 65535 : std::min<std::uint64_t>(number(digits), 65535)) + 1;
    open_section("ridge_init", section_.group);
    return true;
  }

  // Variables without initial value, whose place the linker chooses, would have no padding.
  void common(View symbol, View bytes, View alignment) {
    std::string name(symbol), size(bytes);
    emit("\t.pushsection\tridge_bss,\"aw\",@nobits");
    if (!alignment.empty()) emit("\t.balign\t" + std::string(alignment));
    emit("\t.type\t" + name + ", @object");
    emit("\t.size\t" + name + ", " + size);
    emit(name + ":");
    emit("\t.zero\t" + std::to_string(number(bytes) + kRedZone));
    emit("\t.popsection");
  }

  // .file 1 "name" or .file 1 "folder" "name"
  void read_file_name(View operands) {
    if (operands.empty() || std::isdigit(static_cast<unsigned char>(operands.front())) == 0) return;
    std::size_t close = operands.rfind('"');
    if (close == View::npos || close == 0) return;
    std::size_t open = operands.rfind('"', close - 1);
    if (open != View::npos) files_[number(operands)] = operands.substr(open + 1, close - open - 1);
  }

  // .loc file line column
  void read_location(View operands) {
    std::size_t blank = operands.find(' ');
    if (blank == View::npos) return;
    auto file = files_.find(number(operands));
    file_ = file != files_.end() ? file->second : View();
    line_ = static_cast<int>(number(operands.substr(blank + 1)));
    const std::size_t second = operands.find(' ', blank + 1);
    column_ = second == View::npos ? 0 : static_cast<int>(number(operands.substr(second + 1)));
    if (function_ == nullptr || function_->line != 0) return;
    function_->file = file_;
    function_->line = line_;
  }

  // --- Code.

  void label(const AssemblyLine& line, View raw) {
    emit(raw);
    if (section_.code && function_names_.count(line.name) != 0) {
      functions_.emplace_back();
      function_ = &functions_.back();
      function_->name = line.name;
      function_->group = section_.group;
      function_->pieces.emplace_back();
      argument_run_ = 0;
      accesses_.begin_function();
      entered_ = false;
      return;
    }
    if (section_.code && !marks_place(line.name)) accesses_.forget();
    if (section_.code && function_ != nullptr) {
      // Labels of debug information would cut blocks into pieces, which does no harm.
      function_->labels[line.name] = static_cast<int>(function_->pieces.size());
      new_piece();
      return;
    }
    if (starts_with(section_.name, "ridge_constant") && object_names_.count(line.name) != 0)
      out_.constant_bytes += sizes_[line.name];
    if (section_.padded() && object_names_.count(line.name) != 0 && !starts_with(line.name, "DW.ref.")) {
      open_object_ = true;
      if (section_.tls) arrays_.insert(line.name);
    }
  }

  // Labels of debug information and exception tables; landing pads have a label for jumps besides.
  static bool marks_place(View label) {
    for (View head : {".Ltmp", ".Lfunc_begin", ".LVL", ".LFB", ".LBE", ".LEHB", ".LEHE"})
      if (starts_with(label, head)) return true;
    return starts_with(label, ".LBB") && label.find('_') == View::npos;
  }

  void new_piece() { function_->pieces.emplace_back(); }

  void instruction(const AssemblyLine& line, View raw) {
    Instruction i = parse_instruction(line);
    const bool transfers = i.flow != Flow::next;
    follow_accesses(line, i);
    if (transfers && line.operands.find("__sanitizer_cov_trace_pc") != View::npos) {
      trace(i.flow == Flow::call);
      return;
    }
    if (unvouched(i)) check_target(i, line);
    std::string other = transfers ? watched_call(i.target) : "";
    if (other.empty() && transfers && !options_.worker) other = heap_call(i.target);
    if (other.empty() && i.flow == Flow::call) other = member_hook(i.target);
    if (transfers) other = aligned_hook(other.empty() ? i.target : View(other), other);
    if (!other.empty()) {
      const std::size_t at = raw.find(i.target);
      out_.text += raw.substr(0, at);
      out_.text += other;
      emit(raw.substr(at + i.target.size()));
    } else {
      emit(raw);
    }
    thread_locals(line.operands, function_->tls);
    if (transfers && function_names_.count(i.target) != 0) function_->callees.insert(i.target);
    count(i);
    Piece& piece = function_->pieces.back();
    if (i.flow == Flow::jump || i.flow == Flow::conditional) piece.targets.push_back(i.target);
    piece.indirect = i.flow == Flow::indirect;
    piece.falls = i.flow == Flow::next || i.flow == Flow::call || i.flow == Flow::conditional;
    if (transfers && i.flow != Flow::call) new_piece();
  }

  // __ridge_read4_member in place of __tsan_read4: `part` says which member, and in which block. %esi is free: a hook
  // has one argument.
  std::string member_hook(View target) {
    if (options_.members == nullptr || !starts_with(target, "__tsan_")) return {};
    const View access = target.substr(7);
    if (access != "read4" && access != "write4" && access != "read8" && access != "write8") return {};
    if (!in_source()) return {};
    auto at = options_.members->find({line_, column_});
    if (at == options_.members->end() || at->second.bytes != number(access.substr(access.size() - 1))) return {};
    emit("\tmovl\t$" + std::to_string(member_part(at->second.index, static_cast<unsigned>(records_))) + ", %esi");
    return "__ridge_" + std::string(access) + "_member";
  }

  bool in_source() const {
    const std::size_t slash = file_.rfind('/');
    return (slash == View::npos ? file_ : file_.substr(slash + 1)) == options_.source;
  }

  // __ridge_memcpy_aligned in place of __tsan_memcpy, and its kin: one more argument says the alignment. For a member,
  // the block too, as in member_hook(). `otherwise`: where the line reaches no aligned type.
  std::string aligned_hook(View target, const std::string& otherwise) {
    if (options_.aligned == nullptr || !in_source() || !starts_with(target, "__tsan_")) return otherwise;
    const auto at = options_.aligned->find(line_);
    if (at == options_.aligned->end()) return otherwise;
    const View access = target.substr(7);
    const std::string alignment = std::to_string(at->second);
    if (access == "memcpy") {
      emit("\tmovl\t$" + alignment + ", %ecx");
    } else if (access == "read_range" || access == "write_range") {
      emit("\tmovl\t$" + alignment + ", %edx");
    } else if (access == "read4" || access == "write4" || access == "read8" || access == "write8") {
      emit("\tmovl\t$" + std::to_string(aligned_part(at->second, static_cast<unsigned>(records_))) + ", %esi");
    } else {
      return otherwise;
    }
    return "__ridge_" + std::string(access) + "_aligned";
  }

  static bool returns(const AssemblyLine& line) {
    return starts_with(line.name, "ret") || (starts_with(line.name, "rep") && starts_with(line.operands, "ret"));
  }

  // Follows the function's frame; in checked programs, adds the checks.
  void follow_accesses(const AssemblyLine& line, const Instruction& i) {
    if (options_.checked && !entered_) emit("\tcall\t__ridge_enter@PLT");
    entered_ = true;
    std::string refused;
    const std::string checks = accesses_.before(line, i, refused);
    if (options_.checked) out_.text += checks;
    function_->frame_bytes = std::max(function_->frame_bytes, accesses_.frame_bytes());
    auto& frame = function_->pieces.back().frame;
    frame.insert(frame.end(), accesses_.frame_uses().begin(), accesses_.frame_uses().end());
    const bool own = i.flow == Flow::call && function_names_.count(i.target) != 0;
    const auto steps = load_steps_.of(line, i, accesses_.frame_uses(), own);
    function_->pieces.back().steps.insert(function_->pieces.back().steps.end(), steps.begin(), steps.end());
    if (options_.checked && !refused.empty())
      out_.unchecked.push_back(
          {std::string(file_), line_, refused, "remove the intrinsic or builtin that makes " + std::string(line.name)});
    // A jump to a function (a thunk's) leaves this one's frame to it.
    if (options_.checked && (returns(line) || (i.flow == Flow::jump && function_names_.count(i.target) != 0)))
      emit("\tcall\t__ridge_leave@PLT");
    if (i.flow == Flow::jump || i.flow == Flow::indirect || i.flow == Flow::end) accesses_.forget();
  }

  // Goes where the target may not be instrumented: through a pointer, or into another object.
  bool unvouched(const Instruction& i) const {
    if (!options_.closed) return false;
    if (i.flow == Flow::indirect || (i.flow == Flow::call && i.target.empty())) return true;
    if (i.flow != Flow::call && i.flow != Flow::jump) return false;
    if (!watched_call(i.target).empty() || (!options_.worker && !heap_call(i.target).empty())) return false;
    return !starts_with(i.target, ".L") && function_names_.count(i.target) == 0 && !kernels_may_call(i.target);
  }

  // The runtime's __ridge_check_call stops a kernel that goes to a host function. %r11 is free before a call.
  void check_target(const Instruction& i, const AssemblyLine& line) {
    if (i.flow == Flow::indirect || i.target.empty()) {
      View operand = line.operands;
      std::size_t star = operand.find('*');
      if (star == View::npos) return;
      emit("\tmovq\t" + std::string(operand.substr(star + 1)) + ", %r11");
    } else {
      emit("\tmovq\t" + std::string(i.target) + "@GOTPCREL(%rip), %r11");
    }
    emit("\tcall\t__ridge_check_call@PLT");
  }

  void count(const Instruction& i) {
    if (i.bookkeeping) return;
    Piece& piece = function_->pieces.back();
    if (starts_with(i.target, "__tsan_")) {
      // The address in the first argument is computed for the hook alone: the access itself has its own.
      if (starts_with(i.target, "__tsan_atomic"))
        ++piece.instructions;
      else
        piece.instructions -= std::min(argument_run_, piece.instructions);
      argument_run_ = 0;
      return;
    }
    argument_run_ = i.sets_first_argument ? argument_run_ + 1 : 0;
    ++piece.instructions;
    piece.fp32 += i.fp32;
    piece.fp64 += i.fp64;
    piece.special += i.special;
  }

  void trace(bool returns) {
    new_piece();
    Piece& piece = function_->pieces.back();
    piece.record = records_++;
    emit(place_label(piece.record) + ":");
    emit("\tleaq\t" + record_label(piece.record) + "(%rip), %rdi");
    emit(returns ? "\tcall\t__ridge_block@PLT" : "\tjmp\t__ridge_block@PLT");
    piece.falls = returns;
    if (!returns) new_piece();
    argument_run_ = 0;
  }

  static std::string place_label(int record) { return ".Lridge_b" + std::to_string(record); }
  static std::string record_label(int record) { return ".Lridge_r" + std::to_string(record); }

  // --- The flow graph.

  std::vector<int> successors(const Function& f, std::size_t piece) const {
    std::vector<int> out;
    const Piece& p = f.pieces[piece];
    if (p.falls && piece + 1 < f.pieces.size()) out.push_back(static_cast<int>(piece) + 1);
    for (View target : p.targets)
      if (auto to = f.labels.find(target); to != f.labels.end()) out.push_back(to->second);
    if (p.indirect)
      for (const auto& [name, to] : f.labels)
        if (data_labels_.count(name) != 0) out.push_back(to);
    return out;
  }

  // The traced pieces that control reaches from `from` without passing a traced one; the untraced ones in between.
  std::vector<int> reach(const Function& f, const std::vector<int>& from, std::vector<int>& between) const {
    std::vector<int> traced, todo(from.rbegin(), from.rend());
    std::set<int> seen;
    while (!todo.empty()) {
      int n = todo.back();
      todo.pop_back();
      if (!seen.insert(n).second) continue;
      if (f.pieces[static_cast<std::size_t>(n)].record >= 0) {
        traced.push_back(n);
        continue;
      }
      between.push_back(n);
      std::vector<int> next = successors(f, static_cast<std::size_t>(n));
      todo.insert(todo.end(), next.rbegin(), next.rend());
    }
    return traced;
  }

  struct Untraced {
    int piece;
    bool perhaps;  // some ways lead around it
  };

  // The untraced pieces that follow a traced one before the next, in an order in which control passes them.
  std::vector<Untraced> in_order(const Function& f, int traced) const {
    std::vector<int> order;  // of leaving, by a search in depth
    std::set<int> seen;
    std::vector<std::pair<int, std::vector<int>>> path = {{traced, successors(f, static_cast<std::size_t>(traced))}};
    while (!path.empty()) {
      auto& [piece, todo] = path.back();
      if (todo.empty()) {
        order.push_back(piece);
        path.pop_back();
        continue;
      }
      const int next = todo.back();
      todo.pop_back();
      if (f.pieces[static_cast<std::size_t>(next)].record < 0 && seen.insert(next).second)
        path.emplace_back(next, successors(f, static_cast<std::size_t>(next)));
    }
    // All ways lead through a piece if nothing but it follows what has been passed.
    std::vector<Untraced> out;
    std::map<int, int> ways;
    int open = 0;
    for (auto piece = order.rbegin(); piece != order.rend(); ++piece) {
      if (piece != order.rbegin()) out.push_back({*piece, ways[*piece] != open});
      open -= ways[*piece];
      const std::vector<int> next = successors(f, static_cast<std::size_t>(*piece));
      open += static_cast<int>(std::max<std::size_t>(next.size(), 1));  // one: out of the function
      for (int to : next) ++ways[to];
    }
    return out;
  }

  void write_records(const Function& f) {
    std::vector<int> nodes;                         // pieces
    std::vector<int> node_of(f.pieces.size(), -1);  // piece -> node
    for (std::size_t p = 0; p < f.pieces.size(); ++p)
      if (f.pieces[p].record >= 0) {
        node_of[p] = static_cast<int>(nodes.size());
        nodes.push_back(static_cast<int>(p));
      }
    if (nodes.empty()) return;
    auto add = [&](Piece& mix, const std::vector<int>& untraced) {
      for (int p : untraced) {
        const Piece& other = f.pieces[static_cast<std::size_t>(p)];
        mix.instructions += other.instructions;
        mix.fp32 += other.fp32;
        mix.fp64 += other.fp64;
        mix.special += other.special;
        mix.frame.insert(mix.frame.end(), other.frame.begin(), other.frame.end());
      }
    };
    FlowGraph graph;
    std::vector<Piece> mixes;
    for (int p : nodes) {
      std::vector<int> untraced, next;
      for (int to : reach(f, successors(f, static_cast<std::size_t>(p)), untraced))
        next.push_back(node_of[static_cast<std::size_t>(to)]);
      graph.successors.push_back(std::move(next));
      mixes.push_back(f.pieces[static_cast<std::size_t>(p)]);
      add(mixes.back(), untraced);
      auto& steps = mixes.back().steps;  // without the prologue's, which would be steps of each iteration
      for (const Untraced& u : in_order(f, p)) {
        for (LoadStep step : f.pieces[static_cast<std::size_t>(u.piece)].steps) {
          step.perhaps = u.perhaps;
          steps.push_back(step);
        }
      }
    }
    std::vector<int> prologue;
    for (int p : reach(f, {0}, prologue)) {
      int node = node_of[static_cast<std::size_t>(p)];
      graph.entries.push_back(node);
      add(mixes[static_cast<std::size_t>(node)], prologue);
    }
    LoadFlow loads;
    for (Piece& mix : mixes) loads.steps.push_back(std::move(mix.steps));
    loads.places = weak_topological_order(graph);
    loads.graph = std::move(graph);
    const std::vector<int> waits = load_waits(loads);
    const std::int64_t share = local_share(f);
    const std::string thread = std::to_string(registers(f)) + ", ";
    open_section("ridge_blocks", f.group);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const FlowPlace& place = loads.places[n];
      const Piece& mix = mixes[n];
      auto record_of = [&](int node) {
        if (node < 0) return std::string("0");
        return record_label(f.pieces[static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)])].record);
      };
      bool entry = std::count(loads.graph.entries.begin(), loads.graph.entries.end(), static_cast<int>(n)) != 0;
      emit(record_of(static_cast<int>(n)) + ":");
      emit("\t.quad\t" + std::string(f.name));
      emit("\t.quad\t" + record_of(place.loop));
      emit("\t.quad\t" + record_of(place.outer));
      emit("\t.long\t" + std::to_string(place.position));
      std::string row;
      for (int v : {place.depth, entry ? 1 : 0, mix.instructions, mix.fp32, mix.fp64, mix.special})
        row += (row.empty() ? "" : ", ") + std::to_string(std::min(v, 65535));
      emit("\t.value\t" + row);
      emit("\t.quad\t" + place_label(f.pieces[static_cast<std::size_t>(nodes[n])].record));
      emit("\t.long\t" + std::to_string(share));
      emit("\t.value\t" + thread + std::to_string(std::min(waits[n], 65535)));
      emit("\t.long\t" + local(mix, share));
    }
  }

  std::int64_t live_bytes(const Function& f) const {
    FrameFlow flow;
    for (std::size_t p = 0; p < f.pieces.size(); ++p) {
      flow.uses.push_back(f.pieces[p].frame);
      flow.successors.push_back(successors(f, p));
    }
    return live_frame_bytes(flow, f.frame_bytes);
  }

  // The part of a function's frame that registers cannot hold, in 1/256: see block_record.hpp.
  static std::int64_t local_share(const Function& f) {
    return f.live_bytes <= kRegisterBytes ? 0 : 256 * (f.live_bytes - kRegisterBytes) / f.live_bytes;
  }

  // Estimated registers of a thread: those of the largest frame among the function and all that it calls.
  std::int64_t registers(const Function& f) const {
    std::int64_t live = 0;
    for (const Function* g : with_callees(f)) live = std::max(live, g->live_bytes);
    return std::min<std::int64_t>(kFixedRegisters + live / kBytesOfRegister, kMostRegisters);
  }

  // A function and all of this text that it calls, directly or not.
  std::vector<const Function*> with_callees(const Function& f) const {
    std::vector<const Function*> all, todo = {&f};
    std::set<View> seen;
    while (!todo.empty()) {
      const Function* g = todo.back();
      todo.pop_back();
      if (!seen.insert(g->name).second) continue;
      all.push_back(g);
      for (View callee : g->callees)
        if (auto known = by_name_.find(callee); known != by_name_.end()) todo.push_back(known->second);
    }
    return all;
  }

  // Loads and stores of 4 bytes.
  static std::string local(const Piece& mix, std::int64_t share) {
    std::int64_t loads = 0, stores = 0;
    for (const FrameUse& use : mix.frame) {
      const std::int64_t words = std::max(use.bytes / 4, 1u);
      if (use.load) loads += words;
      if (use.store) stores += words;
    }
    return std::to_string(loads * share) + ", " + std::to_string(stores * share);
  }

  void open_section(const char* name, View group) {
    std::string line = std::string("\t.section\t") + name;
    line += group.empty() ? ",\"aw\",@progbits" : ",\"awG\",@progbits," + std::string(group) + ",comdat";
    emit(line);
    emit("\t.p2align\t3");
  }

  // --- Variables.

  void write_shared() {
    std::map<View, std::uint64_t> totals;
    for (const Function& f : functions_) {
      std::set<View> arrays;
      for (const Function* g : with_callees(f)) arrays.insert(g->tls.begin(), g->tls.end());
      bool first = true;
      for (View array : arrays) {
        if (arrays_.count(array) == 0) continue;
        if (first) open_section("ridge_shared", f.group);
        first = false;
        totals[f.name] += sizes_[array];
        emit("\t.quad\t" + std::string(f.name) + ", " + std::to_string(sizes_[array]));
      }
    }
    for (const Function& f : functions_) {
      auto excess = [&](View name) {
        auto total = totals.find(name);
        return total != totals.end() && total->second > kStaticSharedMax;
      };
      // The function itself, not its callers.
      if (!excess(f.name) || std::any_of(f.callees.begin(), f.callees.end(), excess)) continue;
      out_.excesses.push_back({std::string(f.name), std::string(f.file), f.line, totals[f.name]});
    }
  }

  View text_;
  AnnotateOptions options_;
  AnnotatedAssembly out_;
  std::set<View> function_names_, object_names_, local_names_, data_labels_;
  std::map<View, std::uint64_t> sizes_;
  std::map<View, Section> sections_;
  std::map<std::uint64_t, View> files_;
  std::set<View> arrays_;  // thread-local variables that this text defines
  std::vector<std::pair<Section, Section>> pushed_;
  Section section_, previous_;
  Accesses accesses_;
  LoadSteps load_steps_;
  bool entered_ = true;  // false until the first instruction of a function
  View file_;            // file of the last .loc
  int line_ = 0, column_ = 0;
  bool open_object_ = false;
  bool foreign_ = false;  // another processor's text
  std::vector<Function> functions_;
  std::map<View, const Function*> by_name_;  // into functions_, once all are read
  Function* function_ = nullptr;             // into functions_, while its lines are read
  std::uint64_t initialisers_ = 0;  // 1 + the priority of the section's static initialisers; 0: another section
  int records_ = 0;
  int argument_run_ = 0;  // instructions in a row that set the first argument
};

}  // namespace

AnnotatedAssembly annotate_assembly(View text, AnnotateOptions options) { return Annotator(text, options).run(); }

}  // namespace ridge::simt
