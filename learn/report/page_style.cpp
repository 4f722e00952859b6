#include "learn/report/page_style.hpp"

#include <fmt/format.h>

#include "grader/result/result.hpp"
#include "learn/report/svg.hpp"

namespace ridge::loop {

const char* const kPageStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --card: #f6f8fa; --line: #d0d7de; --soft: #57606a;
  --accent: #0b5cad; --good: #1a7f37; --good-card: #dafbe1; --bad: #b42318; --bad-card: #ffebe9; --warn: #9a6700;
  --kernel: #2a78d6; --copy: #1f9d6b; --host: #8a8f98; --exchange: #c2571a; --unused: #e6eaee;
  --kw: #7340c8; --cu: #0550ae; --st: #0a5c36; --nu: #953800; --co: #57606a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0f1318; --card: #171c23; --line: #363e48; --soft: #9ea7b3;
  --accent: #79b8ff; --good: #4cc26a; --good-card: #12261a; --bad: #ff8a7a; --bad-card: #2d1512; --warn: #d9a53c;
  --kernel: #6aa9ef; --copy: #55c596; --host: #9aa1ab; --exchange: #ef9a62; --unused: #272e37;
  --kw: #d2a8ff; --cu: #79c0ff; --st: #7ee2a8; --nu: #ffa657; --co: #8b949e; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 72rem; padding: 1.5rem;
  overflow-wrap: anywhere; }
h1 { font-size: 1.8rem; margin: .2rem 0; } h2 { font-size: 1.45rem; border-top: 2px solid var(--line); padding-top: 1rem; margin: 2.5rem 0 .3rem; }
h3 { font-size: 1.15rem; margin: 0; } h4 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
a { color: var(--accent); } .soft, figcaption, caption { color: var(--soft); } .ok { color: var(--good); } .fail { color: var(--bad); }
p { margin: .4rem 0; } pre.wrap { white-space: pre-wrap; } pre { overflow-x: auto; white-space: pre; background: var(--card); padding: .6rem; border-radius: 6px; font-size: .85rem; }
.labs { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .8rem; padding: 0; list-style: none; }
.labs li, .task { border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: .7rem .9rem; }
.labs a { font-weight: 600; text-decoration: none; } .points { float: right; margin-left: .8rem; font-variant-numeric: tabular-nums; }
.bar { height: 7px; border-radius: 4px; background: var(--line); margin-top: .5rem; clear: both; } .bar i { display: block; height: 100%; border-radius: 4px; background: var(--accent); }
.task { margin: 1rem 0; border-left: 5px solid var(--bad); } .task.passed { border-left-color: var(--good); } .task.skipped { border-left-color: var(--line); }
.chip { font-size: .8rem; border-radius: 1rem; padding: .1rem .6rem; background: var(--bad-card); color: var(--bad); }
.passed > header .chip { background: var(--good-card); color: var(--good); } .skipped > header .chip { background: none; color: var(--soft); }
.goals { list-style: none; padding: 0; margin: .5rem 0; } .goals li { padding: .15rem 0; } .goals + .goals { margin-top: -.4rem; }
.note { background: var(--bad-card); border-left: 4px solid var(--bad); border-radius: 4px; padding: .4rem .7rem; margin: .3rem 0; font-size: .92rem; }
.code { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .4rem 0; margin: .6rem 0; font-size: .82rem; }
.code .line { display: flex; gap: .6rem; padding: 0 .6rem; align-items: baseline; } .code .hit { background: var(--bad-card); }
.code .no { flex: 0 0 2.2rem; text-align: right; color: var(--soft); user-select: none; }
.code code { flex: 1; white-space: pre-wrap; font-family: ui-monospace, "DejaVu Sans Mono", monospace; tab-size: 2; }
.code .note { margin: .2rem .6rem .4rem 3.2rem; } .badge { flex: none; font-size: .72rem; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .5rem; }
.kw { color: var(--kw); } .cu { color: var(--cu); } .st { color: var(--st); } .nu { color: var(--nu); } .co { color: var(--co); font-style: italic; }
.stops { padding-left: 2.2rem; } .stops li { margin: .2rem 0; } blockquote { margin: .2rem 0; padding-left: .8rem; border-left: 3px solid var(--accent); font-style: italic; }
.asked { list-style: none; padding: 0; } .asked li { margin: .5rem 0; }
table { border-collapse: collapse; margin: .6rem 0; } th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } caption { text-align: left; } .scroll { overflow-x: auto; }
figure { margin: .8rem 0; } figcaption { font-size: .88rem; } figure { max-width: 48rem; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; } svg text { fill: var(--ink); } svg text.soft { fill: var(--soft); } svg text.name { paint-order: stroke; stroke: var(--card); stroke-width: 4; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .3em 0 .8em; } .key.kernel { background: var(--kernel); }
.key.copy { background: var(--copy); } .key.host { background: var(--host); } .key.exchange { background: var(--exchange); }
svg .grid { stroke: var(--line); } svg .roof { fill: none; stroke: var(--ink); stroke-width: 2; }
svg circle { fill: var(--kernel); stroke: var(--paper); } svg circle.counted { fill: var(--paper); stroke: var(--kernel); stroke-width: 2; }
svg circle.passed { fill: var(--good); } svg circle.broken { fill: var(--bad); } svg .way { fill: none; stroke: var(--accent); stroke-width: 2.5; }
svg .kernel { fill: var(--kernel); } svg .copy { fill: var(--copy); } svg .host { fill: var(--host); } svg .exchange { fill: var(--exchange); }
svg .lane, svg .used { fill: var(--kernel); } svg .none, svg .wasted { fill: var(--unused); } svg .again { fill: var(--bad); }
svg .frame { fill: none; stroke: var(--soft); } svg .wire { fill: none; stroke: var(--kernel); stroke-opacity: .45; } svg .wait { fill: none; stroke: var(--ink); stroke-opacity: .6; } svg circle.end { fill: var(--ink); stroke: none; }
@media (max-width: 40rem) { body { padding: .8rem; } svg { font-size: 19px; } pre { font-size: .6rem; padding: .3rem; } .code .no { flex-basis: 1.6rem; } .code .note { margin-left: .6rem; }
  .code .line { flex-wrap: wrap; } .code code { flex: 1 1 60%; } .badge { margin-left: auto; } }
@media print { .bar, .bar i, .key, .chip, .note, .hit { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 11pt; } .task, figure, .labs li { break-inside: avoid-page; } h2 { break-before: page; } h2:first-of-type { break-before: auto; }
  a { color: inherit; } .code { font-size: 8pt; } }
)css";

std::string whole_page(const std::string& title, const std::string& body, const std::string& style,
                       const std::string& script) {
  // The script's mark is drawn anew for each page, so that no other script runs, whatever a name or a message holds.
  const std::string mark = script.empty() ? "" : new_nonce();
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'{}\">\n<title>{}</title>\n<style>{}{}</style>\n"
      "</head>\n<body>\n<main>\n{}</main>\n{}</body>\n</html>\n",
      mark.empty() ? "" : fmt::format("; script-src 'nonce-{}'", mark), escaped(title), kPageStyle, style, body,
      mark.empty() ? "" : fmt::format("<script nonce=\"{}\">{}</script>\n", mark, script));
}

}  // namespace ridge::loop
