#include "architecture.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ridge::simt {

namespace {

struct Directive {
  std::size_t at = 0, end = 0;  // from the # to the end of the line
  std::string_view word;        // if, else, define, ...
  std::size_t rest = 0;         // behind the word
};

// An #if with its #elif, #else and #endif; or a #define.
struct Group {
  std::size_t begin = 0, end = 0;
  std::vector<Directive> lines;
};

class OutsideReader {
 public:
  OutsideReader(std::string_view s, const std::vector<Kind>& kind, const SourceFunctions& functions)
      : s_(s), kind_(kind), bare_(without_directives(s, kind, nullptr)), walk_(s, kind), functions_(functions) {}

  ArchitectureReading run() {
    if (s_.find(kArchitecture) == std::string_view::npos && s_.find(kArchitectureFeature) == std::string_view::npos)
      return {};
    if (!functions_.readable) {
      const std::vector<std::size_t> all = places(0, s_.size());
      if (!all.empty())
        note(all.front(), "is taken as for the host in all of this file: its braces do not match across its #ifs");
      return std::move(out_);
    }
    for (const Group& g : groups())
      if (std::any_of(g.lines.begin(), g.lines.end(), [&](const Directive& d) { return !places(d.at, d.end).empty(); }))
        read(g);
    for (const std::size_t at : places(0, s_.size()))
      if (const SourceBody* b = functions_.other_around(at); b != nullptr && b->for_device_alone)
        out_.as_device.push_back(at);
    std::sort(out_.as_device.begin(), out_.as_device.end());
    return std::move(out_);
  }

 private:
  std::vector<Directive> directives() const {
    std::vector<Directive> all;
    bool line_begins = true;
    for (std::size_t i = 0; i < s_.size(); ++i) {
      if (line_begins && walk_.code(i) && s_[i] == '#') {
        Directive d;
        d.at = i;
        d.end = line_end(s_, i);
        const std::size_t word = walk_.skip_space(i + 1);
        d.rest = walk_.word_end(word);
        d.word = s_.substr(word, d.rest - word);
        i = d.end;
        all.push_back(d);
        continue;
      }
      if (s_[i] == '\n')
        line_begins = true;
      else if (!is_space(s_[i]) && kind_[i] != Kind::comment)
        line_begins = false;
    }
    return all;
  }

  // Those outside of functions, in the order of their ends.
  std::vector<Group> groups() const {
    std::vector<Group> done, open;
    for (const Directive& d : directives()) {
      if (d.word == "define" && outside(d.at)) done.push_back({d.at, d.end, {d}});
      if (d.word.starts_with("if")) open.push_back({d.at, d.end, {}});
      if (open.empty() || !(d.word.starts_with("if") || d.word.starts_with("el") || d.word == "endif")) continue;
      open.back().lines.push_back(d);
      if (d.word != "endif") continue;
      open.back().end = d.end;
      if (outside(open.back().begin)) done.push_back(std::move(open.back()));
      open.pop_back();
    }
    return done;
  }

  bool outside(std::size_t i) const { return functions_.around(i) == nullptr && functions_.other_around(i) == nullptr; }

  bool word_at(std::size_t i, std::string_view word) const {
    return walk_.code(i) && s_.substr(i, word.size()) == word && (i == 0 || !is_word(s_[i - 1])) &&
           (i + word.size() >= s_.size() || !is_word(s_[i + word.size()]));
  }

  std::vector<std::size_t> places(std::size_t from, std::size_t to) const {
    std::vector<std::size_t> found = places(from, to, kArchitecture), more = places(from, to, kArchitectureFeature);
    found.insert(found.end(), more.begin(), more.end());
    std::sort(found.begin(), found.end());
    return found;
  }
  std::vector<std::size_t> places(std::size_t from, std::size_t to, std::string_view word) const {
    std::vector<std::size_t> found;
    for (std::size_t i = from; (i = s_.find(word, i)) < to; i += word.size())
      if (word_at(i, word)) found.push_back(i);
    return found;
  }

  void read(const Group& g) {
    if (has_headers_alone(g)) return define(g);
    bool device = false, both = false, host = false;
    for (const SourceFunction& f : functions_.all) {
      if (f.at < g.begin || f.at >= g.end) continue;
      (f.for_device_alone() ? device : f.device ? both : host) = true;
    }
    for (const Directive& d : directives())
      if (d.at >= g.begin && d.at < g.end && d.word == "include") host = true;
    const std::set<std::string> names = names_in(g);
    bool in_device = false, elsewhere = false;
    if (!device && !both && !host) uses(g, names, in_device, elsewhere);
    if ((device || in_device) && !both && !host && !elsewhere) return define(g);
    if (!device && !both && !host && !in_device && has_flags_alone(g)) return define(g);
    if (device || both)
      note(places(g.begin, g.end).front(),
           "is taken as for the host here: this #if holds code of both sides, and files are read once; put what is for "
           "the device into an #if of its own");
    else if (in_device || (!host && !names.empty()))
      note(places(g.begin, g.end).front(),
           "is taken as for the host here: " + *names.begin() +
               " may be used on both sides, and files are read once; ask for __CUDA_ARCH__ within kernels");
  }

  // #ifdef __CUDA_ARCH__
  // #include <math_constants.h>
  // #endif
  // The host then has a header more, and functions of both sides have what it declares.
  bool has_headers_alone(const Group& g) const {
    const Directive& first = g.lines.front();
    if (!(first.word == "if" || first.word == "ifdef") || g.lines.size() != 2 ||
        s_.substr(first.at, first.end - first.at).find_first_of("!<") != std::string_view::npos)
      return false;
    bool headers = false;
    for (const Directive& d : directives()) {
      if (d.at <= first.at || d.at >= g.end || d.word == "endif") continue;
      if (d.word != "include" || s_[walk_.skip_space(d.rest)] != '<') return false;
      headers = true;
    }
    return headers && !has_code(g);
  }

  bool has_code(const Group& g) const {
    for (std::size_t i = g.begin; i < g.end; ++i)
      if (bare_[i] == Kind::code && !is_space(s_[i])) return true;
    return false;
  }

  // #if defined(__CUDA_ARCH__) && ...
  // #define HAS_TMA 1
  // #endif
  // Flags that other files ask for where they have code for the device: a library's way to say what it may use.
  bool has_flags_alone(const Group& g) const {
    if (!g.lines.front().word.starts_with("if")) return false;
    bool flags = false;
    for (const Directive& d : directives()) {
      if (d.at < g.begin || d.at >= g.end) continue;
      if (d.word.starts_with("el") || d.word == "undef") return false;
      if (d.word != "define") continue;
      const std::size_t name = walk_.skip_space(d.rest);
      std::size_t value = walk_.word_end(name);
      if (value < d.end && s_[value] == '(') return false;
      value = std::min(walk_.skip_space(value), d.end);
      std::string_view text = s_.substr(value, d.end - value);
      while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
      if (!text.empty() && text != "1" && text != "true") return false;
      flags = true;
    }
    return flags && !has_code(g);
  }

  void define(const Group& g) {
    for (const std::size_t at : places(g.begin, g.end))
      if (outside(at)) out_.as_device.push_back(at);
  }

  // Macros, and what is declared in front of an = or a semicolon.
  std::set<std::string> names_in(const Group& g) const {
    std::set<std::string> names;
    auto add = [&](std::size_t from, std::size_t to) {
      if (to > from) names.emplace(s_.substr(from, to - from));
    };
    for (const Directive& d : directives()) {
      if (d.at < g.begin || d.at >= g.end || d.word != "define") continue;
      const std::size_t name = walk_.skip_space(d.rest);
      add(name, walk_.word_end(name));
    }
    for (std::size_t i = g.begin; i < g.end; ++i) {
      if (bare_[i] != Kind::code || (s_[i] != '=' && s_[i] != ';') || !outside(i)) continue;
      std::size_t end = i;
      while (end > g.begin && (bare_[end - 1] != Kind::code || is_space(s_[end - 1]))) --end;
      std::size_t from = end;
      while (from > g.begin && bare_[from - 1] == Kind::code && is_word(s_[from - 1])) --from;
      if (from < end && std::isdigit(static_cast<unsigned char>(s_[from])) == 0) add(from, end);
    }
    return names;
  }

  // Whether functions for the device alone use these names, and whether anything else does.
  void uses(const Group& g, const std::set<std::string>& names, bool& in_device, bool& elsewhere) const {
    for (const std::string& name : names)
      for (const std::size_t at : places(0, s_.size(), name)) {
        if (at >= g.begin && at < g.end) continue;
        const bool device = std::any_of(functions_.all.begin(), functions_.all.end(), [&](const SourceFunction& f) {
          return f.for_device_alone() && at >= f.begin && at <= std::max(f.close, f.end);
        });
        (device ? in_device : elsewhere) = true;
      }
  }

  void note(std::size_t at, const std::string& text) {
    SourceNote n;
    n.line = 1 + static_cast<std::size_t>(std::count(s_.begin(), s_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    n.column = at - (s_.rfind('\n', at) + 1) + 1;
    n.text = std::string(kArchitecture) + " " + text;
    if (!out_.notes.empty() && out_.notes.back().line == n.line) return;
    out_.notes.push_back(std::move(n));
  }

  std::string_view s_;
  const std::vector<Kind>& kind_;
  std::vector<Kind> bare_;
  SourceWalk walk_;
  const SourceFunctions& functions_;
  ArchitectureReading out_;
};

}  // namespace

ArchitectureReading architecture_outside(std::string_view s, const std::vector<Kind>& kind,
                                         const SourceFunctions& functions) {
  return OutsideReader(s, kind, functions).run();
}

}  // namespace ridge::simt
