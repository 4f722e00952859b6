#include "serve/lesson.hpp"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "learn/findings/lesson.hpp"

namespace ridge::serve {

namespace {

// Lessons hold <details>. They are the course's own, and the page's policy lets no script run.
constexpr int kOptions = CMARK_OPT_UNSAFE | CMARK_OPT_VALIDATE_UTF8;

// Puts the children of `node` in its place.
void unwrap(cmark_node* node) {
  while (cmark_node* child = cmark_node_first_child(node)) {
    cmark_node_unlink(child);
    cmark_node_insert_before(node, child);
  }
  cmark_node_unlink(node);
  cmark_node_free(node);
}

void mark_heading(cmark_node* heading, const std::vector<loop::Section>& sections) {
  for (const loop::Section& s : sections) {
    if (s.line != cmark_node_get_start_line(heading)) continue;
    cmark_node* mark = cmark_node_new(CMARK_NODE_HTML_INLINE);
    cmark_node_set_literal(mark, ("<a id=\"" + s.anchor + "\"></a>").c_str());
    if (cmark_node_prepend_child(heading, mark) == 0) cmark_node_free(mark);
  }
}

}  // namespace

bool is_figure_name(const std::string& name) {
  if (!name.ends_with(".svg") && !name.ends_with(".png")) return false;
  return std::all_of(name.begin(), name.end() - 4, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string lesson_target(const std::string& url, const Lab& lab, const std::vector<Lab>& labs) {
  if (url.starts_with("#") || url.starts_with("https://") || url.starts_with("http://")) return url;
  if (url.starts_with("figures/") && is_figure_name(url.substr(8))) return "figures/" + lab.name + url.substr(7);
  for (const Lab& other : labs) {
    const std::string readme = "../" + other.name + "/README.md";
    if (url.starts_with(readme) && (url.size() == readme.size() || url[readme.size()] == '#'))
      return "?lab=" + other.name + url.substr(readme.size());
  }
  return {};
}

std::string lesson_html(const std::string& markdown, const Lab& lab, const std::vector<Lab>& labs) {
  cmark_gfm_core_extensions_ensure_registered();
  const std::unique_ptr<cmark_parser, void (*)(cmark_parser*)> parser(cmark_parser_new(kOptions), cmark_parser_free);
  for (const char* name : {"table", "strikethrough", "autolink", "tagfilter"})
    if (cmark_syntax_extension* extension = cmark_find_syntax_extension(name))
      cmark_parser_attach_syntax_extension(parser.get(), extension);
  cmark_parser_feed(parser.get(), markdown.data(), markdown.size());
  const std::unique_ptr<cmark_node, void (*)(cmark_node*)> document(cmark_parser_finish(parser.get()), cmark_node_free);
  const std::vector<loop::Section> sections = loop::sections_of(markdown);
  std::vector<cmark_node*> links, headings;
  {
    const std::unique_ptr<cmark_iter, void (*)(cmark_iter*)> all(cmark_iter_new(document.get()), cmark_iter_free);
    for (cmark_event_type e; (e = cmark_iter_next(all.get())) != CMARK_EVENT_DONE;) {
      cmark_node* node = cmark_iter_get_node(all.get());
      const cmark_node_type type = cmark_node_get_type(node);
      if (e != CMARK_EVENT_ENTER) continue;
      if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE) links.push_back(node);
      if (type == CMARK_NODE_HEADING) headings.push_back(node);
    }
  }
  for (cmark_node* heading : headings) mark_heading(heading, sections);
  for (auto at = links.rbegin(); at != links.rend(); ++at) {  // inner ones first
    const std::string target = lesson_target(cmark_node_get_url(*at), lab, labs);
    if (target.empty())
      unwrap(*at);
    else
      cmark_node_set_url(*at, target.c_str());
  }
  const std::unique_ptr<char, void (*)(void*)> html(
      cmark_render_html(document.get(), kOptions, cmark_parser_get_syntax_extensions(parser.get())), std::free);
  return html.get();
}

}  // namespace ridge::serve
