#!/usr/bin/env python3
"""A class with every kind of state: `status`, `report`, its page, a lab's export and the total count the same students, without Slurm.

test_counts.py [states|regraded|twice]"""
import csv, io, re
from graded_class import *

part = (sys.argv + ["states"])[1]
WHO = {  # student -> (state, the grade in percent; None: no grade, the total of lab 01 with weight 1 and nothing of lab 02)
    "graded": ("with a grade", 100.0, 100.0), "late": ("with a grade", 90.0, 90.0), "zero": ("with a grade", 0.0, 0.0),
    "override": ("with a grade", 61.5, 61.5), "unseen": ("with a grade", 70.0, 70.0),  # without a hand-in
    "older": ("with a grade", 100.0, 100.0),  # whose last hand-in can't be read
    "regrade": ("with a grade", 100.0, 100.0),  # which is not done
    "running": ("in the queue or running", None, None), "waiting": ("waiting", None, None), "newer": ("waiting", None, None),
    "hung": ("not graded", None, None), "cancelled": ("not graded", None, None), "unread": ("not graded", None, None),
    "extended": ("handed nothing in", None, None), "absent": ("handed nothing in", None, 0.0)}
STATES = ("with a grade", "in the queue or running", "waiting", "not graded", "handed nothing in")


def counted(text):
    """The numbers of "15 students: 7 with a grade, 1 waiting"."""
    found = re.search(r"(\d+) students?: ((?:\d+ [a-z ]+(?:, )?)+)", text)
    if not found:
        raise SystemExit(f"FAILED: no counts in {text!r}")
    numbers = {what.strip(): int(n) for n, what in re.findall(r"(\d+) ([a-z ]+)", found[2])}
    expect(f"all are counted once: {found[0]}", int(found[1]), sum(numbers.values()))
    return numbers


def cards(page):
    return dict(zip(re.findall(r"<dt>(.*?)</dt>", page), map(str.strip, re.findall(r"<dd>(.*?)</dd>", page))))


def export(book, *words):
    done = book.run("export", *words)
    expect(f"export {words}: {done.stderr}", 0, done.returncode)
    return {r["student"]: r for r in csv.DictReader(io.StringIO(done.stdout))}, done.stderr


def a_class():
    STUDENTS.clear()
    STUDENTS.update({s: (s.title(), s, 1, 1) for s in [*WHO, "left"]})
    book = GradedClass(lab="[labs.02]\nweight = 3\n[labs.03]\n")
    early, late = DEADLINE - 86400, DEADLINE + 3600
    again = ["graded", "regrade", "older", "newer"]
    for i, s in enumerate([*again, "left"]):
        book.hand_in(s, "first", early - 86400 + i)
    expect("intake", 0, book.intake().returncode)
    book.judge({s: 3 for s in [*again, "left"]})
    for s in WHO:
        if s not in ("unseen", "unread", "extended", "absent", "older", "regrade"):
            book.hand_in(s, "last", late if s == "late" else early)
    for s in ("unread", "older"):
        shutil.rmtree(book.hand_ins / s, ignore_errors=True)
        (book.hand_ins / f"{s}.rar").write_bytes(b"Rar!\x1a\x07\x00")
    shutil.rmtree(book.hand_ins / "left")
    STUDENTS.pop("left")
    (book.dir / "roster.csv").write_text("id,name\n" + "".join(f"{s},{s.title()}\n" for s in WHO))
    expect("intake", 0, book.intake().returncode)
    book.judge({"graded": 3, "late": 3, "override": 0})
    book.judge({"zero": 0})
    of = lambda s: f"content = (SELECT content FROM submission WHERE student = '{s}' AND problem = '' ORDER BY handed_in DESC LIMIT 1)"
    db = book.db()
    with db:
        db.execute(f"UPDATE result SET points = 0 WHERE work = (SELECT id FROM work WHERE {of('zero')})")
        for s, state, reason in (("running", "running", ""), ("hung", "not-graded", "the judge did not end within 600 s"), ("cancelled", "cancelled", "cancelled")):
            db.execute(f"UPDATE work SET state = ?, reason = ? WHERE {of(s)}", (state, reason))
        db.execute(f"INSERT INTO work(lab, content, backend, generation, state) SELECT lab, content, backend, 2, 'waiting' FROM work WHERE {of('regrade')}")
    db.close()
    for words in (("override", "--student", "override", "--percent", "61.5"), ("override", "--student", "unseen", "--percent", "70"),
                  ("extend", "--student", "extended", "--until", "2099-01-01T00:00:00Z")):
        expect(words[0], 0, book.run(words[0], "--lab", "01", *words[1:], "--reason", "why").returncode)
    return book


def states():
    (clock := pathlib.Path(tempfile.mkstemp(prefix="ridge-clock.")[1])).write_text(str(int(DEADLINE + 10 * 86400 - time.time())))
    book = a_class()
    book.env["RIDGE_CLUSTER_CLOCK"] = str(clock)  # the deadline is over
    wanted = {state: n for state in STATES if (n := sum(w[0] == state for w in WHO.values()))}
    status = book.run("status")
    expect("status: " + status.stderr, 0, status.returncode)
    report, page = book.run("report", "--lab", "01").stdout, book.dir / "class.html"
    expect("page", 0, book.run("report", "--lab", "01", "--html", str(page)).returncode)
    rows, said = export(book, "--lab", "01")
    for name, text in (("status", status.stdout), ("report", report), ("export", said)):
        expect(f"{name} counts: {text}", wanted, counted(text))
    shown = cards(page.read_text())
    expect(f"the page counts: {shown}", {"Students": len(WHO), "With a grade": 7, "Being graded": 3, "Not graded": 3},
           {k: int(shown[k]) for k in ("Students", "With a grade", "Being graded", "Not graded")})
    expect("the page's list of who handed nothing in", True, "<summary>2 handed nothing in</summary>" in page.read_text())
    expect("the export's grades", {s: w[1] for s, w in WHO.items()}, {s: float(r["percent"]) if r["percent"] else None for s, r in rows.items()})
    expect("and its words for those without", {"not graded": 6, "nothing handed in": 2},
           {w: sum(r["outcome"] == w and not r["percent"] for r in rows.values()) for w in ("not graded", "nothing handed in")})
    # Contents: 4 first hand-ins and that of who left, and 8 last ones; of a regrade the new one counts.
    contents = re.search(r"different contents.*: graded (\d+), in the queue or running (\d+), waiting (\d+), not graded (\d+)", status.stdout)
    db = book.db()
    every = db.execute("SELECT count(DISTINCT content) FROM work WHERE lab = ?", (LAB,)).fetchone()[0]
    db.close()
    expect(f"each content once: {status.stdout}", (every, ("8", "1", "3", "2")), (sum(map(int, contents.groups())), contents.groups()))
    for who, why in (("hung", "the judge did not end within 600 s"), ("cancelled", "cancelled"), ("unread", "not read")):
        for name, text in (("status", status.stdout), ("report", report), ("page", page.read_text())):
            expect(f"{name} says why {who} has no grade: {text}", True, re.search(rf"{who}\b[^\n]*{why}", text) is not None)
    # The total: lab 02, of weight 3, has no deadline and no hand-in, so it does not count yet.
    totals, said = export(book, "--lab", "total")
    expect("totals", {s: w[2] for s, w in WHO.items()}, {s: float(r["percent"]) if r["percent"] else None for s, r in totals.items()})
    expect(f"the total counts: {said}", {"with a total": 8, "with a lab that is not graded": 6, "with nothing that counts yet": 1}, counted(said))
    clock.write_text(str(4_070_908_800 + 60 - int(time.time())))  # the extension is over, too: 2099-01-01T00:00:00Z
    totals, said = export(book, "--lab", "total")
    expect("after an extended deadline nothing is zero", "0", totals["extended"]["percent"])
    expect(f"and is a total: {said}", {"with a total": 9, "with a lab that is not graded": 6}, counted(said))
    # A lab that nobody has touched is not in the status; an entry of nobody's is.
    expect("labs in the status: " + status.stdout, ["01_coalescing"], re.findall(r"^  (\d\d_\w+)", status.stdout, re.M))
    (book.hand_ins / "whose.zip").write_bytes(b"x")
    book.intake()
    for name in ("status", "report"):
        told = book.run(name, *(["--lab", "01"] if name == "report" else [])).stdout
        expect(f"{name} tells of an entry of nobody's: {told}", True, "nobody on the roster" in told)
    book.remove(), clock.unlink()


def regraded():
    """A work that failed, was regraded and has a result is graded: for status, for the exit code, and for the next `grade`."""
    STUDENTS.clear()
    STUDENTS.update({"ann": ("Ann", "ann", 1, 1), "bob": ("Bob", "bob", 2, 2)})
    book = GradedClass()
    for s in STUDENTS:
        book.hand_in(s, "x", DEADLINE - 100)
    expect("intake", 0, book.intake().returncode)
    with book.db() as db:
        db.execute("UPDATE work SET state = 'not-graded', reason = 'the node failed'")
        db.execute("INSERT INTO work(lab, content, backend, generation, state) SELECT lab, content, backend, 2, 'waiting' FROM work")
    book.judge({"ann": 1, "bob": 0})
    report, status = book.run("report", "--lab", "01").stdout, book.run("status").stdout
    expect(f"both have a grade: {report}", {"with a grade": 2}, counted(report))
    expect(f"contents: {status}", True, "graded 2, in the queue or running 0, waiting 0, not graded 0" in status)
    expect(f"nobody without: {status}", False, "the node failed" in status)
    # Regraded once more, in vain: the older result counts, and status says so.
    with book.db() as db:
        db.execute("INSERT INTO work(lab, content, backend, generation, state, reason) SELECT lab, content, backend, 3, 'not-graded', 'no node' FROM work "
                   "WHERE generation = 2 AND content = (SELECT content FROM submission WHERE student = 'ann')")
    status = book.run("status").stdout
    expect(f"a regrade in vain: {status}", ({"with a grade": 2}, True, True), (counted(status), "not graded 1" in status, "no node; the older result counts" in status))
    # What fails most, after a regrade with other results: each student once, by the newest.
    with book.db() as db:
        db.execute("DELETE FROM work WHERE generation = 3")
        db.execute("INSERT INTO work(lab, content, backend, generation, state) SELECT lab, content, backend, 3, 'waiting' FROM work WHERE generation = 2")
    book.judge({"ann": 3, "bob": 0})
    report = book.run("report", "--lab", "01").stdout
    expect(f"failing checks of the newest results: {report}", ["1"], re.findall(r"^ +(\d+)  transpose/correct$", report, re.M))
    book.remove()


def twice():
    """Handed in by the deadline and again after it: the better of both counts, with its deduction, and nobody loses by the second."""
    day = 86400
    # who -> level in time, level late (None: no result yet), days late, the grade
    cases = {"better": (1, 3, 1, 90.0), "equal": (3, 3, 1, 100.0), "toolate": (3, 3, 5, 100.0), "open": (2, None, 1, None), "lost": (3, None, 5, 100.0),
             "failed": (3, "not-graded", 1, 100.0), "first": (None, 3, 1, None), "onlylate": ("", 3, 1, 90.0)}
    STUDENTS.clear()
    STUDENTS.update({s: (s.title(), s, 1, 1) for s in cases})
    book = GradedClass()
    for s, (level, *_) in cases.items():
        if level != "":
            book.hand_in(s, "in time", DEADLINE - 100)
    expect("intake", 0, book.intake().returncode)
    book.judge({s: c[0] for s, c in cases.items() if c[0] not in ("", None)})
    for s, (_, _, late, _) in cases.items():
        book.hand_in(s, "late", DEADLINE + late * day - 100)
    expect("intake", 0, book.intake().returncode)
    db = book.db()
    latest = lambda s: db.execute("SELECT content FROM submission WHERE student = ? ORDER BY handed_in DESC", (s,)).fetchone()[0]
    late = {s: latest(s) for s in cases}
    with db:
        db.execute("UPDATE work SET state = 'running' WHERE state = 'waiting' AND content NOT IN (%s)" % ",".join("?" * len(late)), list(late.values()))
    db.close()
    book.judge({s: c[1] for s, c in cases.items() if isinstance(c[1], int)})
    with book.db() as db:
        db.execute("UPDATE work SET state = 'not-graded', reason = 'broken node' WHERE content = ?", (late["failed"],))
    rows, _ = export(book, "--lab", "01")
    expect("grades", {s: c[3] for s, c in cases.items()}, {s: float(r["percent"]) if r["percent"] else None for s, r in rows.items()})
    expect("days late", {s: 1 if s in ("better", "open", "onlylate") else 0 for s in cases}, {s: int(r["days_late"]) for s, r in rows.items()})
    expect("feedback", 0, book.run("export", "--lab", "01", "--feedback", "feedback").returncode)
    page = lambda s: (book.dir / "feedback/students" / s / "feedback.html").read_text()
    said = "You handed in again after the deadline. That earns no more"
    expect("the page says which one counts", [True, False], [said in page(s) for s in ("toolate", "better")])
    book.remove()


{"states": states, "regraded": regraded, "twice": twice}[part]()
print(f"{len(checks)} checks")
