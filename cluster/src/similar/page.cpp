#include "cluster/src/similar/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "grader/base/text.hpp"
#include "learn/report/page_style.hpp"
#include "learn/report/svg.hpp"

namespace ridge::cluster::similar {

namespace {

using loop::escaped;

constexpr std::size_t kMostText = 128 << 10;  // bytes of a file that the page shows
constexpr std::size_t kColours = 6;

constexpr const char* kStyle = R"css(
body { max-width: 110rem; }
:root { --p0: #ffe08a; --p1: #b9e3ff; --p2: #c4f0c2; --p3: #ffd0c2; --p4: #e3d2ff; --p5: #bdeee8; }
@media (prefers-color-scheme: dark) { :root { --p0: #574400; --p1: #0c4468; --p2: #1c4d22; --p3: #68291a; --p4: #45307a; --p5: #0c4f4a; } }
.told { border-left: 4px solid var(--accent); background: var(--card); border-radius: 4px; padding: .4rem .7rem; }
table { overflow-wrap: normal; } th, td { white-space: nowrap; vertical-align: top; } td:last-child { white-space: normal; min-width: 16rem; }
.both { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .8rem; }
.both h4 { margin: .4rem 0; } .text { max-height: 75vh; overflow: auto; margin: 0 0 .8rem; white-space: pre-wrap; }
mark { color: inherit; border-radius: 3px; } mark:target { outline: 3px solid var(--accent); }
mark a { display: inline-block; min-width: 1.5rem; padding: 0 .3rem; margin-right: .3rem; border: 1px solid currentColor; border-radius: 1rem;
  color: inherit; font: .75rem/1.3 system-ui, sans-serif; text-align: center; text-decoration: none; }
.c0 { background: var(--p0); } .c1 { background: var(--p1); } .c2 { background: var(--p2); }
.c3 { background: var(--p3); } .c4 { background: var(--p4); } .c5 { background: var(--p5); }
@media (max-width: 50rem) { .both { grid-template-columns: minmax(0, 1fr); } .both .text { font-size: .75rem; max-height: 60vh; } }
@media print { .text { max-height: none; } mark { border: 1px solid; } }
)css";

// One side of a pair: its hand-in, and where its passages lie.
struct Side {
  char letter, other;
  const HandIn& hand_in;
  const std::vector<Share>& files;
  Place Passage::*place;
};

std::size_t line_of(const std::string& text, std::size_t at) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

std::string shown_part(const std::string& text, std::size_t from, std::size_t to) {
  return escaped(printable(std::string_view(text).substr(from, to - from)));
}

// A file with its passages marked; each mark leads to its counterpart.
std::string file_html(const Pair& pair, std::size_t number, const Side& side, std::size_t f) {
  const auto& [name, text] = side.hand_in.files[f];
  std::vector<std::pair<Place, std::size_t>> marks;
  for (std::size_t i = 0; i < pair.passages.size(); ++i)
    if (const Place& p = pair.passages[i].*side.place; p.file == f) marks.emplace_back(p, i + 1);
  std::sort(marks.begin(), marks.end(), [](const auto& x, const auto& y) { return x.first.begin < y.first.begin; });
  const std::size_t end = std::min(text.size(), kMostText);
  const std::string title = fmt::format("{}: {}", side.hand_in.name, name);
  std::string out = fmt::format(
      "<h4>{} <span class=\"soft\">{:.0f} % in similar passages</span></h4>\n"
      "<pre class=\"text\" tabindex=\"0\" role=\"region\" aria-label=\"Pair {}, {}\">",
      escaped(title), side.files[f].percent(), number, escaped(title));
  std::size_t at = 0;
  for (const auto& [p, i] : marks) {
    if (p.begin >= end) break;
    const std::size_t to = std::min(p.end, end);
    out += shown_part(text, at, p.begin);
    out += fmt::format(
        "<mark class=\"c{}\" id=\"p{}{}{}\"><a href=\"#p{}{}{}\" title=\"Passage {}, lines {} to {}: to its "
        "counterpart\">"
        "{}</a>{}</mark>",
        i % kColours, number, side.letter, i, number, side.other, i, i, line_of(text, p.begin), line_of(text, p.end), i,
        shown_part(text, p.begin, to));
    at = to;
  }
  out += shown_part(text, at, end);
  if (end < text.size()) out += fmt::format("\n[{} further bytes are not shown]", text.size() - end);
  return out + "</pre>\n";
}

// One side's file of this name, where it has passages.
std::string cell_html(const Pair& pair, std::size_t number, const Side& side, const std::string& name) {
  for (std::size_t f = 0; f < side.files.size(); ++f)
    if (side.hand_in.files[f].first == name && side.files[f].matched > 0)
      return "<div>\n" + file_html(pair, number, side, f) + "</div>\n";
  return fmt::format("<p class=\"soft\">{}: no similar passage in {}</p>\n", escaped(side.hand_in.name), escaped(name));
}

// Files of one name stand beside each other.
std::string texts_html(const Pair& pair, std::size_t number, const HandIn& a, const HandIn& b) {
  const Side sides[] = {{'a', 'b', a, pair.files_a, &Passage::a}, {'b', 'a', b, pair.files_b, &Passage::b}};
  std::set<std::string> names, others;
  for (const Side& side : sides)
    for (std::size_t f = 0; f < side.files.size(); ++f) {
      if (side.files[f].matched > 0) names.insert(side.hand_in.files[f].first);
      if (side.files[f].own > 0) others.insert(side.hand_in.files[f].first);
    }
  std::string out, rest;
  for (const std::string& name : names)
    out += "<div class=\"both\">\n" + cell_html(pair, number, sides[0], name) +
           cell_html(pair, number, sides[1], name) + "</div>\n";
  for (const std::string& name : others)
    if (names.count(name) == 0) rest += (rest.empty() ? "" : ", ") + name;
  if (!rest.empty()) out += fmt::format("<p class=\"soft\">No similar passage in {}.</p>\n", escaped(rest));
  return out;
}

}  // namespace

const char* const kNoProof =
    "Similarity is no proof: a short task has few good answers, and some of the text may come from a source that is "
    "allowed. Read both texts, and ask both authors.";

std::string files_text(const Pair& pair, const HandIn& a, const HandIn& b) {
  std::map<std::string, std::pair<std::string, std::string>> files;
  const auto add = [&](const HandIn& h, const std::vector<Share>& shares, auto side) {
    for (std::size_t f = 0; f < shares.size(); ++f)
      if (shares[f].matched > 0) files[h.files[f].first].*side = fmt::format("{:.0f} %", shares[f].percent());
  };
  add(a, pair.files_a, &std::pair<std::string, std::string>::first);
  add(b, pair.files_b, &std::pair<std::string, std::string>::second);
  std::string out;
  for (const auto& [name, share] : files)
    out += fmt::format("{}{} {} / {}", out.empty() ? "" : ", ", name, share.first.empty() ? "-" : share.first,
                       share.second.empty() ? "-" : share.second);
  return out;
}

std::string page(const PageHead& head, const Comparison& c, const std::vector<HandIn>& hand_ins, std::size_t most) {
  const std::size_t shown = std::min(most, c.pairs.size());
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Similar passages, {0}</title>\n"
      "<style>{1}{2}</style>\n</head>\n<body>\n<main>\n<h1>Similar passages, {0}</h1>\n<p>{3}</p>\n"
      "<p class=\"told\">{4}</p>\n",
      escaped(head.lab), loop::kPageStyle, kStyle, escaped(head.compared), kNoProof);
  for (const std::string& note : head.notes) out += fmt::format("<p class=\"soft\">{}</p>\n", escaped(note));
  if (shown == 0) return out + "<p>No two hand-ins share a passage.</p>\n</main>\n</body>\n</html>\n";
  out += fmt::format(
      "<p class=\"soft\" id=\"about\">{} of {} pairs, most matched tokens first. Percentages: how much of what is the "
      "author's own lies in similar passages.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"All pairs\"><table aria-describedby=\"about\">\n"
      "<thead><tr><th scope=\"col\" class=\"n\">Pair</th><th scope=\"col\" class=\"n\">Tokens</th><th "
      "scope=\"col\">A</th>"
      "<th scope=\"col\" class=\"n\">of A</th><th scope=\"col\">B</th><th scope=\"col\" class=\"n\">of B</th>"
      "<th scope=\"col\">Files, of A / of B</th></tr></thead>\n<tbody>\n",
      shown, c.pairs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Pair& p = c.pairs[i];
    const HandIn &a = hand_ins[p.a], &b = hand_ins[p.b];
    out += fmt::format(
        "<tr><td class=\"n\"><a href=\"#pair-{0}\">{0}</a></td><td class=\"n\">{1}</td><td>{2}</td><td "
        "class=\"n\">{3:.0f} %"
        "</td><td>{4}</td><td class=\"n\">{5:.0f} %</td><td>{6}</td></tr>\n",
        i + 1, p.matched, escaped(a.name), p.of_a.percent(), escaped(b.name), p.of_b.percent(),
        escaped(files_text(p, a, b)));
  }
  out += "</tbody>\n</table></div>\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const Pair& p = c.pairs[i];
    const HandIn &a = hand_ins[p.a], &b = hand_ins[p.b];
    const std::string passages =
        p.passages.size() == 1 ? "1 similar passage" : fmt::format("{} similar passages", p.passages.size());
    out += fmt::format(
        "<section id=\"pair-{}\">\n<h2>Pair {}: {} and {}</h2>\n<h3>{}, {} tokens</h3>\n<p class=\"soft\">Passages "
        "with one "
        "number and colour are one another's counterparts; a number leads to the other side.</p>\n{}</section>\n",
        i + 1, i + 1, escaped(a.name), escaped(b.name), passages, p.matched, texts_html(p, i + 1, a, b));
  }
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace ridge::cluster::similar
