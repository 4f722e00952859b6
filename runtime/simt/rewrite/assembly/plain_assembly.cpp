#include "plain_assembly.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "simt/rewrite/text/instruction.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

bool describes_code(View section) {
  if (section.starts_with("\"") && section.ends_with("\"") && section.size() > 1)
    section = section.substr(1, section.size() - 2);
  if (section == ".note.GNU-stack") return false;
  for (View head : {".note.", ".gnu.build.attributes", ".GCC.command.line", ".gnu.lto_", ".gnu.debuglto_"})
    if (section.starts_with(head)) return true;
  return false;
}

// The function of call *f@GOTPCREL(%rip) and jmp *f@GOTPCREL(%rip); else empty.
View called_through_table(const AssemblyLine& line) {
  if (line.name != "call" && line.name != "callq" && line.name != "jmp" && line.name != "jmpq") return {};
  constexpr View kTable = "@GOTPCREL(%rip)";
  View name = line.operands;
  if (!name.starts_with("*") || !name.ends_with(kTable)) return {};
  name = name.substr(1, name.size() - 1 - kTable.size());
  const bool symbol = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '$';
  });
  return symbol ? name : View();
}

class Plain {
 public:
  explicit Plain(View text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      read(text_.substr(at, end - at));
      at = end + 1;
    }
    return std::move(out_);
  }

 private:
  void read(View raw) {
    const AssemblyLine line = parse_line(raw);
    if (line.kind == AssemblyLine::Kind::directive && changes_section(line, raw)) return;
    if (removed_ && line.kind != AssemblyLine::Kind::empty) return;
    if (line.kind == AssemblyLine::Kind::instruction) {
      if (line.name == "endbr64" && line.operands.empty()) return;
      if (const View function = called_through_table(line); !function.empty()) {
        out_ += line.name.starts_with("call") ? "\tcall\t" : "\tjmp\t";
        out_ += function;
        out_ += "@PLT\n";
        return;
      }
    }
    emit(raw);
  }

  void emit(View raw) {
    out_ += raw;
    out_ += '\n';
  }

  // Follows the assembler's notion of the current and the previous section, and its stack of both.
  bool changes_section(const AssemblyLine& line, View raw) {
    const bool push = line.name == ".pushsection";
    if (push || line.name == ".section") {
      View rest = line.operands;
      const bool remove = describes_code(next_argument(rest));
      if (push) pushed_.push_back({removed_, previous_removed_, !remove});
      previous_removed_ = std::exchange(removed_, remove);
      if (!remove) emit(raw);
    } else if (line.name == ".text" || line.name == ".data" || line.name == ".bss") {
      previous_removed_ = std::exchange(removed_, false);
      emit(raw);
    } else if (line.name == ".previous") {
      std::swap(removed_, previous_removed_);
      if (!removed_ && !previous_removed_) emit(raw);  // else the assembler never left the section that stays
    } else if (line.name == ".popsection" && !pushed_.empty()) {
      const Pushed before = pushed_.back();
      pushed_.pop_back();
      removed_ = before.removed;
      previous_removed_ = before.previous_removed;
      if (before.emitted) emit(raw);
    } else {
      return false;
    }
    return true;
  }

  struct Pushed {
    bool removed, previous_removed;
    bool emitted;  // the .pushsection is in the text
  };

  View text_;
  std::string out_;
  std::vector<Pushed> pushed_;
  bool removed_ = false, previous_removed_ = false;
};

}  // namespace

std::string plain_assembly(View text) { return Plain(text).run(); }

}  // namespace ridge::simt
