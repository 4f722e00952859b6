#include "learn/report/code_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "learn/report/svg.hpp"
#include "simt/rewrite/text/lexer.hpp"

namespace ridge::loop {

namespace {

constexpr int kMostLines = 600;

const char* class_of_word(std::string_view word) {
  static const std::set<std::string_view> known = {
      "__global__", "__device__", "__shared__", "__restrict__", "__launch_bounds__",
      "static",     "const",      "constexpr",  "auto",         "void",
      "int",        "unsigned",   "float",      "double",       "bool",
      "char",       "float2",     "float4",     "dim3",         "size_t",
      "std",        "if",         "else",       "for",          "while",
      "do",         "return",     "break",      "continue",     "template",
      "typename",   "struct",     "class",      "namespace",    "using",
      "switch",     "case",       "sizeof",     "true",         "false",
      "nullptr",    "volatile"};
  static const std::set<std::string_view> cuda = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"};
  if (known.count(word) != 0) return "kw";
  if (cuda.count(word) != 0 || word.starts_with("__") || word.starts_with("cuda")) return "cu";
  return nullptr;
}

// The lines of a source with their words in colours. A comment or a literal may go over several.
std::vector<std::string> coloured_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  const auto put = [&](const char* css, std::string_view part) {
    for (;;) {
      const std::size_t end = std::min(part.find('\n'), part.size());
      const std::string html = escaped(std::string(part.substr(0, end)));
      if (!html.empty()) lines.back() += css == nullptr ? html : fmt::format("<span class=\"{}\">{}</span>", css, html);
      if (end == part.size()) return;
      lines.emplace_back();
      part.remove_prefix(end + 1);
    }
  };
  for (std::size_t i = 0; i < text.size();) {
    using Is = simt::Piece::Is;
    const simt::Piece p = simt::piece_at(text, i);
    const std::string_view part = text.substr(p.begin, p.end - p.begin);
    i = p.end;
    if (p.is == Is::comment || p.is == Is::literal) {
      put(p.is == Is::comment ? "co" : "st", part);
    } else if (p.is == Is::number || p.is == Is::word) {
      put(p.is == Is::number ? "nu" : class_of_word(part), part);
    } else if (part == "#" && lines.back().find_first_not_of(" \t") == std::string::npos) {
      while (i < text.size() && simt::is_word(text[i])) ++i;
      put("kw", text.substr(p.begin, i - p.begin));
    } else {
      put(nullptr, part);
    }
  }
  return lines;
}

struct Region {
  int first = 1, last = 0;  // lines
};

Region region_of(const std::vector<std::string>& lines, const std::string& task) {
  Region r{1, static_cast<int>(lines.size())};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("// TASK(" + task + ")") != std::string::npos) r.first = static_cast<int>(i) + 2;
    if (lines[i].find("// END(" + task + ")") != std::string::npos) r.last = static_cast<int>(i);
  }
  return r.first <= r.last ? r : Region{1, static_cast<int>(lines.size())};
}

// What the requests of a line cost, the worst of its operations: "32 sectors a request, 4 would do".
struct Badge {
  double took = 0, ideal = 0;
  bool global = true;
  bool bad() const { return took > 1.02 * ideal; }
};

std::map<int, Badge> badges_of(const TaskResult& task, const std::string& file) {
  std::map<int, Badge> all;
  for (const KernelCount& k : task.kernels)
    for (const LineCount& l : k.lines) {
      if (l.file != file || l.requests == 0) continue;
      const auto each = [&](std::uint64_t n) { return static_cast<double>(n) / static_cast<double>(l.requests); };
      Badge b;
      b.global = l.op.starts_with("global");
      b.took = each(b.global ? l.sectors : l.wavefronts);
      b.ideal = b.global ? each(l.ideal_sectors) : each(l.wavefronts - std::min(l.wavefronts, l.conflicts));
      Badge& known = all[l.line];
      if (known.took == 0 || b.took * known.ideal > known.took * b.ideal) known = b;
    }
  return all;
}

std::string badge_html(const Badge& b) {
  const auto number = [](double v) { return v >= 10 ? fmt::format("{:.0f}", v) : fmt::format("{:.2g}", v); };
  const std::string unit = fmt::format("{}{}", b.global ? "sector" : "wavefront", b.took == 1 && !b.bad() ? "" : "s");
  return fmt::format("<span class=\"badge {}\" title=\"{} a request; ideal: {}\">{}{} {}</span>",
                     b.bad() ? "fail" : "ok", unit, number(b.ideal), number(b.took),
                     b.bad() ? " / " + number(b.ideal) : "", unit);
}

}  // namespace

std::string code_html(const std::string& file, const std::string& text, const TaskResult& task,
                      const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (lines.empty()) return {};
  const Region region = region_of(lines, task.id);
  const auto badges = badges_of(task, file);
  std::string out = fmt::format("<div class=\"code\" role=\"group\" aria-label=\"{}\">\n", escaped(file));
  const std::vector<std::string> coloured = coloured_lines(text);
  for (int n = region.first; n <= region.last && n < region.first + kMostLines; ++n) {
    std::vector<const Finding*> here;
    for (const Finding& f : findings)
      if (f.task == task.id && f.where == fmt::format("{}:{}", file, n)) here.push_back(&f);
    const auto badge = badges.find(n);
    out += fmt::format("<div class=\"line{}\"><span class=\"no\">{}</span><code>{}</code>{}</div>\n",
                       here.empty() ? "" : " hit", n, coloured[static_cast<std::size_t>(n) - 1],
                       badge == badges.end() ? "" : badge_html(badge->second));
    for (const Finding* f : here)
      out += fmt::format("<div class=\"note\"><strong>{}</strong> {}</div>\n",
                         escaped(f->goal.empty() ? f->gate : f->goal),
                         escaped(f->what.substr(0, f->what.find('\n')) + (f->why.empty() ? "" : ". " + f->why)));
  }
  return out + "</div>\n";
}

}  // namespace ridge::loop
