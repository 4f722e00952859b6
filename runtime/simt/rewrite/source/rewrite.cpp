#include "rewrite.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <string>
#include <vector>

#include "inline_ptx.hpp"
#include "late_ptx.hpp"
#include "own_names.hpp"
#include "simt/rewrite/text/lexer.hpp"
#include "two_sided.hpp"
#include "unsupported.hpp"

namespace ridge::simt {

namespace {

class Rewriter {
 public:
  Rewriter(std::string_view source, std::string_view name, const IncludeFinder& find)
      : s_(source),
        kind_(classify(source)),
        functions_(functions_of(source, kind_)),
        architecture_(architecture_outside(source, kind_, functions_)),
        two_sided_(two_sided_returns(source, kind_, functions_)),
        find_(find),
        name_(name) {
    out_ = "#line 1 \"" + escaped(name) + "\"\n";
  }

  FileSides sides() && {
    return {std::move(functions_), std::move(placed_), std::move(architecture_.notes), std::move(child_launches_)};
  }

  std::string run() {
    std::vector<SideUse> uses = side_uses(s_, kind_, functions_);
    own_names_ = own_index_names(s_, kind_, functions_);
    std::erase_if(uses, [&](const SideUse& u) {
      return u.index && std::any_of(own_names_.begin(), own_names_.end(), [&](const auto& n) { return n.at == u.at; });
    });
    auto next = uses.begin();
    auto own = own_names_.begin();
    std::size_t i = 0;
    while (i < s_.size()) {
      for (; next != uses.end() && next->at <= i; ++next)
        if (next->at == i) {
          placed_.push_back(std::move(*next));
          placed_.back().at = out_.size();
        }
      for (; own != own_names_.end() && own->at <= i; ++own)
        if (own->at == i) out_ += own->text;
      if (code(i) && s_.substr(i, 3) == "<<<" && launch(i)) continue;
      if (code(i) && s_[i] == '#' && (include(i) || unroll(i) || two_sided(i))) continue;
      if (code(i) && s_[i] == ':' && template_member(i)) continue;
      if (code(i) && is_word(s_[i]) && (i == 0 || !is_word(s_[i - 1]))) {
        if (shared(i, "extern") || shared(i, "static") || shared(i, "") || architecture(i) || not_inlined(i) ||
            constant(i) || unsupported(i))
          continue;
        kernel(i);
      }
      out_ += s_[i++];
      if (i == body_end_) out_ += registration_;
    }
    return out_;
  }

 private:
  // A kernel's definition: its address is registered behind its body, for calls that get no more than that
  // (cudaGraphAddKernelNode, cudaLaunchKernel with void pointers). That of a template's instance from inside its body,
  // which exists where the address is taken.
  void kernel(std::size_t i) {
    constexpr std::string_view marker = "__global__";
    if (s_.substr(i, marker.size()) != marker || (i + marker.size() < s_.size() && is_word(s_[i + marker.size()])))
      return;
    const std::size_t before = specifiers_begin(i);
    const bool is_template = before > 0 && s_[before - 1] == '>' && !in_directive(before - 1);
    const std::string instance = is_template ? template_arguments(before - 1) : std::string();
    if (is_template && (instance.empty() || in_macro(i))) return;
    // The name is the word before the parameters; __launch_bounds__(...) and the like come before it.
    std::size_t open = i + marker.size(), close = 0, name = 0, name_end = 0;
    for (;;) {
      while (open < s_.size() && !(code(open) && (s_[open] == '(' || s_[open] == ';' || s_[open] == '{'))) ++open;
      if (open >= s_.size() || s_[open] != '(') return;
      name_end = open;
      while (name_end > i && blank(name_end - 1)) --name_end;
      name = name_end;
      while (name > i && is_word(s_[name - 1])) --name;
      close = matching(open, '(', ')');
      if (close == std::string_view::npos) return;
      if (s_.substr(name, 2) != "__") break;
      open = close + 1;
    }
    const std::size_t body = skip_space(close + 1);
    if (body >= s_.size() || s_[body] != '{' || name == name_end) return;
    const std::size_t end = matching(body, '{', '}');
    if (end == std::string_view::npos) return;
    std::string parameters;
    for (std::size_t k = open + 1; k < close; ++k) parameters += blank(k) ? ' ' : s_[k];
    if (parameters.find_first_of("=#") != std::string::npos) return;
    const std::string id(s_.substr(name, name_end - name)), qualified = scope_before(name) + id,
                                                            bounds = arguments_of("__launch_bounds__", before, name),
                                                            cluster = arguments_of("__cluster_dims__", before, name);
    std::string given = bounds.empty() && cluster.empty() ? "" : "::ridge_simt::Bounds(" + bounds + ")";
    if (!cluster.empty()) given += ".clustered(" + cluster + ")";
    if (is_template) {
      registration_ =
          " (void)&::ridge_simt::registered<static_cast<void (*)(" + parameters + ")>(&" + id + instance + ")" +
          (given.empty() ? "" : ", " + given + ".most_threads, " + given + ".least_blocks" + clusters(given, cluster)) +
          ">;";
      body_end_ = body + 1;
      return;
    }
    if (parameters.find("...") != std::string::npos) return;
    registration_ = " [[maybe_unused]] static const bool ridge_kernel_" + id + "_" +
                    std::to_string(std::hash<std::string>()(name_ + parameters)) +
                    " = ::ridge_simt::register_kernel(\"" + id + "\", static_cast<void (*)(" + parameters + ")>(&" +
                    qualified + ")" + (given.empty() ? "" : ", " + given) + ");";
    body_end_ = end + 1;
  }

  // "mine::" where the definition names its namespace: __global__ void mine::k()
  std::string scope_before(std::size_t name) const {
    std::string scope;
    for (std::size_t i = name; i > 2 && s_[i - 1] == ':' && s_[i - 2] == ':';) {
      std::size_t start = i - 2;
      while (start > 0 && code(start - 1) && is_word(s_[start - 1])) --start;
      scope = std::string(s_.substr(start, i - start)) + scope;
      i = start;
    }
    return scope;
  }

  static std::string clusters(const std::string& given, const std::string& cluster) {
    std::string s;
    for (const char* side : {"[0]", "[1]", "[2]"}) s += ", " + given + ".cluster" + side;
    return cluster.empty() ? std::string() : ", 0" + s;
  }

  // What an attribute such as __launch_bounds__ gets between these places, in one line.
  std::string arguments_of(std::string_view word, std::size_t from, std::size_t to) const {
    std::size_t at = from;
    while ((at = s_.find(word, at)) < to && !code(at)) ++at;
    if (at >= to) return {};
    const std::size_t open = skip_space(at + word.size()), close = matching(open, '(', ')');
    std::string text;
    if (close < to)
      for (std::size_t k = open + 1; k < close; ++k) text += blank(k) ? ' ' : s_[k];
    return text.find('#') == std::string::npos ? text : std::string();
  }

  // Behind what stands before the words that may come before __global__: template <...> static
  // __launch_bounds__(64) __global__
  std::size_t specifiers_begin(std::size_t i) const {
    static constexpr std::array<std::string_view, 7> kWords = {
        "static", "inline", "extern", "__cluster_dims__", "void", "const", "__launch_bounds__"};
    for (;;) {
      while (i > 0 && blank(i - 1)) --i;
      std::size_t end = i;
      if (i > 0 && code(i - 1) && s_[i - 1] == ')') {
        int depth = 0;
        while (end > 0 && !(code(end - 1) && s_[end - 1] == '(' && depth == 1)) {
          --end;
          if (code(end) && s_[end] == ')') ++depth;
          if (code(end) && s_[end] == '(') --depth;
          if (code(end) && (s_[end] == ';' || s_[end] == '}')) return i;
        }
        end = end > 0 ? end - 1 : 0;
        while (end > 0 && blank(end - 1)) --end;
      }
      std::size_t start = end;
      while (start > 0 && code(start - 1) && is_word(s_[start - 1])) --start;
      const std::string_view word = s_.substr(start, end - start);
      if (std::find(kWords.begin(), kWords.end(), word) == kWords.end()) return i;
      i = start;
    }
  }

  // The arguments with which a template names itself in its body: <T, N, More...>. Its parameter list ends at `end`.
  // Empty if a parameter has no name.
  std::string template_arguments(std::size_t end) const {
    int angles = 0, others = 0;
    std::size_t from = end + 1;
    std::vector<std::size_t> ends = {end};  // ends of the parameters, last first
    while (from-- > 0) {
      if (!code(from)) continue;
      const char c = s_[from];
      if (c == ')' || c == '}' || c == ']') ++others;
      if (c == '(' || c == '{' || c == '[') --others;
      if (others > 0) continue;
      if (others < 0 || c == ';') return {};
      if (c == '>') ++angles;
      if (c == ',' && angles == 1) ends.push_back(from);
      if (c == '<' && --angles == 0) break;
    }
    if (from >= end) return {};
    std::size_t word = from;
    while (word > 0 && blank(word - 1)) --word;
    if (word < 8 || s_.substr(word - 8, 8) != "template" || (word > 8 && is_word(s_[word - 9]))) return {};
    std::string arguments;
    std::size_t start = from + 1;
    for (auto e = ends.rbegin(); e != ends.rend(); start = *e + 1, ++e) {
      const std::string name = parameter_name(start, *e);
      if (name.empty()) return {};
      arguments += (arguments.empty() ? "<" : ", ") + name;
    }
    return arguments + ">";
  }

  // "typename T = int" -> T, "int... N" -> N...
  std::string parameter_name(std::size_t from, std::size_t to) const {
    std::size_t end = from;
    for (int depth = 0; end < to; ++end) {
      if (!code(end)) continue;
      if (s_[end] == '<' || s_[end] == '(') ++depth;
      if (s_[end] == '>' || s_[end] == ')') --depth;
      if (s_[end] == '=' && depth == 0) break;
    }
    while (end > from && blank(end - 1)) --end;
    std::size_t start = end;
    while (start > from && code(start - 1) && is_word(s_[start - 1])) --start;
    std::size_t before = start;
    while (before > from && blank(before - 1)) --before;
    const std::string_view name = s_.substr(start, end - start);
    static constexpr std::array<std::string_view, 12> kTypes = {
        "int", "unsigned", "bool", "char", "long", "short", "float", "double", "signed", "class", "typename", "auto"};
    const bool unnamed =
        before == from || s_[before - 1] == ':' || std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end();
    if (name.empty() || unnamed) return {};
    return std::string(name) + (before >= from + 3 && s_.substr(before - 3, 3) == "..." ? "..." : "");
  }

  // Cast<T>::to<4>(x): a template's member in a template, which nvcc takes without the `template` that C++ demands.
  bool template_member(std::size_t& i) {
    if (s_.substr(i, 2) != "::" || !before_is(skip_space_back(i), ">")) return false;
    const std::size_t name = skip_space(i + 2), end = word_end(name), angles = skip_space(end);
    if (name == end || angles >= s_.size() || s_[angles] != '<' || s_.substr(name, end - name) == "template")
      return false;
    const SourceWalk walk(s_, kind_);
    const std::size_t behind = walk.behind_angles(angles);
    if (behind == angles || skip_space(behind) >= s_.size() || s_[skip_space(behind)] != '(') return false;
    if (functions_.around(i) == nullptr && functions_.other_around(i) == nullptr) return false;
    out_ += ":: template ";
    i += 2;
    return true;
  }

  // __constant__ const int a[4]: a section of its own, since compilers let no section hold const variables and others.
  bool constant(std::size_t& i) {
    constexpr std::string_view kMarker = "__constant__", kConst = "__constant_const__";
    const std::size_t end = word_end(i);
    if (s_.substr(i, end - i) != kMarker || in_directive(i)) return false;
    bool is_const = false;
    for (std::size_t k = skip_space_back(i), start = word_start(k); start < k;
         k = skip_space_back(start), start = word_start(k))
      is_const = is_const || s_.substr(start, k - start) == "const";
    for (std::size_t k = skip_space(end); k < s_.size() && code(k) && (is_word(s_[k]) || s_[k] == '*');
         k = skip_space(k)) {
      const std::size_t stop = s_[k] == '*' ? k + 1 : word_end(k);
      const std::string_view word = s_.substr(k, stop - k);
      is_const = word != "*" && (is_const || word == "const" || word == "constexpr");
      k = stop;
    }
    if (!is_const) return false;
    out_ += kConst;
    i = end;
    return true;
  }

  bool in_directive(std::size_t i) const {  // #include <cstdio>
    while (i > 0 && s_[i - 1] != '\n') --i;
    return i < s_.size() && s_[skip_space(i)] == '#';
  }

  std::size_t matching(std::size_t from, char open, char close) const {
    int depth = 0;
    for (std::size_t k = from; k < s_.size(); ++k) {
      if (!code(k)) continue;
      if (s_[k] == open) ++depth;
      if (s_[k] == close && --depth == 0) return k;
    }
    return std::string_view::npos;
  }

  static std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c == '\n' ? ' ' : c;
    }
    return out;
  }

  bool code(std::size_t i) const { return kind_[i] == Kind::code; }
  bool blank(std::size_t i) const {
    const bool next_line = s_[i] == '\\' && i + 1 < s_.size() && s_[i + 1] == '\n';  // of a macro
    return kind_[i] == Kind::comment || (code(i) && (is_space(s_[i]) || next_line));
  }

  std::size_t skip_space(std::size_t i) const {
    while (i < s_.size() && blank(i)) ++i;
    return i;
  }

  std::size_t skip_space_back(std::size_t i) const {
    while (i > floor_ && blank(i - 1)) --i;
    return i;
  }

  std::size_t word_start(std::size_t end) const {
    std::size_t i = end;
    while (i > floor_ && code(i - 1) && is_word(s_[i - 1])) --i;
    return i;
  }

  std::size_t word_end(std::size_t i) const {
    while (i < s_.size() && code(i) && is_word(s_[i])) ++i;
    return i;
  }

  // True where a word ends at `end` that no operand can be: else ::k<<<1, 1>>>(), return (*k)<<<1, 1>>>().
  bool keyword(std::size_t end) const {
    std::string_view word = s_.substr(word_start(end), end - word_start(end));
    static constexpr std::array<std::string_view, 11> kWords = {"else", "do",     "return", "if",        "while", "for",
                                                                "case", "switch", "throw",  "co_return", "sizeof"};
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
  }

  bool before_is(std::size_t i, std::string_view text) const {
    return i >= floor_ + text.size() && s_.substr(i - text.size(), text.size()) == text && code(i - 1);
  }

  // Start of the brackets that close before `end`; `end` itself where there are none.
  std::size_t opening(std::size_t end, char open, char close) const {
    int depth = 0;
    for (std::size_t i = end; i > floor_;) {
      --i;
      if (!code(i)) continue;
      if (s_[i] == ';' || s_[i] == '{' || s_[i] == '}') break;
      if (s_[i] == close) ++depth;
      if (s_[i] == open && --depth == 0) return i;
    }
    return end;
  }

  // Start of the kernel that ends before `end`: a name with scopes and template arguments, or an expression made of
  // members, elements, calls and parentheses. `computed`: it is such an expression.
  std::size_t kernel_start(std::size_t end, bool& computed) const {
    std::size_t i = end;
    for (;;) {
      i = skip_space_back(i);
      if (before_is(i, "]") || before_is(i, ")")) {
        bool call = s_[i - 1] == ')';
        std::size_t open = call ? opening(i, '(', ')') : opening(i, '[', ']');
        if (open == i) return end;
        computed = true;
        i = skip_space_back(open);
        bool operand =
            i > floor_ && code(i - 1) && (is_word(s_[i - 1]) || s_[i - 1] == ']' || (call && s_[i - 1] == '>'));
        if (!operand || keyword(i)) return call ? open : end;
        continue;
      }
      if (before_is(i, ">")) i = skip_space_back(opening(i, '<', '>'));
      std::size_t name = word_start(i);
      if (name == i || keyword(i)) return end;  // no name: not a launch
      i = skip_space_back(name);
      if (before_is(i, "##")) {
        i -= 2;
        continue;
      }
      if (std::size_t t = word_start(i); s_.substr(t, i - t) == "template") {
        name = t;
        i = skip_space_back(t);
      }
      if (before_is(i, "::")) {
        std::size_t scope = i - 2;
        i = skip_space_back(scope);
        if (i == floor_ || (!is_word(s_[i - 1]) && s_[i - 1] != '>') || keyword(i)) return scope;
        continue;
      }
      if (before_is(i, "->")) {
        computed = true;
        i -= 2;
        continue;
      }
      if (before_is(i, ".")) {
        computed = true;
        i -= 1;
        continue;
      }
      return name;
    }
  }

  // The ">>>" that closes the configuration opened before `i`.
  std::size_t closing(std::size_t i) const {
    int depth = 0;
    for (; i + 3 <= s_.size(); ++i) {
      if (!code(i)) continue;
      if (s_[i] == '(' || s_[i] == '[' || s_[i] == '{') ++depth;
      if (s_[i] == ')' || s_[i] == ']' || s_[i] == '}') --depth;
      if (depth < 0 || s_[i] == ';' || s_.substr(i, 3) == "<<<") break;
      if (depth == 0 && s_.substr(i, 3) == ">>>") return i;
    }
    return std::string_view::npos;
  }

  bool launch(std::size_t& i) {
    bool computed = false;
    std::size_t start = kernel_start(i, computed);
    const std::size_t configuration = i + 3, close = closing(configuration);
    floor_ = configuration;
    if (start == i || close == std::string_view::npos) return false;
    // The name on one line, without comments.
    std::string kernel;
    for (std::size_t k = start; k < i; ++k) {
      if (!blank(k))
        kernel += s_[k];
      else if (kernel.back() != ' ')
        kernel += ' ';
    }
    if (kernel.back() == ' ') kernel.pop_back();
    out_.erase(out_.size() - (i - start));
    while (!placed_.empty() && placed_.back().at > out_.size()) placed_.pop_back();
    if (const SourceFunction* f = functions_.around(start); f != nullptr && f->for_device_alone())
      child_launches_.push_back(out_.size());
    newlines(start, i);
    i = floor_ = close + 3;
    const Arguments arguments = kernel_arguments(i);
    // A computed kernel is looked up once, at the launch.
    const std::string call = (computed ? "[ridge_kernel = " + kernel + "]" : std::string("[=]")) +
                             "(auto... ridge_arguments) RIDGE_UNCOUNTED { " + (computed ? "ridge_kernel" : kernel) +
                             "(ridge_arguments...); }";
    if (arguments.braces) out_ += "::ridge_simt::with_parameters(" + kernel + ", ";
    out_ += "::ridge_simt::Launch(";
    out_ += in_macro(start) ? "RIDGE_TEXT(" + kernel + ")" : '"' + escaped(kernel) + '"';
    out_ += ", ";
    copy(configuration, close);
    if (arguments.braces) {
      out_ += ")(" + call + "))";
    } else if (!arguments.zeros.empty()) {
      out_ += ")(::ridge_simt::with_zeros(" + call + ", [=](auto... ridge_arguments) -> decltype(" + kernel +
              "(ridge_arguments...)) {}))";
      for (std::size_t zero : arguments.zeros) {
        copy(i, zero);
        out_ += s_[zero] == '0' ? "::ridge_simt::Zero{}" : "::ridge_simt::Null{}";
        i = word_end(zero);
      }
      floor_ = i;
    } else {
      out_ += ")(" + call + ")";
    }
    return true;
  }

  // A part of the source, with the function's own names changed.
  void copy(std::size_t from, std::size_t to) {
    for (const Insertion& own : own_names_) {
      if (own.at < from || own.at >= to) continue;
      out_ += s_.substr(from, own.at - from);
      out_ += own.text;
      from = own.at;
    }
    out_ += s_.substr(from, to - from);
  }

  // Arguments of a launch that need help to pass through a generic function.
  struct Arguments {
    std::vector<std::size_t> zeros;  // places of arguments that are 0 or NULL
    bool braces = false;             // an argument is {...}
  };

  Arguments kernel_arguments(std::size_t i) const {
    Arguments found;
    std::size_t at = skip_space(i);
    if (at >= s_.size() || s_[at] != '(') return found;
    std::size_t first = at + 1;  // begin of the current argument
    int depth = 0;
    for (std::size_t k = at; k < s_.size(); ++k) {
      if (!code(k)) continue;
      char c = s_[k];
      if (c == ';' || s_.substr(k, 3) == "<<<") return {};
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if ((c == ',' && depth == 1) || depth == 0) {
        std::size_t from = skip_space(first), to = word_end(from);
        std::string_view word = s_.substr(from, to - from);
        if ((word == "0" || word == "NULL") && skip_space(to) == k) found.zeros.push_back(from);
        found.braces = found.braces || s_[from] == '{';
        first = k + 1;
      }
      if (depth == 0) return found;
    }
    return {};
  }

  // True inside a #define, whose lines end in backslashes.
  bool in_macro(std::size_t i) {
    if (i >= macro_from_ && i < macro_to_) return in_define_;
    std::size_t begin = i, end = i;
    auto line_start = [&](std::size_t k) { return k == 0 || (s_[k - 1] == '\n' && (k < 2 || s_[k - 2] != '\\')); };
    while (!line_start(begin)) --begin;
    while (end < s_.size() && (s_[end] != '\n' || (end > 0 && s_[end - 1] == '\\'))) ++end;
    macro_from_ = begin;
    macro_to_ = end;
    std::size_t hash = skip_space(begin);
    in_define_ = hash < end && s_[hash] == '#' && s_.substr(skip_space(hash + 1), 6) == "define";
    return in_define_;
  }

  static std::string failing(const std::string& message) { return "_Pragma(\"GCC error \\\"" + message + "\\\"\")"; }

  // In code for the device alone a program asks which device: there it is defined.
  bool architecture(std::size_t& i) {
    // __CUDA_ARCH_FEAT_SM90_ALL is defined where __CUDA_ARCH__ is.
    const std::string_view word = s_.substr(i, word_end(i) - i);
    if (word != kArchitecture && word != kArchitectureFeature) return false;
    const SourceFunction* f = functions_.around(i);
    const std::vector<std::size_t>& outside = architecture_.as_device;
    if (f != nullptr ? !f->for_device_alone() : !std::binary_search(outside.begin(), outside.end(), i)) return false;
    out_ += word == kArchitecture ? "RIDGE_CUDA_ARCH" : "RIDGE_CUDA_ARCH_FEAT_SM90_ALL";
    i += word.size();
    return true;
  }

  // CUDA's __noinline__. As a macro it would spoil __attribute__((__noinline__)) in the system's headers.
  bool not_inlined(std::size_t& i) {
    constexpr std::string_view word = "__noinline__";
    if (s_.substr(i, word.size()) != word || word_end(i) != i + word.size()) return false;
    const std::size_t before = skip_space_back(i);
    if (before > 0 && (s_[before - 1] == '(' || s_[before - 1] == ',')) return false;
    out_ += "__attribute__((noinline))";
    i += word.size();
    return true;
  }

  // A name that the emulator does not have becomes an error, if the preprocessor lets the line through.
  bool unsupported(std::size_t& i) {
    std::size_t end = word_end(i);
    std::string_view word = s_.substr(i, end - i);
    if (word == "__global__") return kernel_type(i, end);
    std::string message = unsupported_word(word);
    if (message.empty()) return false;
    std::size_t before = skip_space_back(i), after = skip_space(end);
    if (before > 0 && code(before - 1) && (s_[before - 1] == '.' || s_[before - 1] == '#' || before_is(before, "->")))
      return false;  // a member, a directive
    bool member = (word == "texture" || word == "surface") && s_.substr(after, 1) != "<";
    if (member) return false;
    if (message.rfind("asm ", 0) == 0) {
      // With its text: PTX is nothing that a compiler for this processor could read.
      for (std::string_view qualifier : {"volatile", "__volatile__"})
        if (s_.substr(after, qualifier.size()) == qualifier) after = skip_space(after + qualifier.size());
      if (s_.substr(after, 1) != "(") return false;
      std::size_t close = statement_end(after);
      const std::string operands = without_comments(after + 1, close - 1);
      const SourceFunction* f = functions_.around(i);
      const bool host = f != nullptr && !f->global && !f->device && !f->unclear &&
                        std::none_of(f->words.begin(), f->words.end(), may_hide_qualifier);
      const std::string call = ptx_as_call(operands);
      const bool empty = ptx_is_empty(operands);
      // An empty one with a GPU's registers holds the compiler back from moving their values, and nothing else.
      const bool holds = !host && empty && ptx_names_registers(operands);
      if ((host && call.empty()) || (empty && !holds)) return false;  // for this processor
      if (!holds && call.empty() && ptx_has_macros(operands)) {
        out_ += kLatePtx;
        newlines(i, after);
        copy(after, close);
        i = floor_ = close;
        return true;
      }
      out_ += holds ? "((void)0)" : call.empty() ? failing(message) : call;
      newlines(i, close);
      i = floor_ = close;
      return true;
    }
    out_ += failing(message) + " ";
    out_ += word;
    i = end;
    return true;
  }

  // Nor the ends of a macro's lines.
  std::string without_comments(std::size_t from, std::size_t to) const {
    std::string text(s_.substr(from, to - from));
    for (std::size_t i = from; i < to; ++i)
      if (blank(i) && s_[i] != '\n') text[i - from] = ' ';
    return text;
  }

  // `__global__ int k()`: a kernel has nobody to return to. The launch would compile.
  bool kernel_type(std::size_t& i, std::size_t end) {
    std::size_t at = skip_space(end);
    std::string_view word;
    for (;;) {
      std::size_t stop = word_end(at);
      word = s_.substr(at, stop - at);
      at = skip_space(stop);
      if (word == "__launch_bounds__" || word == "__cluster_dims__") {
        at = skip_space(statement_end(at));
      } else if (word != "static" && word != "inline" && word != "const") {
        break;
      }
    }
    static constexpr std::array<std::string_view, 10> kTypes = {"int",  "float",    "double", "bool",  "char",
                                                                "long", "unsigned", "signed", "short", "size_t"};
    if (std::find(kTypes.begin(), kTypes.end(), word) == kTypes.end()) return false;
    out_ += failing("a __global__ function must have a void return type") + " ";
    out_ += s_.substr(i, end - i);
    i = end;
    return true;
  }

  // Behind the parenthesis that closes the one at `i`; literals do not count.
  std::size_t statement_end(std::size_t i) const {
    int depth = 0;
    for (; i < s_.size(); ++i) {
      if (!code(i)) continue;
      if (s_[i] == '(') ++depth;
      if (s_[i] == ')' && --depth == 0) return i + 1;
    }
    return s_.size();
  }

  // #include "file" and #include <file>
  bool begins_line(std::size_t i) const {
    for (std::size_t k = i; k > 0 && s_[k - 1] != '\n'; --k)
      if (!is_space(s_[k - 1])) return false;
    return true;
  }

  // `#pragma unroll`, `#pragma unroll 4` in front of a loop: GCC has another name for it (rewritten.h). What is no
  // number stays: Clang takes any constant.
  bool unroll(std::size_t& i) {
    if (!begins_line(i)) return false;
    std::size_t at = skip_space(i + 1), end = word_end(at);
    if (s_.substr(at, end - at) != "pragma") return false;
    at = skip_space(end), end = word_end(at);
    if (s_.substr(at, end - at) != "unroll") return false;
    const std::size_t line = std::min(s_.find('\n', end), s_.size());
    std::string count;
    for (std::size_t k = end; k < line && code(k); ++k) {
      if (s_[k] == '/') break;  // a comment begins
      if (!is_space(s_[k]) && s_[k] != '(' && s_[k] != ')') count += s_[k];
    }
    if (!std::all_of(count.begin(), count.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) return false;
    const std::size_t next = skip_space(line);
    const std::string_view loop = s_.substr(next, word_end(next) - next);
    if (loop != "for" && loop != "while" && loop != "do") return false;
    out_ += count.empty() ? "RIDGE_UNROLL_ALL" : "RIDGE_UNROLL(" + count + ")";
    i = end;
    while (i < line && code(i) && s_[i] != '/') ++i;
    floor_ = i;
    return true;
  }

  bool two_sided(std::size_t& i) {
    const auto line = std::find_if(two_sided_.begin(), two_sided_.end(), [&](const auto& l) { return l.at == i; });
    if (line == two_sided_.end()) return false;
    out_ += line->text;
    newlines(i, line->end);
    i = floor_ = line->end;
    return true;
  }

  bool include(std::size_t& i) {
    if (!find_) return false;
    if (!begins_line(i)) return false;
    std::size_t at = skip_space(i + 1);
    if (s_.substr(at, 7) != "include" || at + 7 >= s_.size() || is_word(s_[at + 7])) return false;
    std::size_t open = skip_space(at + 7);
    if (open >= s_.size() || (s_[open] != '"' && s_[open] != '<')) return false;
    std::size_t close = s_.find(s_[open] == '"' ? '"' : '>', open + 1), line = s_.find('\n', open);
    if (close == std::string_view::npos || close > line) return false;
    std::string_view file = s_.substr(open + 1, close - open - 1);
    std::optional<std::string> found = find_(file, s_[open] == '"');
    std::string message = found ? std::string() : unsupported_header(file);
    if (!message.empty()) {
      out_ += "#error " + message;
    } else if (found && !found->empty()) {
      out_ += "#include \"" + *found + '"';
    } else {
      return false;
    }
    newlines(i, close);
    i = floor_ = close + 1;
    return true;
  }

  // `extern __shared__` declares the dynamic array, perhaps with `volatile` between; `static __shared__` would say
  // static twice once expanded; an alignas behind the marker must come first in C++.
  bool shared(std::size_t& i, std::string_view keyword) {
    if (s_.substr(i, keyword.size()) != keyword) return false;
    std::size_t next = keyword.empty() ? i : skip_space(i + keyword.size());
    constexpr std::string_view marker = "__shared__";
    if (!keyword.empty() && next == i + keyword.size()) return false;
    std::string_view changes;  // extern volatile __shared__ int s[];
    if (const std::size_t behind = word_end(next); !keyword.empty() && s_.substr(next, behind - next) == "volatile") {
      changes = " volatile";
      next = skip_space(behind);
    }
    if (s_.substr(next, marker.size()) != marker) return false;
    std::size_t end = next + marker.size();
    if (end < s_.size() && is_word(s_[end])) return false;
    newlines(i, next);
    std::size_t align = skip_space(end);
    if (s_.substr(align, 7) == "alignas") {
      std::size_t close = closing_parenthesis(align + 7);
      if (close != std::string_view::npos) {
        out_ += s_.substr(align, close + 1 - align);
        out_ += ' ';
        newlines(end, align);
        end = close + 1;
      }
    }
    bool dynamic = keyword == "extern";
    if (const std::size_t word = skip_space(end);
        keyword.empty() && s_.substr(word, word_end(word) - word) == "extern") {
      newlines(end, word);
      end = word_end(word);
      dynamic = true;  // __shared__ extern float s[];
    }
    out_ += dynamic ? "extern __thread" : marker;
    out_ += changes;
    i = floor_ = end;
    return true;
  }

  // Finds the end of alignas(...), which may hold further parentheses: alignas(alignof(float4)).
  std::size_t closing_parenthesis(std::size_t i) const {
    constexpr std::size_t kLongest = 256;
    int depth = 0;
    for (std::size_t end = std::min(s_.size(), i + kLongest); i < end; ++i) {
      if (s_[i] == '(') ++depth;
      if (s_[i] == ')' && --depth <= 0) return i;
    }
    return std::string_view::npos;
  }

  void newlines(std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      if (s_[from] == '\n') out_ += from > 0 && s_[from - 1] == '\\' ? "\\\n" : "\n";
  }

  std::string_view s_;
  std::vector<Kind> kind_;
  SourceFunctions functions_;
  ArchitectureReading architecture_;
  std::vector<ReplacedLine> two_sided_;
  std::vector<SideUse> placed_;
  std::vector<std::size_t> child_launches_;
  std::vector<Insertion> own_names_;
  const IncludeFinder& find_;
  std::size_t macro_from_ = 1, macro_to_ = 0;  // the line that in_macro() looked at last
  bool in_define_ = false;
  std::size_t floor_ = 0;  // end of the text that is done: no kernel's name begins before it
  std::string name_;       // the file's name
  std::string out_;
  std::string registration_;  // registration of the kernel whose body ends at body_end_
  std::size_t body_end_ = 0;
};

}  // namespace

namespace {

// nvcc takes k << <1, 1 >> >() as well: the three characters are put together, and the blanks behind them, so that
// columns stay. Elsewhere `>> >` closes templates, and `>>> ` means the same there.
std::string joined_brackets(std::string_view source) {
  std::string text(source);
  std::vector<Kind> kind;
  for (const std::string_view pair : {"<<", ">>"})
    for (std::size_t at = text.find(pair); at != std::string::npos; at = text.find(pair, at + 2)) {
      const std::size_t third = text.find_first_not_of(' ', at + 2);
      if (third == std::string::npos || third == at + 2 || text[third] != pair[0]) continue;
      if (kind.empty()) kind = classify(source);
      if (kind[at] != Kind::code || kind[third] != Kind::code) continue;
      std::swap(text[at + 2], text[third]);
    }
  return text;
}

}  // namespace

std::string rewrite_cuda(std::string_view source, std::string_view name, const IncludeFinder& find, FileSides* sides) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (source.starts_with(byte_order_mark)) source.remove_prefix(byte_order_mark.size());  // it would not come first
  const std::string joined = joined_brackets(source);
  Rewriter rewriter(joined, name, find);
  std::string text = rewriter.run();
  if (sides != nullptr) *sides = std::move(rewriter).sides();
  return text;
}

std::string with_errors(std::string text, const std::vector<std::pair<std::size_t, std::string>>& errors) {
  for (auto e = errors.rbegin(); e != errors.rend(); ++e)
    text.insert(e->first, "_Pragma(\"GCC error \\\"" + e->second + "\\\"\") ");
  return text;
}

}  // namespace ridge::simt
