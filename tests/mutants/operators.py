"""Small edits of CUDA source. Each operator maps the tokens of one line to edits: (column, old text, new text)."""
import re

TOKEN = re.compile(r"""[A-Za-z_]\w*|\d[\w.]*|"(?:\\.|[^"\\])*"|<<<|>>>|<<=|>>=|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|::|\S""")
ASSIGNED = r"[A-Za-z_][\w.\[\]>()-]*"


def tokens(line):
    return [(m.start(), m.group()) for m in TOKEN.finditer(line)]


def is_binary(found, i):
    """Whether token i has an operand at its left: `a - b`, not `-b` and not `float* p`."""
    if i == 0 or i + 1 == len(found):
        return False
    before = found[i - 1][1]
    return bool(re.match(r"[\w)\]]", before[-1])) and before not in ("return", "const", "float", "double", "int", "auto", "void")


def swap(table, binary=True):
    def operator(line):
        found = tokens(line)
        for i, (at, token) in enumerate(found):
            if token in table and (not binary or is_binary(found, i)):
                # A star after a type declares a pointer; spaces around both sides are a product (the formatter sees to it).
                if binary and not (line[at - 1 : at] == " " and line[at + len(token) : at + len(token) + 1] == " "):
                    continue
                for new in table[token]:
                    yield at, token, new
    return operator


def integers(line):
    for at, token in tokens(line):
        if re.fullmatch(r"\d+", token) and not re.search(r"template|#|__launch_bounds__|sizeof", line):
            yield at, token, str(int(token) + 1)
            if int(token) > 1:
                yield at, token, str(int(token) // 2)


def bounds(line):
    """The right side of a comparison, one more or one less."""
    for m in re.finditer(r"(<|<=|>|>=|==) ([A-Za-z_]\w*)(?=[;)&| ])", line):
        if "template" not in line:
            yield m.start(2), m.group(2), f"({m.group(2)} - 1)"
            yield m.start(2), m.group(2), f"({m.group(2)} + 1)"


def indices(line):
    for m in re.finditer(r"\[([^\[\]]+)\]", line):
        if not re.match(r"\s*[*&=]", line[m.end():]) and not re.match(r"\s*(__shared__|const|float|int|double)\b", line) and "[=]" not in m.group():
            yield m.start(1), m.group(1), f"({m.group(1)}) + 1"


def barriers(line):
    """A wait, a fence or an event that is left out."""
    for m in re.finditer(r"(?:__syncthreads|__syncwarp|__threadfence\w*|__pipeline_wait_prior|cudaStreamWaitEvent|cudaEventRecord|"
                         r"cudaStreamSynchronize|cudaEventSynchronize|MPI_Wait\w*|\w+\.sync)\([^;]*\);", line):
        yield m.start(), m.group(), ";"


def statements(line):
    """A statement that is left out: an assignment or a call that fills its line."""
    body = line.strip()
    if re.fullmatch(rf"{ASSIGNED} [-+*/|&^]?= [^;]*;|{ASSIGNED}\([^;]*\);|\+\+{ASSIGNED};", body) and body.count("(") == body.count(")"):
        yield line.index(body), body, ";"


def precision(line):
    table = {"double": "float", "float": "__nv_bfloat16", "__float2bfloat16_rn": "__float2bfloat16_rz",
             "__float2half_rn": "__float2half_rz", "expf": "__expf", "long": "int", "size_t": "int", "ptrdiff_t": "int", "uint64_t": "uint32_t"}
    if not re.match(r"\s*(template|#|__global__|void|//)", line):
        for at, token in tokens(line):
            if token in table and line[at - 2 : at] != "::":
                yield at, token, table[token]


def conditions(line):
    for m in re.finditer(r"\bif \(([^()]*(?:\([^()]*\)[^()]*)*)\)", line):
        yield m.start(1), m.group(1), f"!({m.group(1)})"


def arguments(line):
    """Two neighbouring plain arguments of a call change places."""
    for m in re.finditer(r"(?<=[(,]) ?(\w+), (\w+)(?=[,)])", line):
        if m.group(1) != m.group(2) and not re.match(r"\s*(__global__|__device__|void|template|static|inline)", line):
            yield m.start(1), f"{m.group(1)}, {m.group(2)}", f"{m.group(2)}, {m.group(1)}"


OPERATORS = {
    "arithmetic": swap({"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"]}),
    "comparison": swap({"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="]}),
    "logic": swap({"&&": ["||"], "||": ["&&"]}),
    "bits": swap({"<<": [">>"], ">>": ["<<"], "&": ["|"], "^": ["|"]}),
    "update": swap({"+=": ["=", "-="], "-=": ["+="], "*=": ["="], "|=": ["="]}),
    "integers": integers,
    "bounds": bounds,
    "indices": indices,
    "barriers": barriers,
    "statements": statements,
    "precision": precision,
    "extremes": swap({"min": ["max"], "max": ["min"], "fmaxf": ["fminf"], "true": ["false"], "false": ["true"]}, binary=False),
    "conditions": conditions,
    "arguments": arguments,
}


def for_the_emulator(lines):
    """Whether the emulator compiles each line: RIDGE_SIMT is defined there. Other conditions are taken for true."""
    open_groups = []
    for line in lines:
        words = re.match(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(\w*)", line)
        if words and words[1] in ("if", "ifdef", "ifndef"):
            open_groups.append({"ifdef RIDGE_SIMT": "yes", "ifndef RIDGE_SIMT": "no"}.get(" ".join(words.groups()), "any"))
        elif words and words[1] == "else":
            open_groups[-1] = {"yes": "no", "no": "yes", "any": "any"}[open_groups[-1]]
        elif words and words[1] == "endif":
            open_groups.pop()
        yield "no" not in open_groups


def mutants(text, operators):
    """(operator, line number from 1, old line, new line) of each edit of the code between // TASK and // END. An operator of
    two lines gets the line below as well and yields new lines."""
    inside = False
    lines = text.split("\n")
    regions = any(re.match(r"// TASK\(", l) for l in lines)
    for number, (line, compiled) in enumerate(zip(lines, for_the_emulator(lines)), 1):
        if re.match(r"// (TASK|END)\(", line):
            inside = line.startswith("// TASK")
            continue
        code = line.split("//")[0]
        if (regions and not inside) or not compiled or not code.strip() or re.match(r"\s*(#|static_assert|using|namespace)", code):
            continue
        for name, operator in operators.items():
            if getattr(operator, "lines", 1) == 2:
                below = lines[number] if number < len(lines) else ""
                for new in operator(code, below):
                    yield name, number, f"{line}\n{below}", new
                continue
            for at, old, new in operator(code):
                assert code[at : at + len(old)] == old
                yield name, number, line, code[:at] + new + code[at + len(old):] + line[len(code):]
