#!/usr/bin/env python3
"""Mistakes of form beyond those of test_intake.py: each hand-in is graded with what its student meant, or listed with a reason that
helps. None costs a task in silence.

test_more_forms.py [files|archives|parts|twice|clones]"""
import warnings
from intake_book import *

part = (sys.argv + ["files"])[1]
LAB = REPO / "labs/01_coalescing"
FILES = ["aos_to_soa.cu", "copy.cu", "gather.cu", "transpose.cu"]
WHOLE = {name: f"// points 50\n// {name}\n" for name in FILES}
GOT = WHOLE["gather.cu"]


def without(name, **instead):
    """The four files, one of them under another name."""
    return {**{n: t for n, t in WHOLE.items() if n != name}, **instead}


def tarred(*files, link=None):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, text in files:
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            t.addfile(info, io.BytesIO(text.encode()))
        if link:
            info = tarfile.TarInfo(link[0])
            info.type, info.linkname = tarfile.SYMTYPE, link[1]
            t.addfile(info)
    return out.getvalue()


def take_in(good, told, notes=()):
    """good, told: student -> files of a folder, or (ending, bytes) of a file. `told` has a word of the reason, too."""
    book = Book("id,name\n" + "".join(f"{s},\n" for s in [*good, *told]))
    for s, given in [*good.items(), *((s, g) for s, (g, _) in told.items())]:
        if isinstance(given, tuple):
            book.put(s + given[0], given[1])
        else:
            for name, text in given.items():
                book.put(f"{s}/{name}", text)
    done = book.intake()
    owners = book.owners()
    failed = [f"nobody's: {line}" for line in done.stdout.splitlines() if "nobody on the roster" in line]
    for s in good:
        _, problem = owners.get(s, ("", "not taken in"))
        texts = {} if problem else texts_of(book, s)
        checks.append(s)
        wrong = {n: t for n, t in texts.items() if t.replace("\r\n", "\n") != WHOLE[n]}
        if problem or wrong:
            failed.append(f"{s} is not graded as meant: {problem or wrong}")
    for s, (_, word) in told.items():
        checks.append(s)
        _, problem = owners.get(s, ("", "not taken in"))
        if word not in problem:
            failed.append(f"{s} should be told '{word}', and is told: '{problem}'")
    if failed:
        raise SystemExit("FAILED:\n  " + "\n  ".join(failed))
    expect("intake: " + done.stdout + done.stderr, 0, done.returncode)
    # Nobody becomes a zero: a total has no number for those who are told.
    export = book.run("export", "--lab", "total")
    expect("total", {s: "" for s in told}, {r[0]: r[2] for r in (line.split(",") for line in export.stdout.splitlines()[1:]) if r[0] in told})
    return book


def texts_of(book, student):
    content = book.rows(f"SELECT content FROM submission WHERE student = '{student}' ORDER BY COALESCE(handed_in, taken), id")[-1][0]
    return {n: (book.dir / "shared/contents/01_coalescing" / content / n).read_bytes().decode() for n in FILES}


def files():
    """A file of the lab under another name or in another form, beside the three others."""
    rtf = r"{\rtf1\ansi\deff0 {\fonttbl {\f0 Courier;}} // points 50\par }"
    html = "\n<!DOCTYPE html>\n<html lang=\"en\"><head><title>lab/gather.cu at main</title></head><body><pre>// points 50</pre></body></html>\n"
    good = {"emoji": {f"🚀 final 🎉/{n}": t for n, t in WHOLE.items()}, "bundle": {f"{n}/{n}": t for n, t in WHOLE.items()},
            "swap": {**WHOLE, ".gather.cu.swp": b"b0VIM 8.2", "gather.cu~": "// old\n", "gather.cu.bak": "// old\n", "gather.o": b"\x7fELF"},
            "notebook": {**WHOLE, "gather.ipynb": "{}", "report.docx": zipped(("word/document.xml", "<x/>"))},
            "maccr": {n: t.replace("\n", "\r") for n, t in WHOLE.items()}}
    missing = "gather.cu"
    told = {"double": (without(missing, **{"gather.cu.cu": GOT}), "gather.cu.cu"), "prefix": (without(missing, **{"my_gather.cu": GOT}), "my_gather.cu"),
            "drive": (without(missing, **{"Copy of gather.cu": GOT}), "Copy of gather.cu"), "kopie": (without(missing, **{"gather - Kopie.cu": GOT}), "gather - Kopie.cu"),
            "task": (without(missing, **{"Task4-Gather.CU": GOT}), "Task4-Gather.CU"), "cpp": (without(missing, **{"gather.cpp": GOT}), "gather.cpp"),
            "plain": (without(missing, **{"gather.txt": GOT}), "gather.txt"), "docx": (without(missing, **{"gather.docx": zipped(("word/document.xml", "<x/>"))}), "gather.docx"),
            "ipynb": (without(missing, **{"Gather.ipynb": "{}"}), "Gather.ipynb"), "lnk": (without(missing, **{"gather.cu.lnk": b"L\0\0\0"}), "gather.cu.lnk"),
            "gz": (without(missing, **{"gather.cu.gz": b"\x1f\x8b\x08\0"}), "gather.cu.gz"), "part": (without(missing, **{"gather.cu.crdownload": GOT}), "gather.cu.crdownload"),
            "icloud": (without(missing, **{".gather.cu.icloud": b"bplist00"}), "icloud"), "space": (without(missing, **{"gather.cu ": GOT}), "gather.cu"),
            "rocket": (without(missing, **{"gather🚀.cu": GOT}), "is gather"), "script": (without(missing, **{"gаther.cu": GOT}), "has no gather.cu"),
            "elsewhere": (without(missing, **{"task4/my gather.cu": GOT}), "my gather.cu"),
            "rtf": ({**WHOLE, missing: rtf}, "gather.cu is a document (RTF)"), "page": ({**WHOLE, missing: html}, "gather.cu is a web page"),
            "lfs": ({**WHOLE, missing: "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"}, "Git LFS"),
            "pdf": ({**WHOLE, missing: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"}, "gather.cu is a document (PDF)"),
            "word": ({**WHOLE, missing: zipped(("word/document.xml", "<x/>"))}, "no text"),
            "utf32": ({**WHOLE, missing: GOT.encode("utf-32")}, "no text"), "blanks": ({n: "\n" for n in FILES}, "empty")}
    book = take_in(good, told)
    # A file that is missing without a trace is graded as the stub, and the instructor is told.
    (book.dir / "roster.csv").write_text((book.dir / "roster.csv").read_text() + "few,\nbare,\n")
    for name in FILES[:3]:
        book.put(f"few/{name}", WHOLE[name])
        book.put(f"bare/{name}", WHOLE[name])
    book.put("bare/transpose.cu", "")
    expect("intake", 0, book.intake().returncode)
    report = book.run("report", "--lab", "01").stdout
    expect("who handed in a stub: " + report, True, "transpose.cu: the lab's stub, as the file was missing, empty or unchanged: bare, few" in report)
    book.remove()


def archives():
    """Archives of every system, and what people send in the place of one."""
    items = list(WHOLE.items())
    streamed = io.BytesIO()
    with zipfile.ZipFile(Unseekable(streamed), "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in items:
            z.writestr("lab/" + name, text)
    good = {"three": (".zip", zipped(("submission/lab.zip", zipped(*(("ridge/work/01_coalescing/" + n, t) for n, t in items))))),
            "tarzip": (".zip", zipped(("lab.tar.gz", tarred(*items)))), "backslash": (".zip", zipped(*(("Abgabe\\lab\\" + n, t) for n, t in items))),
            "drive": (".zip", zipped(*(("C:\\Users\\me\\lab\\" + n, t) for n, t in items))),
            "upper": (".ZIP", zipped(*items)), "twice": (".zip.zip", zipped(*items)), "wrong": (".tar.gz", zipped(*items)), "other": (".zip", tarred(*items)),
            "rocket": (" 🚀🎉.zip", zipped(*((f"🚀/{n}", t) for n, t in items))), "stream": (".zip", streamed.getvalue()),
            "again": (" (1).zip", zipped(*items)), "noname": ("", zipped(*items)), "text": (".zip.txt", zipped(*items)),
            "gbk": (".zip", renamed(zipped(*(("XXXX/" + n, t) for n, t in items)), b"XXXX", "课程".encode("gbk"))),
            "mac": (".zip", zipped(*(("lab/" + n, t) for n, t in items), *(("__MACOSX/lab/._" + n, b"\0\5\x16\7") for n in FILES), ("lab/.DS_Store", b"\0\0\0\1Bud1"))),
            "report": (".zip", zipped(*items, ("report.docx", zipped(("word/document.xml", "<x/>"))), ("data.7z", b"7z\xbc\xaf\x27\x1c")))}
    without_gather = [i for i in items if i[0] != "gather.cu"]
    told = {"seven": ((".7z", b"7z\xbc\xaf\x27\x1c" + bytes(90)), "zip or tar.gz"), "docx": ((".docx", zipped(("[Content_Types].xml", "<x/>"), ("word/document.xml", "<x/>"))), "document"),
            "pdf": ((".pdf", b"%PDF-1.7\n"), "document"), "void": ((".zip", b""), "empty"), "hollow": ((".zip", zipped()), "holds none"),
            "symlink": ((".tar.gz", tarred(*items, link=("lab", "/etc"))), "a link"), "locked": ((".zip", encrypted(items)), "encrypted"),
            "same": ((".zip", zipped(*items, ("COPY.CU", "// other\n"))), "which one counts"), "inner7z": ((".zip", zipped(*without_gather, ("rest.7z", b"7z\xbc\xaf\x27\x1c"))), "rest.7z"),
            "split": ((".z01", b"PK\7\x08" + bytes(50)), "zip"), "picture": ((".jpg", b"\xff\xd8\xff\xe0JFIF"), "zip"),
            "absolute": ((".tar.gz", tarred(("/home/me/copy.cu", GOT))), "absolute"), "half": ({**dict(without_gather), "rest.zip": zipped(("gather.cu", GOT))}, "rest.zip"),
            "halfrar": ({**dict(without_gather), "rest.rar": b"Rar!\x1a\x07\x00"}, "rest.rar")}
    warnings.simplefilter("ignore")
    book = take_in(good, told)
    done = book.intake(folder=book.put("../all.zip", zipped(("submissions/u1/copy.cu", GOT))))
    expect("the download itself: " + done.stderr, (2, True), (done.returncode, "is a file" in done.stderr and "unpack" in done.stderr))
    book.remove()


class Unseekable:
    """A pipe: zip writes sizes behind the data."""

    def __init__(self, to):
        self.to = to

    def write(self, data):
        return self.to.write(data)

    def flush(self):
        pass


def renamed(data, old, new):
    """Names in an encoding that the archive does not name."""
    return data.replace(old, new)


def encrypted(items):
    data = bytearray(zipped(*items))
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        i = data.find(mark)
        while i >= 0:
            data[i + at] |= 1
            i = data.find(mark, i + 4)
    return bytes(data)


def parts():
    """Several attachments of one student, as Canvas gives them."""
    book = Book("id,name\nann,Ann Lee\nbob,Bob Ray\ncem,Cem Oz\ndee,Dee Fox\nivy,Ivy Gil\n")
    whole = zipped(*WHOLE.items())
    book.put("leeann_11_101_lab.zip", whole), book.put("leeann_11_102_copy.cu", WHOLE["copy.cu"].replace("\n", "\r\n"))
    book.put("raybob_12_103_lab.zip", whole), book.put("raybob_12_104_copy.cu", "// newer\n")
    book.put("gilivy_15_106_v1.zip", whole), book.put("gilivy_15_107_v2.zip", zipped(*((n, t + "// 2\n") for n, t in WHOLE.items())))
    book.put("ozcem_13_105_my_copy.cu", GOT)
    for n, name in enumerate(FILES[:3]):
        book.put(f"foxdee_14_20{n}_{name}", WHOLE[name])
    book.put("foxdee_14_209_transpose.docx", zipped(("word/document.xml", "<x/>")))
    done = book.intake()
    expect("all have an owner: " + done.stdout + done.stderr, 0, done.returncode)
    problems = {s: p for s, (_, p) in book.owners().items()}
    for s, word in (("bob", "copy.cu in two versions"), ("cem", "hand it in under its name"), ("dee", "transpose.docx"), ("ivy", "v1.zip/")):
        expect(f"{s}: {problems[s]}", True, word in problems[s])
    # A file system allows names of 255 bytes, and no more beside them.
    book.put(f"oldeve_16_108_{'x' * 230}.txt", "notes\n"), book.put("oldeve_16_109_copy.cu", WHOLE["copy.cu"])
    book.put(f"kimfay_17_110_{'課' * 75}.txt", "notes\n"), book.put("kimfay_17_111_copy.cu", WHOLE["copy.cu"])
    (book.dir / "roster.csv").write_text((book.dir / "roster.csv").read_text() + "eve,Eve Old\nfay,Fay Kim\n")
    done = book.intake()
    expect("long names stop nobody: " + done.stdout + done.stderr, 0, done.returncode)
    for s in ("eve", "fay"):
        expect(f"{s} is graded", ("", WHOLE["copy.cu"]), (book.owners()[s][1], texts_of(book, s)["copy.cu"]))
    expect("the same text in two parts is no problem", ("", WHOLE), (problems["ann"], {n: t.replace("\r", "") for n, t in texts_of(book, "ann").items()}))
    book.remove()


def twice():
    """The lab's files in several folders: what differs from the stubs counts, and of two others none is guessed."""
    stubs = {f"labs/01_coalescing/{n}": (LAB / n).read_text() for n in FILES}
    mine = {f"work/01_coalescing/{n}": t for n, t in WHOLE.items()}
    good = {"clone": {**stubs, **mine}, "first": {**{f"a/{n}": t for n, t in WHOLE.items()}, **{f"z/{n}": (LAB / n).read_text() for n in FILES}},
            "last": {**{f"a/{n}": (LAB / n).read_text() for n in FILES}, **{f"z/{n}": t for n, t in WHOLE.items()}},
            "equal": {**{f"a/{n}": t for n, t in WHOLE.items()}, **{f"b/{n}": t for n, t in WHOLE.items()}},
            "one": {**{f"new/{n}": t for n, t in WHOLE.items()}, "old/gather.cu": "// old\n"}, "zipped": (".zip", zipped(*{**stubs, **mine}.items()))}
    old = {f"old/{n}": t + "// old\n" for n, t in WHOLE.items()}
    told = {"versions": ({**{f"new/{n}": t for n, t in WHOLE.items()}, **old}, "which one counts"),
            "archive": ((".zip", zipped(*{**{f"new/{n}": t for n, t in WHOLE.items()}, **old}.items())), "which one counts")}
    take_in(good, told).remove()


def clones():
    """A whole clone of today's course, as an archive with history and build folder, and as a repository. Bombs are refused all the same."""
    with tempfile.TemporaryDirectory() as folder:
        course = pathlib.Path(folder) / "course"
        subprocess.run([RIDGE, "course", "export", str(course)], check=True, capture_output=True)
        work = course / "work/01_coalescing"
        work.mkdir(parents=True)
        for name, text in WHOLE.items():
            (work / name).write_text(text)
        clone = [(str(p.relative_to(course)), p.read_bytes()) for p in sorted(course.rglob("*")) if p.is_file()]
        expect("a clone has many files", True, len(clone) > 2000)
        history = [(f"c/.git/objects/{n % 256:02x}/{n}", bytes(9)) for n in range(6000)] + [("c/.git/objects/pack", bytes(5 << 20))]
        built = [(f"c/build/{n}.o", bytes(20000)) for n in range(1500)] + [("c/build/ridge.a", bytes(30 << 20))]
        zips = zipped(*(("c/" + name, text) for name, text in clone), *history, *built)
        book = Book("id,name\nzip,\nrepo,\nmany,\nentries,\nbytes,\n")
        book.put("zip.zip", zips)
        for words in (["init", "-q"], ["add", "-A", "-f"], ["-c", "user.name=N", "-c", "user.email=n@e", "commit", "-qm", "x"]):
            subprocess.run(["git", "-C", str(course), *words], check=True, capture_output=True)
        shutil.copytree(course, book.hand_ins / "repo")
    book.put("many.zip", zipped(*((f"f{n}.cu", "") for n in range(5001))))
    book.put("entries.zip", zipped(*((f".git/{n}", "") for n in range(50001))))
    book.put("bytes.zip", zipped(*((f"f{n}.cu", bytes(1 << 20)) for n in range(17))))
    done = book.intake()
    owners = book.owners()
    expect("clones are no problem: " + done.stdout + done.stderr, {"zip": "", "repo": ""}, {s: owners[s][1] for s in ("zip", "repo")})
    for s in ("zip", "repo"):
        expect(f"{s}: graded by its work", WHOLE, texts_of(book, s))
    for s, word in (("many", "more than 5000 files"), ("entries", "more than 50000 entries"), ("bytes", "more than 16 MiB")):
        expect(f"{s}: {owners[s][1]}", True, word in owners[s][1])
    book.remove()


{"files": files, "archives": archives, "parts": parts, "twice": twice, "clones": clones}[part]()
print(f"{len(checks)} checks")
