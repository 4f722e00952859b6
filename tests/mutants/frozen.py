"""Operators that were written after the checks, and that no check was made for. See operators.py for their form."""
import re

from operators import ASSIGNED

STATEMENT = rf"{ASSIGNED} [-+*/|&^]?= [^;]*;|(?!static_assert){ASSIGNED}\([^;]*\);|\+\+{ASSIGNED};"


def swapped(line, below):
    """Two neighbouring statements of the same block change places; they name something in common, or are a barrier or a wait."""
    first, second = line.split("//")[0].strip(), below.split("//")[0].strip()
    if first == second or indent(line) != indent(below) or not all(re.fullmatch(STATEMENT, s) for s in (first, second)):
        return
    waits = any(re.match(r"__sync|__threadfence|__pipeline|cuda\w*(Wait|Record|Synchronize)", s) for s in (first, second))
    if waits or set(re.findall(r"[A-Za-z_]\w*", first)) & set(re.findall(r"[A-Za-z_]\w*", second)):
        yield f"{' ' * indent(line)}{second}\n{' ' * indent(line)}{first}"


swapped.lines = 2  # what it edits, the line below included


def indent(line):
    return len(line) - len(line.lstrip())


def members(line):
    """Another member of a vector or an index: .x for .y and the reverse, .z for .w."""
    table = {"x": "y", "y": "x", "z": "w", "w": "z"}
    for m in re.finditer(r"(?<=[\w\])])\.([xyzw])\b", line):
        yield m.start(), m.group(), "." + table[m.group(1)]


OPERATORS = {"swapped": swapped, "members": members}
