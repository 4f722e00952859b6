"""Sphinx's settings for the book. `./ridge book` stages the pages (stage.py) and runs sphinx-build with this file."""
import os
import pathlib
import re

here = pathlib.Path(__file__).parent
project = "Ridge"
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "index"
language = "en"
highlight_language = "none"
# Headings that skip a level are GitHub's to show as well.
suppress_warnings = ["myst.header"]
# Anchors are GitHub's: MyST makes them in the same way.
myst_heading_anchors = 6

html_theme = "furo"
html_title = "Ridge"
html_static_path = [str(here / "static")]
html_extra_path = [os.environ["RIDGE_BOOK_EXTRA"]]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "default"
pygments_dark_style = "github-dark"
# A transcript copies its commands alone, without the prompt.
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True


def reachable_by_keyboard(app, page, template, context, doctree):
    """Blocks that scroll sideways take the focus, so that the arrow keys scroll them."""
    body = context.get("body")
    if body:
        body = re.sub(r'(<div class="highlight"><pre)(>)', r'\1 tabindex="0"\2', body)
        context["body"] = re.sub(r'(<div class="table-wrapper[^"]*")', r'\1 tabindex="0"', body)
    # The theme's captions are headings without a level, which screen readers want.
    for name, value in context.items():
        if isinstance(value, str) and 'class="caption" role="heading"' in value:
            context[name] = re.sub(r'role="heading"(?! aria-level)', 'role="heading" aria-level="2"', value)


def dark_where_wanted(app, failure):
    """Debian's furo has its dark colours for the switch alone; a reader whose system is dark gets them as well."""
    styles = pathlib.Path(app.outdir) / "_static/styles/furo.css"
    if failure or not styles.exists() or "prefers-color-scheme" in styles.read_text():
        return
    dark = re.search(r'body\[data-theme="dark"\] (\{[^}]*--color-background-primary[^}]*\})', styles.read_text())[1]
    with styles.open("a") as more:
        more.write(f'@media not print {{ @media (prefers-color-scheme: dark) {{ body[data-theme="auto"] {dark} }} }}\n')


def setup(app):
    app.connect("html-page-context", reachable_by_keyboard, priority=900)
    app.connect("build-finished", dark_where_wanted)
