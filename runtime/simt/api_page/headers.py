"""What C++ headers declare, read from the preprocessor's output: functions with their signatures, classes with their members."""
import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Function:
    name: str            # of a member: class::name
    header: str          # path as the preprocessor wrote it
    result: str = ""
    parameters: str = ""  # text between the parentheses
    template: bool = False
    scope: str = ""      # namespace


@dataclass
class Declared:
    functions: list = field(default_factory=list)
    names: set = field(default_factory=set)   # of functions, members and macros


def preprocess(compiler, source, options):
    """(text, macros) of `source`."""
    base = [*compiler, "-std=c++17", "-x", "c++", "-E", "-w", *options, "-"]
    text = subprocess.run(base, input=source, capture_output=True, text=True, check=True).stdout
    dump = subprocess.run([*base, "-dM"], input=source, capture_output=True, text=True, check=True).stdout
    macros = dict(re.findall(r"^#define (\w+)(?:\([^)]*\))? ?(.*)$", dump, re.M))
    return text, macros


def _without_attributes(text):
    # __attribute__((...)), __declspec(...), alignas(...): with their parentheses
    out, at = [], 0
    for m in re.finditer(r"\b(?:__attribute__|__declspec|alignas|__asm__|decltype|noexcept)\s*\(", text):
        if m.start() < at:
            continue
        depth, i = 1, m.end()
        while i < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[i], 0)
            i += 1
        out.append(text[at:m.start()])
        out.append(" " if not m.group().startswith("decltype") else " auto ")
        at = i
    out.append(text[at:])
    return "".join(out)


_OPEN = {"(": ")", "{": "}", "[": "]"}


def _matching(text, at):
    """Behind the bracket that closes the one at `at`."""
    opened, close, depth = text[at], _OPEN[text[at]], 0
    for i in range(at, len(text)):
        if text[i] == opened:
            depth += 1
        elif text[i] == close:
            depth -= 1
            if depth == 0:
                return i + 1
    return len(text)


def _template_end(text, at):
    depth = 0
    for i in range(at, len(text)):
        if text[i] == "<":
            depth += 1
        elif text[i] == ">":
            depth -= 1
            if depth == 0:
                return i + 1
        elif text[i] == "(":
            continue
    return len(text)


_NOISE = re.compile(r"\b(?:extern|static|inline|__inline__|__inline|__forceinline__|constexpr|explicit|friend|virtual|"
                    r"__extension__|nodiscard)\b|\[\[[^\]]*\]\]")


def _function(piece, header, scope, owner, template):
    """The function that `piece` (up to ; or {) declares, or None."""
    piece = re.sub(r"\[\[[^\]]*\]\]", " ", piece)  # [[deprecated("...")]] has parentheses
    m = re.search(r"(~?\b[A-Za-z_]\w*|operator\s*\S+)\s*\(", piece)
    if not m or piece.lstrip().startswith(("typedef", "using", "static_assert", "return", "asm", "#")):
        return None
    name = m.group(1)
    if name.startswith(("operator", "~")) or name in ("if", "for", "while", "switch", "sizeof", "defined", "__asm"):
        return None
    if "=" in piece[:m.start()]:
        return None
    end = _matching(piece, m.end() - 1)
    result = " ".join(_NOISE.sub(" ", piece[:m.start()]).split())
    if not result and name != owner.split("::")[-1]:
        return None
    if owner and not result:
        return None  # a constructor
    parameters = " ".join(piece[m.end():end - 1].split())
    return Function(f"{owner}::{name}" if owner else name, header, result, parameters, template, scope)


def _parse(text, header, found, scope="", owner=""):
    i, start, template = 0, 0, False
    public = True
    while i < len(text):
        c = text[i]
        if c in "([":
            i = _matching(text, i)
            continue
        if c == ":" and owner and text[i + 1:i + 2] != ":" and text[start:i].strip() in ("public", "private", "protected"):
            public = text[start:i].strip() == "public"
            start = i + 1
        elif c == "<" and text[start:i].strip() == "template":
            i = _template_end(text, i)
            start, template = i, True
            continue
        elif c == ";" or c == "{":
            piece = text[start:i].strip()
            end = _matching(text, i) if c == "{" else i + 1
            m = re.match(r"(?:inline\s+)?namespace\s*([\w:]*)", piece)
            if c == "{" and m:
                inner = m.group(1)
                _parse(text[i + 1:end - 1], header, found, f"{scope}::{inner}".strip(":") if inner else scope)
            elif c == "{" and re.fullmatch(r'extern\s*"C(?:\+\+)?"', piece):
                _parse(text[i + 1:end - 1], header, found, scope)
            elif c == "{" and (m := re.match(r"(?:class|struct)\s+(\w+)", piece)) and "(" not in piece:
                if "<" not in piece.split(":")[0]:  # specialisations repeat the template
                    _parse(text[i + 1:end - 1], header, found, scope, m.group(1))
                while end < len(text) and text[end] != ";" and not text[start:i].strip().startswith("namespace"):
                    end += 1
                end += 1
            elif piece and public:
                piece = re.sub(r'^extern\s*"C"\s*', "", piece)
                if f := _function(piece, header, scope, owner, template):
                    found.append(f)
            i = start = end
            template = False
            continue
        i += 1


def read(text, wanted=None):
    """The functions in preprocessed text; `wanted(path)` chooses headers."""
    files, order, current = {}, [], ""
    for line in text.split("\n"):
        if line.startswith("# "):
            if m := re.match(r'# \d+ "([^"]*)"', line):
                current = m.group(1)
                if current not in files:
                    files[current] = []
                    order.append(current)
            continue
        if line.startswith("#"):
            continue
        if current:
            files[current].append(line)
    found = []
    for path in order:
        if wanted is None or wanted(path):
            body = _without_attributes("\n".join(files[path]))
            body = re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda m: m.group() if m.group() in ('"C"', '"C++"') else '""', body)
            _parse(body, path, found)
    return found
