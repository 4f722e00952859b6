#!/usr/bin/env python3
"""`ridge cluster similar` without Slurm: disguised copies are found, independent solutions lie low, odd files survive.

test_similar.py find|odd|page|measure FILE   measure writes the report: distributions, and the time for a class of 200"""
import collections, re
from disguise import disguised
from rehearsal import *

STYLES = REPO / "tests/grader/honest/styles"
ROW = re.compile(r"^ +(\d+) +(\d+) % +(\d+) %  (\(reference solution\)|\S+) +(\(reference solution\)|\S+) +(\S.*)$", re.M)
# Styles of which one was written from the other's text: a few lines differ.
RELATED = [{"atomiccas", "fence_flags_blelloch", "ldcv"}, {"barrier_init", "barrier_stages"}, {"welford_eight_rows", "welford_plain"},
           {"atomic_poll", "coalesced_group"}]
DISGUISES = {"renamed, reordered, recommented, reformatted": False, "the same, types changed, statements added": True}


class Class:
    def __init__(self, lab):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-similar."))
        self.lab, self.ids = lab, []
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "RIDGE_"))}
        (self.dir / "course.toml").write_text(f'name = "Similar"\n[grading]\nsigned = false\n[labs.{lab[:2]}]\n')
        self.contract = "".join(p.read_text() for p in (REPO / "labs" / lab).glob("*.hpp"))

    def put(self, student, folder="hand-ins", **files):
        place = self.dir / folder / student
        place.mkdir(parents=True, exist_ok=True)
        for task, text in files.items():
            (place / f"{task}.cu").write_bytes(text if isinstance(text, bytes) else text.encode())
        if folder == "hand-ins" and student not in self.ids:
            self.ids.append(student)

    def run(self, *words):
        return subprocess.run([RIDGE, "cluster", words[0], "--course", str(self.dir / "course.toml"), "--lab", self.lab[:2], *words[1:]],
                              capture_output=True, text=True, env=self.env, cwd=self.dir, timeout=300)

    def intake(self):
        (self.dir / "roster.csv").write_text("id,name\n" + "".join(f"{s},N\n" for s in self.ids))
        done = self.run("intake", "--submissions", "hand-ins", "--roster", "roster.csv")
        expect("intake: " + done.stdout + done.stderr, 0, done.returncode)

    def similar(self, *words):
        """Output, and (a, b) -> (tokens, % of a, % of b)."""
        done = self.run("similar", *words, *(() if "--most" in words else ("--most", "100000")))
        expect("similar: " + done.stdout[-2000:] + done.stderr, 0, done.returncode)
        return done.stdout, {(m[4], m[5]): (int(m[1]), int(m[2]), int(m[3])) for m in ROW.finditer(done.stdout)}

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def of(pairs, a, b):
    return pairs.get((a, b)) or tuple((pairs.get((b, a)) or (0, 0, 0))[i] for i in (0, 2, 1))


def styles(lab):
    """(task, style, text)"""
    return [(*f.stem.split(".")[1:], f.read_text()) for f in sorted(STYLES.glob(f"{lab}.*.cu"))]


def find():
    lab = "03_warp_shuffle"
    known = {s: (t, text) for t, s, text in styles(lab)}
    c = Class(lab)
    softmax, other = known["oneflow_dispatch"][1], known["warp_rows_cg"][1]
    c.put("ann", softmax=softmax)
    c.put("bob", softmax=disguised(softmax, c.contract, 5))
    c.put("cy", softmax=other)
    c.put("stub", reduce=(REPO / "labs" / lab / "reduce.cu").read_text())
    c.put("ref", reduce=disguised((REPO / "solutions" / lab / "reduce.cu").read_text(), c.contract, 3))
    c.put("dee", reduce=known["kahan_compensated"][1])
    c.put("late", "last-year", reduce=disguised(known["kahan_compensated"][1], c.contract, 9, True))
    # A stub with what the lesson shows and a header of the lab's is nobody's work.
    lesson = (REPO / "labs" / lab / "README.md").read_text()
    code = "\n".join(re.findall(r"^```\w*\n(.*?)^```", lesson, re.M | re.S))
    c.put("read1", scan=(REPO / "labs" / lab / "scan.cu").read_text() + code + c.contract)
    c.put("read2", scan=code + c.contract)
    c.intake()
    text, pairs = c.similar("--against", "last-year", "--against", "last-year/late/..")
    for line in ("8 hand-ins of the class, the reference solution, 1 of last-year", "Similarity is no proof", "softmax.cu 9"):
        expect(f"the table says '{line}': {text}", True, line in text)
    expect(f"a disguised copy is first: {text}", ("ann", "bob"), next(iter(pairs)))
    expect("most of it", True, min(of(pairs, "ann", "bob")[1:]) >= 80)
    for a, b in (("ann", "cy"), ("bob", "cy"), ("dee", "ref")):
        expect(f"independent solutions lie low: {a} {b} {of(pairs, a, b)}", True, max(of(pairs, a, b)[1:]) < 20)
    expect(f"a copy of the reference: {text}", True, of(pairs, "ref", "(reference solution)")[1] >= 80)
    expect("the copy of another year", True, of(pairs, "dee", "last-year/late")[1] >= 80)
    expect("who has only what the lab gives shares nothing", set(), {s for p in pairs for s in p} & {"stub", "read1", "read2"})
    expect("the most tokens first", sorted((p[0] for p in pairs.values()), reverse=True), [p[0] for p in pairs.values()])
    expect("no verdict", False, any(w in text.lower() for w in ("cheat", "plagiar", "guilty", "copied")))
    few = c.run("similar", "--most", "1")
    expect("--most: " + few.stdout, (1, True), (len(ROW.findall(few.stdout)), "further pairs" in few.stdout))
    missing = c.run("similar", "--against", "nowhere")
    expect("a folder that is not there: " + missing.stderr, (2, True), (missing.returncode, "--against" in missing.stderr))
    # Who hands in anew is compared with the new text.
    c.put("bob", softmax=other.replace("\n", "\r\n"))
    c.intake()
    _, pairs = c.similar()
    expect("the newest counts", (True, True), (of(pairs, "ann", "bob")[0] < 50, min(of(pairs, "bob", "cy")[1:]) > 95))
    c.remove()
    # What much of the class has is nobody's secret, unless the instructor asks for it.
    c = Class(lab)
    for i in range(7):
        c.put(f"s{i}", softmax=softmax)
    c.intake()
    text, pairs = c.similar()
    expect("common passages are not counted: " + text, ({}, True), (pairs, "No two hand-ins share a passage" in text))
    expect("but can be", 21, len([p for p in c.similar("--common", "100")[1] if "(reference solution)" not in p]))
    c.remove()


def odd():
    """Empty, UTF-16, binary, one long line, broken archives, hostile names: nothing fails, and what was not compared is told."""
    c = Class("01_coalescing")
    text = styles("01_coalescing")[0][2]
    long = "float x = 0" + " + a[i] * 3" * 90000 + ";"
    c.put("plain", copy=text)
    c.put("utf16", copy=text.encode("utf-16"))
    c.put("crlf", copy=text.replace("\n", "\r\n"))
    c.put("empty", copy=b"")
    c.put("zeros", copy=b"\0" * 500)
    c.put("long1", copy=long[:1 << 20])
    c.put("long2", copy=long[:(1 << 20) - 11])
    c.put("open", copy='/* never closed\n' + text)
    c.put("quote", copy='char* a = "never closed\n' + text)
    c.put("latin", copy=b"// gr\xf6\xdfe\n" + text.encode())
    c.put("broken.zip", "old", copy=text)
    (c.dir / "old/bad.zip").write_bytes(b"PK\3\4broken")
    (c.dir / "old/<b>&amp;\u202e").mkdir()
    (c.dir / "old/<b>&amp;\u202e/copy.cu").write_bytes(b"// </pre><script>alert(1)</script>\n" + text.encode())
    (c.dir / "old/nothing").mkdir()
    c.intake()
    out, pairs = c.similar("--against", "old", "--html", "similar.html", "--common", "100")
    page = (c.dir / "similar.html").read_text()
    expect("UTF-16 is the same text: " + out, (100, 100), of(pairs, "plain", "utf16")[1:])
    expect("and CRLF, and Latin-1", [(100, 100)] * 2, [of(pairs, "plain", s)[1:] for s in ("crlf", "latin")])
    expect("an open quote ends with its line", True, of(pairs, "plain", "quote")[1] >= 95)
    expect("nothing in common with nothing", set(), {s for p in pairs for s in p} & {"empty", "zeros"})
    for s in ("zeros (", "old/bad.zip (", "old/nothing (", "tokens of long1 are compared"):
        expect(f"'{s}' is told: {out}", True, s in out)
    expect("the page is cut", True, "further bytes are not shown" in page and len(page) < 8 << 20)
    expect("text is no markup", (False, True), ("<script" in page or "<b>&amp;" in page, "&lt;script&gt;" in page))
    expect("private", "0o600", oct((c.dir / "similar.html").stat().st_mode & 0o777))
    c.remove()


def page_class():
    lab = "03_warp_shuffle"
    c = Class(lab)
    known = styles(lab)
    for i, (task, style, text) in enumerate(known):
        c.put(f"s{i:02}", **{task: text})
    by_task = {t: text for t, _, text in known}
    c.put("ann", **by_task)
    c.put("bob", **{t: disguised(text, c.contract, 4) for t, text in by_task.items()})
    c.intake()
    return c


def page():
    """The page in a browser: check_similar.mjs looks at it."""
    node = shutil.which("node") or shutil.which("nodejs") or skip("node is missing, which leads the browser")
    c = page_class()
    c.similar("--most", "6", "--html", "similar.html")
    done = subprocess.run([node, str(HERE / "check_similar.mjs"), str(REPO), str(REPO / "build"), str(c.dir / "similar.html")], timeout=300)
    c.remove()
    if done.returncode == 77:
        sys.exit(77)
    expect("the page", 0, done.returncode)


def quantiles(values):
    v = sorted(values)
    return [v[round(q * (len(v) - 1))] for q in (0, 0.25, 0.5, 0.75, 0.9, 1)]


def measure(file):
    """Every style alone and in two disguises, all pairs of one task; `--common 100`, so that nothing is left out as common."""
    groups = collections.defaultdict(list)
    worst = []
    for lab in sorted({f.name.split(".")[0] for f in STYLES.glob("*.cu")}):
        c, known = Class(lab), styles(lab)
        for i, (task, _, text) in enumerate(known):
            c.put(f"o{i:03}", **{task: text})
            for d, heavy in enumerate(DISGUISES.values()):
                c.put(f"d{d}{i:03}", **{task: disguised(text, c.contract, i, heavy)})
        c.intake()
        _, pairs = c.similar("--common", "100")
        for i, (task, style, _) in enumerate(known):
            for d, name in enumerate(DISGUISES):
                groups[name].append(of(pairs, f"o{i:03}", f"d{d}{i:03}"))
            for j, (task2, style2, _) in enumerate(known[:i]):
                if task != task2:
                    continue
                related = any({style, style2} <= r for r in RELATED)
                got = of(pairs, f"o{j:03}", f"o{i:03}")
                groups["written from one another's text" if related else "independent"].append(got)
                if not related:
                    worst.append((max(got[1:]), f"{lab}, {task}: {style2}, {style}", got))
        c.remove()
    out = ["# Similar passages, measured", "", "Written by `test_similar.py measure FILE`: the "
           f"{len(list(STYLES.glob('*.cu')))} solutions of `tests/grader/honest/styles`, each compared with its own copies in two disguises "
           "(`disguise.py`) and with all other solutions of its task; nothing is left out as common. A pair's percentage is the higher of "
           "the two.", "", "| pairs | number | least | quarter | median | three quarters | nine tenths | most |", "|---|--:|--:|--:|--:|--:|--:|--:|"]
    order = ["independent", "written from one another's text", *DISGUISES]
    for name in order:
        q = quantiles(max(g[1:]) for g in groups[name])
        out.append(f"| {name} | {len(groups[name])} | " + " | ".join(f"{v} %" for v in q) + " |")
    out += ["", "Matched tokens:", "", "| pairs | least | quarter | median | three quarters | nine tenths | most |", "|---|--:|--:|--:|--:|--:|--:|"]
    out += [f"| {name} | " + " | ".join(str(v) for v in quantiles(g[0] for g in groups[name])) + " |" for name in order]
    out += ["", "If somebody called all pairs of at least so many percent copies (the program calls none so):", "",
            "| percent | copies found, of both disguises | independent pairs among them | precision |", "|--:|--:|--:|--:|"]
    copies = [max(g[1:]) for name in DISGUISES for g in groups[name]]
    others = [max(g[1:]) for g in groups["independent"]]
    for limit in (20, 30, 40, 50, 60, 70, 80, 90):
        hit, wrong = sum(v >= limit for v in copies), sum(v >= limit for v in others)
        out.append(f"| {limit} | {hit} of {len(copies)} | {wrong} of {len(others)} | {100 * hit / max(hit + wrong, 1):.0f} % |")
    out += ["", "The independent pairs that share most:", ""]
    out += [f"- {name}: {got[0]} tokens, {got[1]} % and {got[2]} %" for _, name, got in sorted(worst, reverse=True)[:5]]
    # A class of 200 with whole hand-ins: each task in one of its styles, in a disguise of the student's own.
    lab = "03_warp_shuffle"
    c, rng = Class(lab), random.Random(1)
    choices = collections.defaultdict(list)
    for task, _, text in styles(lab):
        choices[task].append(text)
    for task in ("block_scan", "layernorm_plain"):
        choices[task].append((REPO / "solutions" / lab / f"{task}.cu").read_text())
    for i in range(200):
        c.put(f"s{i:03}", **{t: disguised(rng.choice(texts), c.contract, i, True) for t, texts in choices.items()})
    c.intake()
    times = []
    for words in ((), ("--common", "100"), ("--common", "100", "--html", "similar.html")):
        start = time.monotonic()
        _, pairs = c.similar(*words[:2]) if "--html" not in words else (c.run("similar", *words), pairs)
        times.append(f"| `{' '.join(words) or 'as it is'}` | {len(pairs)} | {time.monotonic() - start:.1f} s |")
    size = sum(f.stat().st_size for f in c.dir.glob("hand-ins/*/*")) / 200
    out += ["", f"A class of 200 in lab 03, {len(choices)} files and {size / 1024:.0f} KiB each, on {os.cpu_count()} cores that others use too:", "",
            "| options | pairs that share a passage | time |", "|---|--:|--:|", *times, ""]
    c.remove()
    pathlib.Path(file).write_text("\n".join(out))
    print("\n".join(out))


if __name__ == "__main__":
    part = (sys.argv + ["find"])[1]
    {"find": find, "odd": odd, "page": page, "measure": lambda: measure(sys.argv[2])}[part]()
    print(f"{len(checks)} checks")
