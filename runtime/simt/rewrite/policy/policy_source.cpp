// The part of the policy that reads C++.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "policy.hpp"
#include "policy_macros.hpp"
#include "simt/rewrite/text/lexer.hpp"
#include "simt/rewrite/text/policy_words.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

// __section__ is section.
View plain(View name) {
  if (name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__")
    return name.substr(2, name.size() - 4);
  return name;
}

// Words that no honest source has, wherever they stand.
constexpr std::array<View, 6> kUninstrumented = {"no_sanitize",        "no_sanitize_thread",    "no_sanitize_coverage",
                                                 "no_sanitize_memory", "no_sanitize_undefined", "no_sanitize_address"};
constexpr std::array<View, 4> kAlways = {"disable_sanitizer_instrumentation", "no_profile_instrument_function",
                                         "no_instrument_function", "tls_runner"};
// Words that mean something inside an attribute only.
constexpr std::array<View, 21> kAttributes = {"naked",
                                              "section",
                                              "ifunc",
                                              "alias",
                                              "weakref",
                                              "optimize",
                                              "target",
                                              "target_clones",
                                              "optnone",
                                              "nodebug",
                                              "symver",
                                              "interrupt",
                                              "no_icf",
                                              "retain",
                                              "weak",
                                              "address_space",
                                              "patchable_function_entry",
                                              "xray_always_instrument",
                                              "no_split_stack",
                                              "constructor_priority",
                                              "destructor"};
// Vectors of the compiler's, which no GPU has.
constexpr std::array<View, 2> kVectors = {"vector_size", "ext_vector_type"};
constexpr std::array<View, 2> kWideIntegers = {"_BitInt", "_ExtInt"};
// Names of the instrumentation, and mangled ones: a function of such a name would take the place of the emulator's or
// the library's.
constexpr std::array<View, 5> kHooks = {"_Z", "__tsan_", "__sanitizer_", "__ridge_", "ridge_check_"};
// The expansions of __constant__ and, for const variables, of __constant_const__ (cuda_runtime.h).
constexpr std::array<View, 2> kConstant = {"__attribute__((section(\"ridge_constant\")))",
                                           "__attribute__((section(\"ridge_constant_const\")))"};
constexpr std::array<View, 5> kPragmas = {"redefine_extname", "weak", "attribute", "optimize", "target"};

// Reads the preprocessor's output as tokens. Markers name the file of each line, and their order is checked: only an
// #include leads into a trusted file.
class Source {
 public:
  Source(View text, const Trusted& trusted, const ReadFile& read)
      : text_(text), trusted_(trusted), macros_(trusted, read, found_) {}

  std::vector<Violation> run() {
    while (at_ < text_.size() && found_.size() < 100) {
      const char c = text_[at_];
      if (c == '\n') {
        ++at_;
        ++line_;
        line_start_ = true;
      } else if (c == '#' && line_start_) {
        directive();
      } else if ((c == '/' || c == '\\') && no_code(piece_at(text_, at_))) {
        pass(piece_at(text_, at_).end);
      } else if (c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r') {
        ++at_;
      } else {
        line_start_ = fresh_ = false;
        if (!file_.empty() && !skip_) seen_own_ = true;
        token();
      }
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    std::string file;
    bool skip;
  };

  void directive() {
    // A macro's text may hold a raw literal, whose lines are text, whatever they look like.
    const std::size_t end = line_end(text_, at_);
    const View line = text_.substr(at_, end - at_);
    at_ = end;
    if (line.size() > 2 && line[1] == ' ' && std::isdigit(static_cast<unsigned char>(line[2])) != 0) {
      marker(line);
      at_ = std::min(end + 1, text_.size());  // it names the line that follows
      return;
    }
    if (const View defined = behind(line, "define"); !defined.empty())
      macros_.define(defined, file_, line_, skip_);
    else if (const View undefined = behind(line, "undef"); !undefined.empty())
      macros_.undefine(undefined, file_, line_, skip_);
    else if (!skip_)
      pragma(line.substr(1));
    line_ += static_cast<int>(std::count(line.begin(), line.end(), '\n'));
  }

  static bool no_code(const Piece& p) { return p.is == Piece::Is::comment || p.is == Piece::Is::splice; }

  // Goes on behind lines of a literal or a comment.
  void pass(std::size_t end) {
    const View lines = text_.substr(at_, end - at_);
    line_ += static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
    at_ = end;
  }

  static View behind(View line, View word) {
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(word)) return {};
    line.remove_prefix(word.size());
    const std::size_t name = line.find_first_not_of(" \t");
    return name == 0 || name == View::npos ? View() : line.substr(name);
  }

  // # 12 "file" flags; 1: the file begins, 2: it goes on behind an #include. Without them: the same file, or #line.
  void marker(View line) {
    std::from_chars(line.data() + 2, line.data() + line.size(), line_);
    std::size_t open = line.find('"'), close = line.rfind('"');
    if (open == View::npos || close <= open) return;
    std::string name = file_name_of(line.substr(open + 1, close - open - 1));
    const View flags = line.substr(close + 1);
    const bool begins = flags.starts_with(" 1"), goes_on = flags.starts_with(" 2");
    const bool foreign = name.empty() || name.front() == '<' || trusted_(name);
    if (begins) {
      frames_.push_back({file_, skip_});
      if (foreign && name.front() != '<') macros_.enter(name);
    } else if (goes_on && !frames_.empty()) {
      // Not what its name says: what it was.
      const Frame before = std::move(frames_.back());
      frames_.pop_back();
      if (!before.file.empty()) {
        file_ = before.file;
        skip_ = before.skip;
        fresh_ = false;
        if (frames_.empty() && file_.front() == '<') take(std::move(name), foreign && !seen_own_);
        return;
      }
    } else if (name != file_ && foreign && !skip_ && !fresh_ && seen_own_) {
      add("a line of the submission passes for one of " + (name.empty() ? std::string("no file") : name),
          "messages and counters name the lines of your own files");
      return;
    }
    take(std::move(name), foreign);
    fresh_ = begins;
  }

  void take(std::string name, bool skip) {
    file_ = std::move(name);
    skip_ = skip;
  }

  void add(std::string what, std::string advice) {
    found_.push_back({file_, line_, std::move(what), std::move(advice)});
  }

  void token() {
    const char c = text_[at_];
    const Piece p = piece_at(text_, at_);
    if (p.is == Piece::Is::literal) {
      pass(p.end);
      previous_ = '"';
      return;
    }
    const auto constant = std::find_if(kConstant.begin(), kConstant.end(),
                                       [&](View expansion) { return text_.substr(at_).starts_with(expansion); });
    if (!skip_ && constant != kConstant.end()) {
      at_ += constant->size();
      previous_ = ')';
      return;
    }
    if (p.is == Piece::Is::word || p.is == Piece::Is::number) {
      const View written = text_.substr(p.begin, p.end - p.begin);
      const bool spliced = written.find('\\') != View::npos;
      const std::string joined = spliced ? without_splices(written) : std::string();
      const View w = spliced ? View(joined) : written;
      pass(p.end);
      if (w == "asm" || w == "__asm__" || w == "__asm")
        assembly();
      else if (!skip_)
        word(w);
      previous_ = 'a';
      return;
    }
    if (skip_) {
      ++at_;
      return;
    }
    // <: and :> are [ and ].
    const View two = text_.substr(at_, 2);
    const bool opens = c == '[' || two == "<:", closes = c == ']' || two == ":>";
    if (c == '(' && depth_ > 0) ++depth_;
    if (c == ')' && depth_ > 0 && --depth_ == 1) depth_ = 0;
    if (opens && previous_ == '[') brackets_ = true;
    if (closes && previous_ == ']') brackets_ = false;
    previous_ = opens ? '[' : closes ? ']' : c;
    at_ += (opens || closes) && c != '[' && c != ']' ? 2 : 1;
  }

  // Headers give functions their names in objects so, and the emulator's hold a few statements, which check_assembly
  // knows by their text. That text must be whole: nothing in it may look like the end of a statement.
  void assembly() {
    if (!skip_)
      return add("inline assembly is not allowed on the emulator",
                 "write C++ and CUDA's own functions; what they do is counted");
    std::size_t i = at_;
    auto next = [&] {
      while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t' || text_[i] == '\n')) ++i;
    };
    for (next(); i < text_.size() && word_character(text_[i]); next())
      while (i < text_.size() && word_character(text_[i])) ++i;  // volatile
    bool plain = i < text_.size() && text_[i] == '(';
    ++i;
    next();
    plain = plain && i < text_.size() && text_[i] == '"';
    for (; plain && i < text_.size() && text_[i] == '"'; next()) {
      const Piece p = piece_at(text_, i);
      const View literal = text_.substr(i + 1, p.end - i - 1);
      plain = literal.ends_with('"') && literal.find_first_of("\n#") == View::npos;
      for (std::size_t k = 0; plain && k < literal.size(); ++k)
        if (literal[k] == '\\') plain = View("nt\\\"").find(literal[++k]) != View::npos;
      i = p.end;
    }
    if (!plain) add("assembly in a header is not the header's", "keep macros of yours out of the system's headers");
  }

  void word(View w) {
    if (w == "__attribute__" || w == "__attribute" || w == "__declspec") {
      depth_ = 1;
      return;
    }
    if (w == "__seg_fs" || w == "__seg_gs") return add("segment registers are not for labs", "use plain pointers");
    View name = plain(w);
    if (one_of(name, kUninstrumented) || one_of(name, kAlways))
      return add("'" + std::string(name) + "' is not allowed: all code of a submission is counted", "remove it");
    if (one_of(w, kWideIntegers))
      return add("integers of " + std::string(w) + " are not allowed: a GPU has none of such a size",
                 "use int, long long, or arrays of them");
    // Its translation would have to be read as the compiler reads it, literal by literal.
    if (w == kLatePtx)
      return add("inline PTX that is made of macros is not judged", "write the instruction and its operands out");
    for (View head : kHooks)
      if (w.starts_with(head) && w != kUncounted)
        return add("the name '" + std::string(w) + "' belongs to the emulator", "choose another name");
    if ((depth_ > 1 || brackets_) && one_of(name, kVectors))
      return add("the attribute '" + std::string(name) + "' is not allowed: CUDA has no vectors of this kind",
                 "use float2, float4, int4, ...; at most 16 bytes move at once on a GPU");
    if ((depth_ > 1 || brackets_) && one_of(name, kAttributes))
      add("the attribute '" + std::string(name) + "' is not allowed in a submission",
          name == "section" ? "__constant__, __device__ and __shared__ choose the memory" : "remove it");
  }

  void pragma(View rest) {
    std::size_t at = rest.find("pragma");
    if (at == View::npos) return;
    for (std::size_t i = at + 6, n = 0; i < rest.size() && n < 2;) {
      if (!word_character(rest[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < rest.size() && word_character(rest[end])) ++end;
      View name = rest.substr(i, end - i);
      if (one_of(name, kPragmas) || name == "section" || name == "push_macro" || name == "pop_macro")
        add("#pragma " + std::string(name) + " is not allowed in a submission", "remove it");
      ++n;
      i = end;
    }
  }

  View text_;
  std::size_t at_ = 0;
  std::string file_;
  const Trusted& trusted_;
  std::vector<Violation> found_;
  Macros macros_;
  std::vector<Frame> frames_;  // of the files that include the current one
  int line_ = 0, depth_ = 0;
  char previous_ = 0;  // the last token's first character; a for a word
  bool line_start_ = true, skip_ = true, brackets_ = false;
  bool fresh_ = false;     // the file has just begun
  bool seen_own_ = false;  // something of the submission's was read
};

}  // namespace

std::string file_name_of(View quoted) {
  std::string name;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '\\' && i + 1 < quoted.size()) {
      const auto octal = [&](std::size_t k) {
        return i + k < quoted.size() && quoted[i + k] >= '0' && quoted[i + k] <= '7';
      };
      if (octal(1) && octal(2) && octal(3)) {
        name += static_cast<char>((quoted[i + 1] - '0') * 64 + (quoted[i + 2] - '0') * 8 + (quoted[i + 3] - '0'));
        i += 3;
        continue;
      }
      ++i;
    }
    name += quoted[i];
  }
  return name;
}

std::vector<Violation> check_source(View preprocessed, const Trusted& trusted, const ReadFile& read) {
  return Source(preprocessed, trusted, read).run();
}

std::string messages(const std::vector<Violation>& violations) {
  std::string text;
  std::size_t shown = 0;
  for (const Violation& v : violations) {
    if (shown++ == 20) {
      text += "and " + std::to_string(violations.size() - 20) + " more\n";
      break;
    }
    if (!v.file.empty()) text += v.file + ":" + (v.line > 0 ? std::to_string(v.line) + ": " : " ");
    text += "error: " + v.what + "\n  " + v.advice + "\n";
  }
  return text;
}

}  // namespace ridge::simt
