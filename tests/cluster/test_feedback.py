#!/usr/bin/env python3
"""Feedback back to students, without Slurm: a page and a record each, in the shapes that Moodle, Canvas and Gradescope take, and
nothing of anybody else.

test_feedback.py [pages|moodle|canvas|gradescope|refused]"""
import html, io, re, zipfile
from graded_class import *

part = (sys.argv + ["pages"])[1]


def export(book, folder, *more):
    before = os.umask(0)  # the folder's privacy is its own
    done = book.run("export", "--lab", "01", "--feedback", folder, *more)
    os.umask(before)
    expect(f"export {more}: {done.stdout}{done.stderr}", 0, done.returncode)
    return book.dir / folder, done.stderr


def nobody_elses(book, student, what, text):
    """No name, id, address, nonce, seed or path of another student, or of the course, in what `student` gets."""
    mine = STUDENTS[student][0]
    for other, (name, _, user, participant) in STUDENTS.items():
        if other == student:
            continue
        words = [other, f"{user}", f"{participant}"] + ([] if name == mine else [name, html.escape(name, quote=True), html.escape(name, quote=False)])
        for word in words:
            expect(f"{what} of {student} has nothing of {other} ({word})", False, word in text)
    for word in [*SECRETS, str(book.dir), str(REPO), "/tmp/", *[n for nonces in book.nonces.values() for n in nonces], "5" * 128]:
        expect(f"{what} of {student} has no secret ({word})", False, word in text)


def text_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page)))


def pages():
    book = GradedClass(head='lessons = "https://ridge.example.edu/course"\n').whole()
    dir, said = export(book, "out")
    handed_in = set(STUDENTS) - {"kx111"}
    expect("a folder for each who handed in", handed_in, {p.name for p in (dir / "students").iterdir()})
    expect("it is said who has none: " + said, True, "12 pages, 3 of them without a grade yet; 1 students handed nothing in" in said)
    for path in [dir, *dir.rglob("*")]:
        expect(f"{path.name}: private", "0o700" if path.is_dir() else "0o600", oct(path.stat().st_mode & 0o777))
    all = {}
    for student in sorted(handed_in):
        files = {p.name: p.read_text() for p in (dir / "students" / student).iterdir()}
        expect(f"{student}: files", {"feedback.html"} | ({"result.json"} if student not in NO_RECORD else set()), set(files))
        for name, text in files.items():
            nobody_elses(book, student, name, text)
        page = files["feedback.html"]
        all[student] = page
        told = text_of(page)
        expect(f"{student}: the own name", True, f"Feedback for {STUDENTS[student][0]}" in told)
        expect(f"{student}: no script, and nothing from elsewhere", [], re.findall(r"<(?:script|img|link|iframe|object|b|i)[ >/](?!style=\"width:)|<[^>]* (?:src|on\w+)=|url\(", page))
        expect(f"{student}: links lead to lessons only", [], [a for a in re.findall(r'href="([^"]*)"', page)
                                                              if not a.startswith(f"https://ridge.example.edu/course/labs/{LAB}/README.md#")])
        if student in NO_RECORD:
            continue
        record = json.loads(files["result.json"])
        expect(f"{student}: fields of the record", set(), set(record) & {"nonce", "seed", "signature", "harness", "sandbox", "program"})
        expect(f"{student}: no path", False, "path" in record["submission"])
        expect(f"{student}: who judged", {"version": "0.1.0", "commit": "0123abcd"}, record["ridge"])
        level = book.levels[student]
        expect(f"{student}: points by task", [(t["id"], t["points"], t["checks"]) for t in tasks(level)],
               [(t["id"], t["points"], t["checks"]) for t in record["tasks"]])
        shown = subprocess.run([RIDGE, "report", str(dir / "students" / student / "result.json")], capture_output=True, text=True, env=book.env)
        expect(f"{student}: ridge report reads it: {shown.stderr}", (0, True), (shown.returncode, "transpose" in shown.stdout))
        for t in tasks(level):
            expect(f"{student}: points of {t['id']}", True, f"{t['points']} / {t['max']} {t['id']}" in told)
            for c in t["checks"]:
                waits = any(g["id"] == c["name"] and g["value"] is None for g in t["goals"])
                message = re.sub(r"\s+", " ", c["message"].strip())
                expect(f"{student}: {t['id']}/{c['name']}: {message}", True, waits or message in told)
            for c in t["cases"]:
                expect(f"{student}: the wrong case", True, c["name"] in told)
    for student, words in {"kx101": ("100 %", "2 attempts", "15 points copy passed"), "kx105": ("65 %", "One attempt"),
                           "kx102": ("52 %", "The judge gave 65 of 100 points", "2 days late: 20 % taken off"),
                           "kx103": ("Your deadline was extended to Fri 20 Nov 2026, 22:00 UTC", "Hints: ./ridge hint 01 transpose"),
                           "kx104": ("61.5 %", "Your instructor set this grade", "goal of sectors 8 x (goal 1.02)"),
                           "kx106": ("neighbouring lanes read addresses 32 bytes apart",),
                           "kx108": ("100 %", "Your last hand-in could not be read, so an earlier one counts: it is an archive", "Hand-ins without a result"),
                           "kx109": ("No grade yet", "did not end within its time limit"),
                           "kx110": ("No grade yet", "could not be judged: it is an archive", "hand in a zip or tar.gz"),
                           "kx112": ("No grade yet", "It is not graded yet")}.items():
        for word in words:
            expect(f"{student}: says '{word}': {text_of(all[student])[:1500]}", True, word in text_of(all[student]))
    for student in NO_RECORD - {"kx111"}:
        expect(f"{student}: what is not graded is no zero", False, re.search(r"\b0 (%|of|points)", text_of(all[student])) is not None)
    expect("the print style", True, "@media print" in all["kx101"])
    # From another folder, without an address: the lesson's name, and no path of this machine.
    file = book.dir / "course.toml"
    file.write_text(file.read_text().replace('lessons = "https://ridge.example.edu/course"\n', ""))
    plain, _ = export(book, "plain")
    told = (plain / "students/kx103/feedback.html").read_text()
    expect("lessons are named", True, f"Lesson: labs/{LAB}/README.md#task-" in told and "href=" not in told)
    file.write_text('lessons = "javascript:alert(1)"\n' + file.read_text())
    expect("an address is one of a page", 2, book.run("export", "--lab", "01").returncode)
    book.remove()


def moodle_takes(path, participants):
    """mod/assign/feedback/file/importziplib.php: is_valid_filename_for_import. -> (participant, file name)"""
    parts = path.split("/")
    if parts[-1].startswith((".", "~")) or not parts[-1]:
        return None
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) < 4 or not info[1].isdigit() or int(info[1]) not in participants:
            continue
        if (info[2], info[3]) != ("assignsubmission", "file"):
            continue
        return int(info[1]), "/".join([(info + [""])[4], *parts]).lstrip("/")
    return None


def moodle():
    for shape, more in (("moodle", ()), ("id", ("--from", "worksheet.csv"))):
        book = GradedClass(shape).whole()
        dir, said = export(book, "out", "--format", "moodle", *more)
        participants = {s[3]: i for i, s in STUDENTS.items()}
        got = {}
        with zipfile.ZipFile(dir / "moodle.zip") as z:
            expect(f"{shape}: names in UTF-8 are marked as such", [], [i.filename for i in z.infolist() if not i.filename.isascii() and not i.flag_bits & 0x800])
            for info in z.infolist():
                taken = moodle_takes(info.filename, participants)
                expect(f"{shape}: Moodle takes {info.filename}", True, taken is not None)
                student = participants[taken[0]]
                expect(f"{shape}: in the folder of Moodle's download", True, re.fullmatch(r"[^/_]+_\d+_assignsubmission_file_/[a-z.]+", info.filename) is not None)
                text = z.read(info).decode()
                nobody_elses(book, student, info.filename, text)
                expect(f"{shape}: the same as in the folder", (dir / "students" / student / taken[1]).read_text(), text)
                got.setdefault(student, set()).add(taken[1])
        absent = {"kx111"} if shape == "id" else {"kx110", "kx111"}  # where the broken one has no folder
        expect(f"{shape}: of all who handed in", set(STUDENTS) - absent, set(got))
        expect(f"{shape}: two files", {"feedback.html", "result.json"}, got["kx106"])
        expect(f"{shape}: nobody is left out: {said}", False, "Not in moodle.zip" in said)
        # The round trip: Ridge reads such a folder as Moodle's download again, and knows whose each is.
        again = GradedClass("moodle")
        with zipfile.ZipFile(dir / "moodle.zip") as z:
            z.extractall(again.hand_ins)
        for folder in again.hand_ins.iterdir():
            (folder / "copy.cu").write_text("// 1\n")
        dry = again.run("intake", "--lab", "01", "--submissions", "hand-ins", "--roster", "worksheet.csv", "--dry-run")
        for student in got:
            expect(f"{shape}: {student} is found again: {dry.stdout}", True, f" -> {student}@example.edu, " in dry.stdout)
        again.remove(), book.remove()
    book = GradedClass().whole()
    dir, said = export(book, "none", "--format", "moodle")
    expect("without numbers it is said: " + said, (True, False), ("Not in moodle.zip" in said and "kx101" in said, (dir / "moodle.zip").exists()))
    book.remove()
    book = GradedClass("moodle").whole()
    (book.dir / "worksheet.csv").write_text((book.dir / "worksheet.csv").read_text().replace("Participant 50062811", "Participant 4"))
    done = book.run("export", "--lab", "01", "--feedback", "out", "--format", "moodle", "--from", "worksheet.csv")
    expect("a worksheet of another assignment: " + done.stderr, (2, True, False), (done.returncode, "kx101 is participant 4" in done.stderr, (book.dir / "out").exists()))
    expect("and nothing is left of it", [], [p.name for p in book.dir.iterdir() if "out" in p.name])
    book.remove()


def canvas_takes(path, attachments):
    """app/models/assignment.rb: infer_comment_context_from_filename. -> (user, attachment)"""
    name = path.split("/")[-1]
    numbers = [p for p in name.split("_") if p.isdigit()][:2]
    if len(numbers) < 2 or name.startswith("._"):
        return None
    return tuple(map(int, numbers)) if tuple(map(int, numbers)) in attachments else None


def canvas():
    book = GradedClass("canvas").whole()
    # One of them handed in an archive, another one a tarball: their feedback is such an archive, since Canvas shows it under that name.
    for student, name in (("kx105", "lab01.zip"), ("kx106", "my lab.tar.gz")):
        for file in FILES:
            (book.hand_ins / book.source_of(student, file)).unlink()
        _, flat, user, _ = STUDENTS[student]
        path = book.hand_ins / f"{flat}_{user}_{user + 70000}_{name}"
        if name.endswith("zip"):
            with zipfile.ZipFile(path, "w") as z:
                z.writestr("copy.cu", f"// in an archive, {student}\n")
        else:
            import tarfile
            with tarfile.open(path, "w:gz") as t:
                data = f"// in a tarball, {student}\n".encode()
                info = tarfile.TarInfo("copy.cu")
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))
    expect("intake", 0, book.intake().returncode)
    book.judge(book.levels)
    dir, said = export(book, "out", "--format", "canvas")
    attachments = {(s[2], s[2] + 70000): i for i, s in STUDENTS.items()}
    sources = {i: s for i, s in book.db().execute("SELECT student, source FROM submission ORDER BY COALESCE(handed_in, taken), id")}
    got = set()
    with zipfile.ZipFile(dir / "canvas.zip") as z:
        for info in z.infolist():
            taken = canvas_takes(info.filename, attachments)
            expect(f"Canvas takes {info.filename}", True, taken is not None)
            student = attachments[taken]
            got.add(student)
            expect(f"{student}: the very name of the hand-in", sources[student], info.filename)
            data = z.read(info)
            if info.filename.endswith(".zip"):
                with zipfile.ZipFile(io.BytesIO(data)) as inner:
                    expect("an archive for an archive", {"feedback.html", "result.json"}, set(inner.namelist()))
                    data = inner.read("feedback.html")
            elif info.filename.endswith(".tar.gz"):
                with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as inner:
                    expect("a tarball for a tarball", {"feedback.html", "result.json"}, set(inner.getnames()))
                    data = inner.extractfile("feedback.html").read()
            else:
                expect(f"{student}: text for a source: {data[:200]}", True, data.decode().startswith("Lab 01: Memory coalescing\n") and b"<" not in data[:100])
            nobody_elses(book, student, info.filename, data.decode())
    expect("of all who handed in", set(STUDENTS) - {"kx110", "kx111"}, got)
    expect("late ones and second ones keep their marks", (True, True), ("_LATE_" in sources["kx102"], any("copy-1.cu" in p.name for p in book.hand_ins.iterdir())))
    book.remove()


def gradescope():
    book = GradedClass().whole()
    dir, _ = export(book, "out", "--format", "gradescope")
    seen = {"hidden", "after_due_date", "after_published", "visible"}
    for student, level in book.levels.items():
        text = (dir / "students" / student / "results.json").read_text()
        nobody_elses(book, student, "results.json", text)
        j = json.loads(text)
        expect(f"{student}: only Gradescope's fields", set(), set(j) - {"score", "execution_time", "output", "output_format", "test_output_format",
                                                                        "test_name_format", "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard"})
        expect(f"{student}: visibility", (True, True), (j["visibility"] in seen, all(t["visibility"] in seen for t in j["tests"])))
        rows = [f"{t['id']}/{c['name']}" for t in tasks(level) for c in t["checks"]]
        expect(f"{student}: a row for each check", rows, [t["name"] for t in j["tests"]])
        expect(f"{student}: their status", {"passed", "failed"} >= {t["status"] for t in j["tests"]}, True)
        expect(f"{student}: the rows' points are the judge's", float(sum(t["points"] for t in tasks(level))), float(sum(t["score"] for t in j["tests"])))
    score = lambda s: round(json.loads((dir / "students" / s / "results.json").read_text())["score"], 6)
    expect("lateness, and a grade by hand", (52.0, 61.5, 100.0), (score("kx102"), score("kx104"), score("kx101")))
    expect("none without a grade", False, any((dir / "students" / s / "results.json").exists() for s in NO_RECORD))
    book.remove()


def refused():
    book = GradedClass().whole()
    dir, _ = export(book, "out")
    before = sorted(p.name for p in dir.rglob("*"))
    for words, why in ((("--feedback", "out"), "not empty"), (("--feedback", "new", "--format", "nbgrader"), "no feedback in the format"),
                       (("--feedback", "new", "-o", "x"), "excludes"), (("--feedback", "new", "--format", "canvas", "--from", "canvas.csv"), "--from")):
        done = book.run("export", "--lab", "01", *words)
        expect(f"{words}: {done.stderr}", (2, True), (done.returncode, why in done.stderr))
    total = book.run("export", "--lab", "total", "--feedback", "new")
    expect("of one lab: " + total.stderr, 2, total.returncode)
    expect("nothing was made, nothing changed", (False, before), ((book.dir / "new").exists(), sorted(p.name for p in dir.rglob("*"))))
    (book.dir / "empty").mkdir(mode=0o755)
    made, _ = export(book, "empty")
    expect("an empty folder is taken, and made private", "0o700", oct(made.stat().st_mode & 0o777))
    # Who is on the roster under a name that would leave the folder gets a folder all the same; what is nobody's stops all.
    (book.hand_ins / "nobody.txt").write_text("x")
    (book.dir / "roster.csv").write_text((book.dir / "roster.csv").read_text() + "..,Up,up@example.edu\n.hidden,Hid,h@example.edu\n")
    (book.hand_ins / "up@example.edu.zip").write_bytes(b"no zip")
    expect("intake", 3, book.intake().returncode)
    stopped = book.run("export", "--lab", "01", "--feedback", "new")
    expect("an entry that is nobody's: " + stopped.stderr, (3, True, False), (stopped.returncode, "nobody.txt" in stopped.stderr, (book.dir / "new").exists()))
    made, _ = export(book, "new", "--ignore-unmatched")
    expect("no folder above", ["_.."], [p.name for p in (made / "students").iterdir() if "." in p.name])
    for f in ("course.toml", "worksheet.csv", "gradebook.sqlite"):
        expect(f"{f} is there", True, (book.dir / f).exists())
    book.remove()


{"pages": pages, "moodle": moodle, "canvas": canvas, "gradescope": gradescope, "refused": refused}[part]()
print(f"{len(checks)} checks")
