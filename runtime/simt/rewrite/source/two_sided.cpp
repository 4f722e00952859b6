#include "two_sided.hpp"

#include <algorithm>

#include "sides.hpp"

namespace ridge::simt {

namespace {

struct Line {
  std::size_t at = 0, end = 0;
  std::string words;  // without white space and comments: "#ifdef __CUDA_ARCH__" is "ifdef__CUDA_ARCH__"
};

std::vector<Line> directives(std::string_view s, const std::vector<Kind>& kind) {
  std::vector<Line> all;
  bool line_begins = true;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (line_begins && kind[i] == Kind::code && s[i] == '#') {
      Line l;
      l.at = i;
      l.end = line_end(s, i);
      for (std::size_t k = i + 1; k < l.end; ++k)
        if (kind[k] != Kind::comment && !is_space(s[k])) l.words += s[k];
      i = l.end;
      all.push_back(std::move(l));
      continue;
    }
    if (s[i] == '\n')
      line_begins = true;
    else if (!is_space(s[i]) && kind[i] != Kind::comment)
      line_begins = false;
  }
  return all;
}

// Statements of which the last one returns; no braces that the branch does not close, and no inline PTX.
bool returns(std::string_view s, const std::vector<Kind>& kind, std::size_t from, std::size_t to) {
  std::string code;
  for (std::size_t i = from; i < to; ++i) code += kind[i] == Kind::code ? s[i] : kind[i] == Kind::literal ? '"' : ' ';
  int depth = 0;
  std::size_t last = 0;  // begin of the last statement
  for (std::size_t i = 0; i < code.size(); ++i) {
    depth += code[i] == '{' ? 1 : code[i] == '}' ? -1 : 0;
    if (depth < 0) return false;
    const bool ends = depth == 0 && (code[i] == ';' || code[i] == '}');
    if (ends && code.find_first_not_of(" \t\n\r", i + 1) != std::string::npos) last = i + 1;
  }
  while (!code.empty() && is_space(code.back())) code.pop_back();
  if (depth != 0 || !code.ends_with(';') || code.find("asm") != std::string::npos) return false;
  last = code.find_first_not_of(" \t\n\r", last);
  return last != std::string::npos && code.compare(last, 6, "return") == 0 &&
         (last + 6 == code.size() || !is_word(code[last + 6]));
}

}  // namespace

std::vector<ReplacedLine> two_sided_returns(std::string_view s, const std::vector<Kind>& kind,
                                            const SourceFunctions& functions) {
  std::vector<ReplacedLine> out;
  if (s.find("__CUDA_ARCH__") == std::string_view::npos || !functions.readable) return out;
  const std::vector<Line> lines = directives(s, kind);
  for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
    const std::string& words = lines[i].words;
    const bool device_first = words == "ifdefined(__CUDA_ARCH__)" || words == "ifdef__CUDA_ARCH__";
    const bool host_first = words == "if!defined(__CUDA_ARCH__)" || words == "ifndef__CUDA_ARCH__";
    if ((!device_first && !host_first) || lines[i + 1].words != "else" || lines[i + 2].words != "endif") continue;
    const SourceFunction* f = functions.around(lines[i].at);
    if (f == nullptr || f != functions.around(lines[i + 2].at) || f->global) continue;
    // Of both sides, or with a macro in front that may say so.
    const bool both = f->device && f->host,
               may = !f->device && !f->host && std::any_of(f->words.begin(), f->words.end(), may_hide_qualifier);
    if (!both && !may) continue;
    if (!returns(s, kind, lines[i].end, lines[i + 1].at) || !returns(s, kind, lines[i + 1].end, lines[i + 2].at))
      continue;
    out.push_back({lines[i].at, lines[i].end,
                   device_first ? "if (::ridge_simt::on_device()) {" : "if (!::ridge_simt::on_device()) {"});
    out.push_back({lines[i + 1].at, lines[i + 1].end, "} else {"});
    out.push_back({lines[i + 2].at, lines[i + 2].end, "}"});
    i += 2;
  }
  return out;
}

}  // namespace ridge::simt
