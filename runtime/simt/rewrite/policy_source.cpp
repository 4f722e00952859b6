// The part of the policy that reads C++.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "lexer.hpp"
#include "policy.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

template <std::size_t N>
bool one_of(View s, const std::array<View, N>& list) {
  return std::find(list.begin(), list.end(), s) != list.end();
}

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
// The expansion of __constant__ (cuda_runtime.h).
constexpr View kConstant = "__attribute__((section(\"ridge_constant\")))";
constexpr std::array<View, 5> kPragmas = {"redefine_extname", "weak", "attribute", "optimize", "target"};

class Source {
 public:
  Source(View text, const Trusted& trusted) : text_(text), trusted_(trusted) {}

  std::vector<Violation> run() {
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = std::min(text_.find('\n', at), text_.size());
      View line = text_.substr(at, end - at);
      if (line.size() > 2 && line[0] == '#' && line[1] == ' ' &&
          std::isdigit(static_cast<unsigned char>(line[2])) != 0) {
        marker(line);
      } else {
        if (!skip_) read(line);
        ++line_;
      }
      at = end + 1;
    }
    return std::move(found_);
  }

 private:
  // # 12 "file" flags
  void marker(View line) {
    std::from_chars(line.data() + 2, line.data() + line.size(), line_);
    std::size_t open = line.find('"'), close = line.rfind('"');
    if (open == View::npos || close <= open) return;
    file_ = file_name_of(line.substr(open + 1, close - open - 1));
    skip_ = file_.empty() || file_.front() == '<' || trusted_(file_);
  }

  void add(std::string what, std::string advice) {
    found_.push_back({file_, line_, std::move(what), std::move(advice)});
  }

  void read(View line) {
    std::size_t first = line.find_first_not_of(" \t");
    if (first == View::npos) return;
    if (line[first] == '#') return pragma(line.substr(first + 1));
    for (std::size_t i = first; i < line.size();) {
      const char c = line[i];
      if (raw_close_.empty() == false) {  // a raw literal goes on over lines
        std::size_t end = line.find(raw_close_, i);
        if (end == View::npos) return;
        i = end + raw_close_.size();
        raw_close_.clear();
      } else if (c == '"' || (c == '\'' && (i == 0 || !word_character(line[i - 1]) || quoted_prefix(line, i)))) {
        i = literal(line, i);
      } else if (line.substr(i).starts_with(kConstant)) {
        i += kConstant.size();
      } else if (word_character(c)) {
        std::size_t end = i;
        while (end < line.size() && (word_character(line[end]) || (line[end] == '\'' && std::isdigit(c) != 0))) ++end;
        word(line.substr(i, end - i));
        i = end;
      } else {
        if (c == '(' && depth_ > 0) ++depth_;
        if (c == ')' && depth_ > 0 && --depth_ == 1) depth_ = 0;
        if (line.substr(i, 2) == "[[") brackets_ = true;
        if (line.substr(i, 2) == "]]") brackets_ = false;
        ++i;
      }
    }
  }

  static bool quoted_prefix(View line, std::size_t i) {
    std::size_t start = i;
    while (start > 0 && word_character(line[start - 1])) --start;
    View prefix = line.substr(start, i - start);
    return prefix == "L" || prefix == "u" || prefix == "U" || prefix == "u8";
  }

  std::size_t literal(View line, std::size_t i) {
    const char quote = line[i];
    if (quote == '"' && i > 0 && line[i - 1] == 'R') {
      std::size_t open = line.find('(', i);
      if (open == View::npos) return line.size();
      raw_close_ = ")" + std::string(line.substr(i + 1, open - i - 1)) + "\"";
      return open + 1;
    }
    for (++i; i < line.size() && line[i] != quote; ++i)
      if (line[i] == '\\') ++i;
    return std::min(i + 1, line.size());
  }

  void word(View w) {
    if (w == "asm" || w == "__asm__" || w == "__asm")
      return add("inline assembly is not allowed on the emulator",
                 "write C++ and CUDA's own functions; what they do is counted");
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
      if (one_of(name, kPragmas) || name == "section")
        add("#pragma " + std::string(name) + " is not allowed in a submission", "remove it");
      ++n;
      i = end;
    }
  }

  View text_;
  std::string file_;
  const Trusted& trusted_;
  std::vector<Violation> found_;
  std::string raw_close_;  // end of the raw literal that is open
  int line_ = 0, depth_ = 0;
  bool skip_ = true, brackets_ = false;
};

}  // namespace

std::vector<Violation> check_directives(View text, View file) {
  std::vector<Violation> found;
  // Lines as the compiler joins them.
  std::string joined;
  std::vector<int> numbers;
  int number = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {  // a blank behind the backslash does not part the lines
      std::size_t end = i + 1;
      while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
      if (end < text.size() && text[end] == '\n') {
        ++number;
        i = end;
        continue;
      }
    }
    joined += text[i];
    numbers.push_back(number);
    if (text[i] == '\n') ++number;
  }
  std::vector<Kind> kinds = classify(joined);
  for (std::size_t i = 0; i < joined.size(); ++i)
    if (kinds[i] == Kind::comment && joined[i] != '\n') joined[i] = ' ';
  for (std::size_t at = 0; at < joined.size();) {
    std::size_t end = std::min(joined.find('\n', at), joined.size());
    View line = View(joined).substr(at, end - at);
    if (line.find("RIDGE_UNCOUNTED") != View::npos)
      found.push_back(
          {std::string(file), numbers[at], "the name 'RIDGE_UNCOUNTED' belongs to the emulator", "remove it"});
    std::size_t i = line.find_first_not_of(" \t\v\f\r");
    const std::size_t place = at;
    at = end + 1;
    if (i == View::npos || kinds[place + i] == Kind::literal) continue;
    auto add = [&](std::string what, std::string advice) {
      found.push_back({std::string(file), numbers[place], std::move(what), std::move(advice)});
    };
    if (line[i] == '#')
      ++i;
    else if (line.substr(i, 2) == "%:")
      i += 2;
    else if (line.substr(i, 3) == "\?\?=")
      i += 3;
    else
      continue;
    i = std::min(line.find_first_not_of(" \t\v\f", i), line.size());
    View rest = line.substr(i);
    if (rest.substr(0, 4) == "line" || (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0))
      add("#line is not allowed in a submission", "messages and counters name the lines of your own files");
    if (rest.substr(0, 5) == "embed") add("#embed is not allowed in a submission", "write the data as an array");
    if (rest.substr(0, 7) != "include") continue;
    std::size_t open = rest.find_first_of("\"<");
    if (open == View::npos) continue;
    std::size_t close = rest.find_first_of("\">", open + 1);
    View name = rest.substr(open + 1, close == View::npos ? View::npos : close - open - 1);
    if (!name.empty() && (name.front() == '/' || name.find("..") != View::npos))
      add("#include of " + std::string(name) + " leaves the submission",
          "include the lab's files and standard headers");
  }
  return found;
}

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

std::vector<Violation> check_source(View preprocessed, const Trusted& trusted) {
  return Source(preprocessed, trusted).run();
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
