"""Copies of a source as somebody would disguise them, for the tests of `ridge cluster similar`. They keep its meaning."""
import pathlib, random, re

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[A-Za-z_]\w*|'
                   r"\.?\d(?:[eE][+-]|['\w.])*|->|<<<|>>>|::|&&|\|\||[-+*/%&|^<>=!]=|\+\+|--|<<|>>|\s+|.", re.S)
KEYWORDS = set("""alignas auto bool break case char class const constexpr continue default delete do double else enum extern false
float for goto half if inline int int32_t int64_t long namespace new noexcept nullptr operator reinterpret_cast return short signed
sizeof size_t static static_assert static_cast std struct switch template this true typedef typename uint32_t uint64_t uint8_t union
unsigned using void volatile while dim3 threadIdx blockIdx blockDim gridDim warpSize x y z w main define if undef endif ifdef ifndef
include pragma unroll float2 float3 float4 int2 int4 uint2 uint4 cg cooperative_groups cuda nv nvcuda asm""".split())


def own_names(text, contract):
    """Names that the source's author chose: declared in it, and not in the lab's headers."""
    given = set(re.findall(r"[A-Za-z_]\w*", contract))
    declared = set(re.findall(r"(?:[\w>&*\]]\s+|[&*]\s*|,\s*)([A-Za-z_]\w*)\s*(?=[=;,()\[{])", text))
    declared |= set(re.findall(r"#\s*define\s+(\w+)", text))
    return {n for n in declared if n not in given and n not in KEYWORDS and not n.startswith(("__", "cuda", "atomic"))
            and not re.search(rf"(?:std|cg|cooperative_groups|cuda|nvcuda|wmma)\s*::\s*{n}\b", text)}


def tokens(text):
    """Code by token; lines of the preprocessor as one."""
    out = []
    for line in re.split(r"(?m)^(\s*#(?:[^\n\\]|\\.|\\\n)*\n)", text):
        out += [line] if line.lstrip().startswith("#") else TOKEN.findall(line)
    return out


def renamed(text, contract, seed):
    names = sorted(own_names(text, contract))
    to = {n: f"{random.Random(f'{seed}{n}').choice(['val', 'tmp', 'data', 'buf', 'cur', 'acc'])}{i}" for i, n in enumerate(names)}
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: to.get(m[0], m[0]), text)


def recommented(text, seed):
    rng = random.Random(seed)
    out = "".join(t for t in tokens(text) if not t.startswith(("//", "/*")))
    lines = []
    for line in out.split("\n"):
        if rng.random() < 0.25 and not line.rstrip().endswith("\\") and not (lines and lines[-1].rstrip().endswith("\\")):
            lines.append(f"  // step {rng.randrange(100)}: work on the next part")
        lines.append(line)
    return "\n".join(lines)


def relaid(text, seed):
    """Other line breaks and blanks."""
    rng = random.Random(seed)
    out, depth = "", 0
    for t in tokens(text):
        if t.lstrip().startswith("#"):
            out = out.rstrip(" ") + ("" if out.endswith("\n") or not out else "\n") + t.lstrip()
        elif t.isspace():
            continue
        elif t.startswith("//"):
            out += t + "\n"
        else:
            apart = out and (out[-1].isalnum() or out[-1] == "_") and (t[0].isalnum() or t[0] in "_\"'")
            out += (" " if apart or (rng.random() < 0.5 and t not in ("(",)) or t[0] in "+-<>&|=:" else "") + t
            depth += (t == "{") - (t == "}")
            if t in "{};" or (t == "," and rng.random() < 0.3):
                out += "\n" + "\t" * max(depth, 0)
    return out


def reordered(text, seed):
    """The functions of the outermost level and of unnamed namespaces in another order."""
    rng = random.Random(seed)
    lines, chunks, depth, now = text.split("\n"), [], 0, []
    opening = re.compile(r"^(namespace|extern \"C\")[^;]*\{\s*$")
    inside = 0
    for line in lines:
        code = re.sub(r"//.*|\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])'", "", line)
        if opening.match(line) and depth == inside or (line.startswith("}") and depth == inside and inside):
            inside += 1 if line.startswith(("namespace", "extern")) else -1
            depth = inside
            chunks += [("".join(l + "\n" for l in now), False), (line + "\n", True)]
            now = []
            continue
        now.append(line)
        depth += code.count("{") - code.count("}")
        if depth == inside and (code.startswith("}") or code.rstrip().endswith(";") and code[:1].strip()):
            chunks.append(("".join(l + "\n" for l in now), False))
            now = []
    chunks.append(("".join(l + "\n" for l in now), False))
    out, group = "", []
    for text_of, fixed in chunks + [("", True)]:
        if not fixed and "#" not in text_of:
            group.append(text_of)
            continue
        rng.shuffle(group)
        out += "".join(group) + text_of
        group = []
    return out


def retouched(text, seed):
    """Further statements, other types, and other ways to count, here and there."""
    rng = random.Random(seed)
    text = re.sub(r"\+\+(\w+)\)", lambda m: rng.choice([f"{m[1]}++)", f"{m[1]} += 1)", m[0]]), text)
    text = re.sub(r"\bint (?=\w+ =)", lambda m: rng.choice(["unsigned ", "int ", "long ", "const int "]), text)
    lines = []
    for line in text.split("\n"):
        lines.append(line)
        if re.match(r"^ {2,}[^#/].*;\s*$", line) and rng.random() < 0.12:
            lines.append(f"  int spare{rng.randrange(1000)} = {rng.randrange(9)};")
    return "\n".join(lines)


def disguised(text, contract, seed=1, heavy=False):
    if heavy:
        text = retouched(text, seed)
    return relaid(recommented(renamed(reordered(text, seed), contract, seed), seed), seed)
