// The part of the policy that reads assembly text. It does not trust the compiler to quote what a source gave it: a
// line that could hide another statement from this reader is refused.
#include "policy.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>

#include "simt/rewrite/text/instruction.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

const std::set<View>& directives() {
  static const std::set<View> known = {
      ".file",    ".loc",         ".ident",    ".type",        ".size",       ".globl",   ".global",  ".weak",
      ".hidden",  ".protected",   ".internal", ".local",       ".comm",       ".set",     ".section", ".text",
      ".data",    ".bss",         ".previous", ".pushsection", ".popsection", ".p2align", ".align",   ".balign",
      ".addrsig", ".addrsig_sym", ".zero",     ".byte",        ".value",      ".short",   ".2byte",   ".long",
      ".4byte",   ".int",         ".quad",     ".8byte",       ".octa",       ".ascii",   ".asciz",   ".string",
      ".skip",    ".space",       ".float",    ".double",      ".fill",       ".uleb128", ".sleb128", ".base64"};
  return known;
}

// Sections of variables and constants, not of code.
bool data_section(View name) {
  static const std::set<View> known = {"ridge_constant",  "ridge_constant_const", ".eh_frame",       ".comment",
                                       ".note.GNU-stack", ".init_array",          ".linker-options", ".llvm_addrsig"};
  if (known.count(name) != 0 || starts_with(name, ".init_array.") || starts_with(name, ".debug_")) return true;
  for (View base : {".data", ".bss", ".rodata", ".tdata", ".tbss", ".gcc_except_table", ".data.rel.ro", ".lrodata",
                    ".lbss", ".ldata"})
    if (name == base || (starts_with(name, base) && name[base.size()] == '.')) return true;
  return false;
}

bool instruction_refused(View m) {
  static const std::set<View> known = {
      "syscall", "sysenter", "sysexit", "sysret",  "sysretq",  "int",     "int1",  "int3",   "into",  "icebp",
      "hlt",     "cli",      "sti",     "in",      "inb",      "inw",     "inl",   "out",    "outb",  "outw",
      "outl",    "wrpkru",   "rdpkru",  "swapgs",  "invlpg",   "wbinvd",  "invd",  "rdmsr",  "wrmsr", "rdpmc",
      "lgdt",    "sgdt",     "lidt",    "sidt",    "lldt",     "sldt",    "ltr",   "str",    "lmsw",  "smsw",
      "clts",    "xsetbv",   "vmcall",  "vmmcall", "enclu",    "xbegin",  "xend",  "xabort", "rex64", "addr32",
      "cs",      "ds",       "es",      "fs",      "gs",       "ss",      "lcall", "ljmp",   "lret",  "iret",
      "iretq",   "loop",     "jrcxz",   "jecxz",   "senduipi", "monitor", "mwait", "lfs",    "lgs",   "lss"};
  if (known.count(m) != 0) return true;
  for (View head : {"wrfs", "wrgs", "rdfs", "rdgs", "xsave", "xrstor", "fxsave", "fxrstor", "ins", "outs", "popf",
                    "wrss", "wruss", "rstorssp", "incssp", "lcall", "ljmp", "lret", "iret"})
    if (starts_with(m, head) && !starts_with(m, "insert")) return true;
  return false;
}

class Assembly {
 public:
  explicit Assembly(View text) : text_(text) {}

  std::vector<Violation> run() {
    for (std::size_t at = 0; at < text_.size() && found_.size() < 100;) {
      std::size_t end = std::min(text_.find('\n', at), text_.size());
      read(text_.substr(at, end - at));
      at = end + 1;
    }
    if (inline_) refuse_inline();
    return std::move(found_);
  }

 private:
  void add(std::string what, std::string advice) {
    found_.push_back({std::string(file_), line_, std::move(what), std::move(advice)});
  }

  void read(View raw) {
    if (raw.empty()) return;
    const std::size_t hash = raw.find('#');
    const bool first = hash != View::npos && raw.find_first_not_of(" \t") == hash;
    const bool begins = first && raw.substr(hash, 4) == "#APP", ends = first && raw.substr(hash, 7) == "#NO_APP";
    if (begins || ends) {
      if (begins == inline_) refuse_inline();
      inline_ = begins;
      statements_ = 0;
      return;
    }
    if (inline_) return assembly(raw);
    if (is_copy(raw)) return;
    if (masked(raw))
      return add("the instruction " + std::string(parse_line(raw).name) + " is one of AVX-512, which no GPU has",
                 "remove the intrinsic, attribute or pragma that makes it");
    if (hides(raw)) return add("a name holds a character that assembly text cannot show", "use plain names");
    AssemblyLine line = parse_line(raw);
    if (line.kind == AssemblyLine::Kind::label) label(line.name);
    if (line.kind == AssemblyLine::Kind::directive) directive(line);
    if (line.kind == AssemblyLine::Kind::instruction) instruction(line);
  }

  void refuse_inline() {
    add("inline assembly is not allowed on the emulator",
        "write C++ and CUDA's own functions; what they do is counted");
  }

  // The emulator's headers keep a value in a register, with a statement without text, and read the program counter
  // (ridge_simt/here.h). GCC writes the place beside a statement, as "# 12 "file" 1".
  void assembly(View raw) {
    raw.remove_prefix(std::min(raw.find_first_not_of(" \t"), raw.size()));
    if (raw.empty() || (raw.size() > 2 && raw[0] == '#' && raw[1] == ' ')) return;
    constexpr View kHere = "leaq\t0(%rip), %", kHereToo = "leaq 0(%rip), %";
    const View name = raw.starts_with(kHere)      ? raw.substr(kHere.size())
                      : raw.starts_with(kHereToo) ? raw.substr(kHereToo.size())
                                                  : View();
    static const std::set<View> kRegisters = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8",
                                              "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    if (kRegisters.count(name) == 0 || ++statements_ > 1) refuse_inline();
  }

  // rep;movsq (%rsi), %es:(%rdi) and its kin, as Clang writes them: one instruction.
  static bool is_copy(View raw) {
    raw.remove_prefix(std::min(raw.find_first_not_of(" \t"), raw.size()));
    for (View whole :
         {"rep;movsb\t(%rsi), %es:(%rdi)", "rep;movsl\t(%rsi), %es:(%rdi)", "rep;movsq\t(%rsi), %es:(%rdi)",
          "rep;movsb (%rsi), %es:(%rdi)", "rep;movsl (%rsi), %es:(%rdi)", "rep;movsq (%rsi), %es:(%rdi)",
          "rep;stosb %al, %es:(%rdi)", "rep;stosl %eax, %es:(%rdi)", "rep;stosq %rax, %es:(%rdi)"})
      if (raw == whole) return true;
    return false;
  }

  // vaddps (%rsi), %zmm0, %zmm1 {%k1} {z}
  static bool masked(View raw) {
    const AssemblyLine line = parse_line(raw);
    if (line.kind != AssemblyLine::Kind::instruction) return false;
    for (View mask : {"{%k", "{z}", "{sae}", "-sae}", "{1to"})
      if (line.operands.find(mask) != View::npos) return true;
    return false;
  }

  // Several statements in a line, a string over several lines, a comment that this reader would take for code or not.
  static bool hides(View raw) {
    bool quoted = false;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const char c = raw[i];
      if (quoted && c == '\\') {
        ++i;
        continue;
      }
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      if (c == '#') return false;
      if (c == ';' || c == '`' || c == '{' || c == '\r' || c == '\0') return true;
      if (c == '/' && i + 1 < raw.size() && raw[i + 1] == '*') return true;
    }
    return quoted;
  }

  // Local ones too: the compiler's own calls of hooks would go there.
  void label(View name) {
    for (View head : {"__tsan_", "__sanitizer_", "__ridge_", "ridge_"})
      if (starts_with(name, head) && name != "ridge_entry")
        add("the name '" + std::string(name) + "' belongs to the emulator", "choose another name");
  }

  void directive(const AssemblyLine& line) {
    const View name = line.name;
    View rest = line.operands;
    if (name == ".loc") return location(rest);
    if (name == ".file") return file_name(rest);
    if (starts_with(name, ".cfi_")) return;
    if (directives().count(name) == 0)
      return add("the directive " + std::string(name) + " is nothing that plain C++ compiles to",
                 "remove the assembly, the attribute or the pragma that makes it");
    if (name == ".section" || name == ".pushsection") return section(rest);
    if (name == ".set" || name == ".comm") label(next_argument(rest));
    if (name == ".previous" || name == ".popsection") return add("inline assembly changes sections", "remove it");
    if (name == ".text" || name == ".data" || name == ".bss") {
      code_ = name == ".text";
      return;
    }
    if (name == ".type" && line.operands.find("indirect_function") != View::npos)
      return add("functions that are chosen at load time (ifunc) are not allowed", "call the function that you mean");
    static const std::set<View> kData = {".zero",  ".byte",    ".value",   ".short", ".2byte", ".long",
                                         ".4byte", ".int",     ".quad",    ".8byte", ".octa",  ".ascii",
                                         ".asciz", ".string",  ".skip",    ".space", ".float", ".double",
                                         ".fill",  ".uleb128", ".sleb128", ".base64"};
    if (code_ && kData.count(name) != 0)
      add("data among the instructions is not allowed", "keep data in variables, without section attributes");
  }

  void section(View operands) {
    View rest = operands, quoted = next_argument(rest), flags = next_argument(rest);
    View name = quoted.size() >= 2 && quoted.front() == '"' ? quoted.substr(1, quoted.size() - 2) : quoted;
    const bool text = name == ".text" || starts_with(name, ".text.");
    const bool executable = flags.find('x') != View::npos;
    const bool writable = flags.find('w') != View::npos;
    code_ = text || executable;
    if (text ? writable : executable || !data_section(name))
      add("the section " + std::string(name) + " is not one that a submission may fill",
          "remove the section attribute; __constant__, __device__ and __shared__ choose the memory");
  }

  void instruction(const AssemblyLine& line) {
    if (!code_) return add("instructions outside of functions are not allowed", "remove the assembly");
    const bool segment = line.operands.find("%fs") != View::npos || line.operands.find("%gs") != View::npos;
    if (instruction_refused(line.name) || (segment && !thread_local_access(line.operands)) || special(line.operands))
      add("the instruction " + std::string(line.name) + " is not allowed on the emulator",
          "remove the intrinsic or builtin that makes it");
  }

  // Control, debug and segment registers.
  static bool special(View operands) {
    auto at_end = [&](std::size_t at) {
      return at >= operands.size() || std::isalnum(static_cast<unsigned char>(operands[at])) == 0;
    };
    for (View name : {"%ds", "%es", "%ss", "%cs", "%pkru"})
      for (std::size_t at = operands.find(name); at != View::npos; at = operands.find(name, at + 1))
        if (at_end(at + name.size())) return true;
    for (View name : {"%cr", "%db", "%dr"})
      if (operands.find(name) != View::npos) return true;
    return false;
  }

  // The thread's own base, the stack protector's word, a variable's place: never an address that is computed.
  static bool thread_local_access(View operands) {
    if (operands.find("%gs") != View::npos) return false;
    for (std::size_t at = operands.find("%fs"); at != View::npos; at = operands.find("%fs", at + 1)) {
      View rest = operands.substr(at + 3);
      if (!starts_with(rest, ":")) return false;
      rest.remove_prefix(1);
      View place = next_argument(rest);
      if (place == "0" || place == "40" || place == "0x28" || place == "0x0") continue;
      // sym@tpoff, with an index or not; (%reg) alone only after a load of the variable's offset.
      if (place.find("@tpoff") != View::npos || place.find("@TPOFF") != View::npos) continue;
      return false;
    }
    return true;
  }

  // .loc file line column ...
  void location(View operands) {
    std::uint64_t number = 0;
    auto end = std::from_chars(operands.data(), operands.data() + operands.size(), number).ptr;
    const char* stop = operands.data() + operands.size();
    while (end < stop && *end == ' ') ++end;
    std::from_chars(end, stop, line_);
    auto known = files_.find(number);
    file_ = known == files_.end() ? View() : View(known->second);
  }

  // .file 1 "name" or .file 1 "folder" "name"
  void file_name(View operands) {
    if (operands.empty() || std::isdigit(static_cast<unsigned char>(operands.front())) == 0) return;
    std::uint64_t number = 0;
    std::from_chars(operands.data(), operands.data() + operands.size(), number);
    std::vector<View> parts;
    for (std::size_t at = operands.find('"'); at != View::npos;) {
      std::size_t close = operands.find('"', at + 1);
      if (close == View::npos) break;
      parts.push_back(operands.substr(at + 1, close - at - 1));
      at = operands.find('"', close + 1);
    }
    if (parts.empty()) return;
    const bool whole = parts.size() == 1 || starts_with(parts[1], "/");
    files_[number] = whole ? file_name_of(parts.back()) : file_name_of(parts[0]) + "/" + file_name_of(parts[1]);
  }

  View text_, file_;
  std::vector<Violation> found_;
  std::map<std::uint64_t, std::string> files_;
  int line_ = 0;
  int statements_ = 0;  // of this piece of inline assembly
  bool code_ = true, inline_ = false;
};

}  // namespace

std::vector<Violation> check_assembly(View text) { return Assembly(text).run(); }

}  // namespace ridge::simt
