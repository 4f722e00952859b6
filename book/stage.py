#!/usr/bin/env python3
"""stage.py ROOT STAGE [--repository URL] [--decks DIR]: writes the book's sources to STAGE.

The pages are the repository's own Markdown files, at their own paths. Their order is that of docs/README.md, with the
labs after the students' pages. Each relative link becomes one of three things: a link between pages of the book; a link
to a built deck; or, for any other file, a link to the file in the repository. Without an address of the repository, such
a link becomes the file's path.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

FRONT = "README.md"  # becomes the index
ORDER = "docs/README.md"
# Not in the order's tables, and part of the book all the same.
FURTHER = ["runtime/nn/README.md", "runtime/collectives/README.md", "visualizer/timeline/README.md", "cluster/README.md", "CHANGELOG.md"]
LABS_AFTER = "students"
DECK_FILES = {".html", ".css", ".js", ".svg", ".pdf"}

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)")
TAG = re.compile(r"<(?:img|source|a)\b[^>]*>")
ATTRIBUTE = re.compile(r'(src|srcset|href)="([^"]+)"')
PICTURE = re.compile(r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img ([^>]*)>\s*</picture>')
HIDDEN = re.compile(r"^(```+)[^\n]*\n.*?^\1`*[ \t]*$|(?<!`)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\2(?!`)", re.S | re.M)


def is_address(link):
    return re.match(r"[a-z]+:", link) is not None


def groups_of(root):
    """[(caption, [path, ...])] from the tables of docs/README.md; an empty first column continues the group."""
    groups, seen = [], {FRONT}
    for line in (root / ORDER).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 2 or cells[0] in ("for", "---"):
            continue
        if cells[0]:
            groups.append((cells[0], []))
        for _, link in LINK.findall("|".join(cells[1:])):
            path = os.path.normpath(os.path.join(os.path.dirname(ORDER), link.partition("#")[0]))
            if path.endswith(".md") and not path.startswith(("benchmarks/", "solutions/")) and path not in seen:
                if (root / path).is_file():
                    groups[-1][1].append(path)
                    seen.add(path)
    labs = sorted(str(file.relative_to(root)) for file in root.glob("labs/*/README.md"))
    place = next((k + 1 for k, (caption, _) in enumerate(groups) if caption == LABS_AFTER), 0)
    groups.insert(place, ("labs", labs))
    groups.append(("further", [ORDER, *(path for path in FURTHER if path not in seen and (root / path).is_file())]))
    return groups


class Page:
    def __init__(self, book, path):
        self.book, self.path, self.folder = book, path, os.path.dirname(path)

    def relative(self, path):
        return os.path.relpath(path, self.folder or ".")

    def target(self, link):
        """(path from the root, anchor) of a relative link."""
        path, _, anchor = link.partition("#")
        return (os.path.normpath(os.path.join(self.folder, path)) if path else self.path), anchor

    def document(self, path):
        """The page that shows a path: the file itself, or the README of a folder."""
        for candidate in (path, os.path.normpath(os.path.join(path, "README.md"))):
            if candidate in self.book.pages:
                return candidate
        return None

    def address(self, link):
        """Where an attribute of a tag leads, or None where the book cannot lead there."""
        if is_address(link):
            return link
        path, anchor = self.target(link)
        document = self.document(path)
        if document:
            page = "index.html" if document == FRONT else document[:-3] + ".html"
            return self.relative(page) + (f"#{anchor}" if anchor else "")
        if self.book.deck(path):
            return self.relative(self.book.deck(path))
        return self.book.repository and f"{self.book.repository}/blob/HEAD/{path}"

    def link(self, match):
        text, link = match.groups()
        if is_address(link) or link.startswith("#"):
            return match.group(0)
        path, anchor = self.target(link)
        document = self.document(path)
        if document:
            name = "index.md" if document == FRONT else document
            return f"[{text}]({self.relative(name)}{'#' + anchor if anchor else ''})"
        if self.book.deck(path):
            return f'<a href="{self.relative(self.book.deck(path))}">{text}</a>'
        if self.book.repository:
            return f"[{text}]({self.book.repository}/blob/HEAD/{path})"
        if os.path.basename(path) in self.shown(text):
            return text
        return f"{text} (`{path}`)"

    def tag(self, match):
        def attribute(found):
            name, link = found.groups()
            if is_address(link) or link.startswith("#"):
                return found.group(0)
            if name == "href":
                return f'{name}="{self.address(link) or "#"}"'
            self.book.copy(self.target(link)[0], "extra")
            return found.group(0)

        return ATTRIBUTE.sub(attribute, match.group(0))

    def shown(self, text):
        return re.sub(r"\x00(\d+)\x00", lambda m: self.hidden[int(m.group(1))], text)

    def staged(self):
        self.hidden = []

        def hide(match):
            self.hidden.append(match.group(0))
            return f"\x00{len(self.hidden) - 1}\x00"

        text = HIDDEN.sub(hide, (self.book.root / self.path).read_text())
        for image in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text):
            if not is_address(image):
                self.book.copy(self.target(image)[0], "source")
        # The page's own switch of light and dark decides, not the system's setting alone.
        text = PICTURE.sub(r'<img class="only-light" \2><img class="only-dark" src="\1" \2>', text)
        text = re.sub(r'(<img class="only-dark" src="[^"]+"[^>]*?) src="[^"]+"', r"\1", text)
        text = TAG.sub(self.tag, text)
        text = self.shown(LINK.sub(self.link, text))
        deck = self.book.deck(f"slides/{self.folder.removeprefix('labs/')}/deck.md")
        if deck and self.folder.startswith("labs/"):
            title, _, rest = text.partition("\n")
            text = f'{title}\n\n<p class="deck"><a href="{self.relative(deck)}">The slides of this lab</a></p>\n{rest}'
        return text


class Book:
    def __init__(self, root, stage, repository, decks):
        self.root, self.stage, self.repository, self.decks = root, stage, repository, decks
        self.groups = groups_of(root)
        self.pages = {FRONT, *(path for _, paths in self.groups for path in paths)}

    def copy(self, path, kind):
        if not (self.root / path).is_file():
            sys.exit(f"ridge: the book's pages name {path}, and there is no such file")
        place = self.stage / kind / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / path, place)

    def deck(self, path):
        """The page of a built deck: slides/NN_name/index.html for slides/NN_name/deck.md."""
        found = re.fullmatch(r"slides/(\w+)/deck\.md", path)
        if found and self.decks and (self.decks / found.group(1) / "index.html").is_file():
            return f"slides/{found.group(1)}/index.html"
        return None

    def write(self):
        shutil.rmtree(self.stage, ignore_errors=True)
        (self.stage / "extra").mkdir(parents=True)
        for path in sorted(self.pages):
            place = self.stage / "source" / ("index.md" if path == FRONT else path)
            place.parent.mkdir(parents=True, exist_ok=True)
            text = Page(self, path).staged()
            if path == FRONT:
                for caption, paths in self.groups:
                    names = "\n".join(name.removesuffix(".md") for name in paths)
                    text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption.capitalize()}\n\n{names}\n```\n"
            place.write_text(text)
        decks = 0
        if self.decks and self.decks.is_dir():
            for file in sorted(self.decks.rglob("*")):
                inside = file.relative_to(self.decks)
                if file.suffix in DECK_FILES and file.is_file() and inside.parts[0] not in ("npm", "CMakeFiles"):
                    place = self.stage / "extra" / "slides" / inside
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, place)
                    decks += file.name == "index.html"
        return len(self.pages), decks


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("stage", type=pathlib.Path)
    parser.add_argument("--repository", default="")
    parser.add_argument("--decks", type=pathlib.Path)
    a = parser.parse_args()
    pages, decks = Book(a.root, a.stage, a.repository.rstrip("/").removesuffix(".git"), a.decks).write()
    print(f"{pages} pages, {decks} decks")
