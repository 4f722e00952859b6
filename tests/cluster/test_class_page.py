#!/usr/bin/env python3
"""The instructor's page of a lab, without Slurm: its numbers against the gradebook, and what it leaves out where nothing is known.

test_class_page.py [page|times|cost|gpus]
test_class_page.py show NODE SOURCE BUILD    pages of both kinds in a browser (check_pages.mjs)"""
import html, re
from datetime import datetime
from graded_class import *

part = (sys.argv + ["page"])[1]


def report(book, name="class.html", env=None):
    done = book.run("report", "--lab", "01", "--html", name, env=env)
    expect(f"report: {done.stdout}{done.stderr}", 0, done.returncode)
    return (book.dir / name).read_text()


def section(page, title):
    found = re.search(rf"<section>\n<h2>{title}</h2>\n(.*?)</section>\n", page, re.S)
    return found[1] if found else None


def cells(row):
    return [html.unescape(re.sub(r"<[^>]*>", "", c)) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]


def rows(text):
    return [cells(r) for r in re.findall(r"<tr>(.*?)</tr>", text, re.S)]


def answer(book):
    db = book.db()
    with db:
        db.executemany("INSERT INTO participation VALUES(?, ?, 4, ?, 0, 6, ?, ?)", [(LAB, "kx101", 4, 6, 5), (LAB, "kx102", 0, 0, 0), (LAB, "kx103", 1, 0, 0)])
    db.close()


def gpus():
    """Results of GPUs of two types: points by time do not compare."""
    book = GradedClass().whole()
    said = "GPUs of several types"
    tokens = [t for t, in book.db().execute("SELECT r.token FROM result r JOIN work w ON w.id = r.work JOIN submission s ON s.content = w.content "
                                            "WHERE s.student IN ('kx105', 'kx106') ORDER BY 1")]
    for names, told in ((["NVIDIA H100 80GB HBM3"] * 2, False), (["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"], True)):
        with book.db() as db:
            for token, name in zip(tokens, names):
                text = json.loads(db.execute("SELECT record FROM result WHERE token = ?", (token,)).fetchone()[0])
                text["device"] = {"kind": "gpu", "name": name}
                db.execute("UPDATE result SET record = ? WHERE token = ?", (json.dumps(text), token))
        out = book.run("report", "--lab", "01").stdout
        expect(f"{set(names)}: {out}", told, said in out and "1 x NVIDIA A100-SXM4-40GB" in out)
    book.remove()


def page():
    book = GradedClass().whole()
    before = os.umask(0)
    text = report(book)
    os.umask(before)
    expect("for the instructor alone", "0o600", oct((book.dir / "class.html").stat().st_mode & 0o777))
    nonce = re.search(r"script-src 'nonce-(\w{32})'", text)[1]
    expect("one script, which the policy names", [f'<script nonce="{nonce}">'], re.findall(r"<script[^>]*>", text))
    expect("and no other than that of another page", True, nonce not in report(book, "again.html"))
    expect("nothing from elsewhere", [], re.findall(r"<(?:img|link|iframe|object)\b|<[^>]* (?:src|href|on\w+)=|url\(|@import", text))
    expect("a name is no element", (True, False), (html.escape(STUDENTS["kx107"][0]).replace("&#x27;", "&#39;") in text, "<script>alert" in text))
    for name, _, _, _ in STUDENTS.values():
        expect(f"{name} is there", True, name in html.unescape(text))
    numbers = dict(zip(re.findall(r"<dt>(.*?)</dt>", text), re.findall(r"<dd>(.*?)</dd>", text)))
    # Late are kx102, and kx110, whose archive is dated today.
    expect("numbers", {"Students": "13", "Handed in": "12", "With a grade": "9", "Being graded": "1", "Not graded": "2", "Median": "52 %", "Hand-ins": "16", "Late": "2"}, numbers)
    # The levels of the nine: 3, 2, 0, 1, 2, 1, 1, 3, 0. Of each task the points by range.
    bars = {m[0]: m[1] for m in re.findall(r'aria-label="([\w ]+), students by points: ([^"]*)"', text)}
    wanted = lambda none, quarter, half, three, less, all: f"0: {none}, &lt;25%: {quarter}, &lt;50%: {half}, &lt;75%: {three}, &lt;100%: {less}, all: {all}"
    expect("copy", wanted(0, 0, 0, 0, 0, 9), bars["copy"])
    expect("aos_to_soa: 0, 5 or 25", wanted(2, 3, 0, 0, 0, 4), bars["aos_to_soa"])
    expect("transpose", wanted(7, 0, 0, 0, 0, 2), bars["transpose"])
    expect("gather", wanted(5, 0, 0, 0, 0, 4), bars["gather"])
    expect("grades", wanted(0, 4, 0, 3, 0, 2), bars["the grade"])
    times = section(text, "Attempts over time")
    expect("hand-ins over time", (True, True), ("Handed in: 8 students 1 time, 4 students 2 times." in times, ">deadline</text>" in times))
    expect("all are drawn", 16, sum(map(int, re.findall(r": (\d+) hand-ins?</title>", times))))
    failing = {r[0]: r for r in rows(section(text, "What fails most"))}
    expect("failing checks, of the students and what counts", {"transpose/correct": "7", "gather/correct": "5", "aos_to_soa/sectors": "3", "aos_to_soa/build": "2"},
           {k: r[1] for k, r in failing.items() if k != "Check"})
    expect("the most common first", "transpose/correct", list(failing)[1])
    expect("with the misconception and its name", True, "No __syncthreads()" in failing["transpose/correct"][3] and "transpose_no_sync" in failing["transpose/correct"][3])
    expect("of this check only", False, "transpose_naive" in failing["transpose/correct"][3])
    told = book.run("report", "--lab", "01").stdout
    expect("the text counts as the page does, and a goal once: " + told, ["3"], re.findall(r"^ +(\d+)  aos_to_soa/sectors$", told, re.M))
    without = {r[0].split(",")[0]: r for r in rows(section(text, "Without a grade"))}
    expect("why there is none", (True, True, "waiting"), ("did not end within 600 s (on node-of-the-lab)" in without["kx109"][2],
                                                         "hand in a zip or tar.gz" in without["kx110"][2], without["kx112"][2]))
    expect("who handed nothing in", True, "<summary>1 handed nothing in</summary>" in text and "<li>kx111, Absent Anna</li>" in text)
    table = rows(section(text, "Students"))
    expect("no columns of questions, where nothing of them arrived", ["Id", "Name", "Percent", "copy", "aos_to_soa", "transpose", "gather", "Hand-ins",
                                                                       "Last", "Days late", "Version", "Note"], table[0])
    by = {r[0]: dict(zip(table[0], r)) for r in table[1:]}
    expect("all students", set(STUDENTS), set(by))
    expect("a row", ("52", "65"), (by["kx102"]["Percent"], str(sum(float(by["kx102"][t]) for t in ("copy", "aos_to_soa", "transpose", "gather")))[:2]))
    expect("another one", ("61.5", "1", "2", ""), (by["kx104"]["Percent"], by["kx103"]["Hand-ins"], by["kx104"]["Hand-ins"], by["kx109"]["Percent"]))
    expect("decisions with their reasons", True, "illness of kx104 (Prof)" in section(text, "Decisions"))
    expect("versions", True, re.search(r"<li>[0-9a-f]{8}: 9 results</li>", section(text, "Versions of the lab")) is not None)
    expect("one that is not the one here is told", True, "another version of the lab" in section(text, "To look at"))
    answer(book)
    (book.hand_ins / "whose.zip").write_bytes(b"x")
    book.intake()
    text = report(book)
    table = rows(section(text, "Students"))
    by = {r[0]: dict(zip(table[0], r)) for r in table[1:]}
    expect("questions", ("4 of 4", "6 of 6", "5 of 6", ""), (*[by["kx101"][c] for c in ("Predicted", "Quiz answered", "Quiz right")], by["kx104"]["Predicted"]))
    expect("how many took part", True, "2 of 13 students answered" in text)
    expect("what belongs to nobody", True, ["nobody on the roster", "whose.zip"] == rows(section(text, "Without a grade"))[-1][:2])
    # A course without any hand-in: a page all the same, without sections of nothing.
    empty = GradedClass()
    expect("intake", 0, empty.intake().returncode)
    text = report(empty)
    expect("sections", ["Without a grade", "Students"], re.findall(r"<h2>(.*?)</h2>", text))
    empty.remove(), book.remove()


def times():
    """Dates as people read them, in the zone of the machine or of TZ, beside the same in UTC. The zones need no tzdata."""
    book = GradedClass()
    at = lambda text: int(datetime.fromisoformat(text + "+00:00").timestamp())
    # The clock of Berlin goes back on 25 October: the 24th once, the 25th twice, the 26th once.
    dates = {"kx101": at("2026-10-24T21:30:00"), "kx102": at("2026-10-24T22:30:00"), "kx103": at("2026-10-25T22:30:00"), "kx104": at("2026-10-25T23:10:00")}
    for student, date in dates.items():
        book.hand_in(student, "x", date)
    expect("intake", 0, book.intake().returncode)
    expect("extend", 0, book.run("extend", "--lab", "01", "--student", "kx105", "--until", "2026-11-08T23:00:00+01:00", "--reason", "ill").returncode)
    berlin, kolkata, odd = "CET-1CEST,M3.5.0,M10.5.0/3", "IST-5:30", "<-0330>3:30"
    deadline = {berlin: "Sun 1 Nov 2026, 23:00 CET", kolkata: "Mon 2 Nov 2026, 03:30 IST", odd: "Sun 1 Nov 2026, 18:30 UTC-0330", "UTC0": "Sun 1 Nov 2026, 22:00 UTC"}
    last = {berlin: ["24 Oct, 23:30", "25 Oct, 00:30", "25 Oct, 23:30", "26 Oct, 00:10"],
            kolkata: ["25 Oct, 03:00", "25 Oct, 04:00", "26 Oct, 04:00", "26 Oct, 04:40"]}
    bars = {berlin: {"24 Oct 2026": 1, "25 Oct 2026": 2, "26 Oct 2026": 1}, kolkata: {"25 Oct 2026": 2, "26 Oct 2026": 2}}
    for zone, wanted in deadline.items():
        text = report(book, env={"TZ": zone})
        element = f'<time datetime="2026-11-01T22:00:00Z" title="2026-11-01T22:00:00Z">{wanted}</time>'
        expect(f"{zone}: the deadline: {text[text.index('<h1>'):][:600]}", True, "Deadline " + element in text)
        read = re.sub(r"<[^>]*>", " ", text[text.index("<h1>"):text.index("<script")])
        expect(f"{zone}: no date as machines write it", [], re.findall(r"\d{4}-\d\d-\d\d", read))
        expect(f"{zone}: all elements have their time", True, all(shown and utc.endswith("Z") and utc == title for utc, title, shown in re.findall(
            r'<time datetime="([^"]*)" title="([^"]*)">([^<]*)</time>', text)))
        cells = re.findall(r'<td class="date" data-v="(\d+)"><time[^>]*>([^<]*)</time></td>', text)
        expect(f"{zone}: sorted by the moment", sorted(dates.values()), sorted(int(v) for v, _ in cells))
        if zone in last:
            expect(f"{zone}: the last hand-ins", last[zone], [shown for _, shown in cells])
            drawn = {day: int(n) for day, n in re.findall(r"<title>([^<]*): (\d+) hand-ins?</title>", section(text, "Attempts over time"))}
            expect(f"{zone}: a bar is a day there", bars[zone], drawn)
    book.hand_in("kx106", "x", at("2025-12-31T20:00:00"))  # in the year before, but in Kolkata
    book.intake()
    for zone, shown in (("UTC0", "31 Dec 2025, 20:00"), (kolkata, "1 Jan, 01:30")):
        expect(f"{zone}: the year, where there are two: {shown}", True, f">{shown}</time></td>" in report(book, env={"TZ": zone}))
    expect("an extension, in the note and among the decisions", 2, len(re.findall(r'to <time datetime="2026-11-08T22:00:00Z"[^>]*>(?:Sun )?8 Nov 2026, 22:00', text)))
    book.judge({"kx101": 3})
    expect("feedback", 0, book.run("export", "--lab", "01", "--feedback", "out", env={"TZ": berlin}).returncode)
    text = (book.dir / "out/students/kx101/feedback.html").read_text()
    for shown in ("Handed in: Sat 24 Oct 2026, 23:30 CEST.", "Deadline: Sun 1 Nov 2026, 23:00 CET.", "24 Oct, 23:30 <span"):
        expect(f"the student's page: '{shown}'", True, shown in text)
    book.remove()


def cost():
    """By the records; and by Slurm's accounting, where sacct answers: of this course's jobs alone."""
    book = GradedClass(backend="cuda", lab='[labs.01.slurm]\ngres = "gpu:h100:2"\n')
    book.hand_in("kx101", "x", DEADLINE - 100)
    book.hand_in("kx102", "x", DEADLINE - 100)
    expect("intake", 0, book.intake().returncode)
    book.judge({"kx101": 3, "kx102": 1}, seconds=1800)
    # An empty folder on PATH, with what Ridge itself calls: no sacct, whatever this machine has.
    bin = book.dir / "bin"
    bin.mkdir()
    env = {"PATH": str(bin)}
    told = section(report(book, env=env), "What grading cost")
    expect("by the records: " + told, True, "2 gradings took 1.00 hours on their nodes, 1800 s each." in told and "With 2 GPUs a job: 2.00 GPU-hours." in told)
    expect("no word of Slurm's", False, "accounting" in told)
    job = book.db().execute("SELECT job FROM batch").fetchone()[0]
    (bin / "sacct").write_text(f"""#!/bin/sh
echo "$*" >{book.dir}/asked
echo '{book.prefix()}a|3600|billing=4,cpu=4,gres/gpu:h100=2,gres/gpu=2,mem=8G,node=1'
echo '{book.prefix()}a|1800|cpu=4,gres/gpu=2'
echo '{book.prefix()}build|900|cpu=4'
echo 'somebody-elses|99999|gres/gpu=8'
echo 'nonsense'
""")
    (bin / "sacct").chmod(0o755)
    told = section(report(book, env=env), "What grading cost")
    expect("by Slurm's accounting: " + told, True, "1.75 hours, 3.00 GPU-hours." in told)
    expect("asked for these jobs", True, f"-j {job} " in (book.dir / "asked").read_text())
    for broken in ("exit 1", "echo Slurm accounting storage is disabled", ""):
        (bin / "sacct").write_text(f"#!/bin/sh\n{broken}\n")
        expect(f"sacct that says '{broken}'", False, "accounting" in section(report(book, env=env), "What grading cost"))
    book.remove()


def show(node, source, build):
    book = GradedClass(head='lessons = "https://ridge.example.edu/course"\n').whole()
    answer(book)
    report(book, env={"TZ": "CET-1CEST,M3.5.0,M10.5.0/3"})
    done = book.run("export", "--lab", "01", "--feedback", "out")
    expect(f"export: {done.stderr}", 0, done.returncode)
    pages = [book.dir / "class.html", *[book.dir / "out/students" / s / "feedback.html" for s in ("kx101", "kx103", "kx107", "kx110")]]
    code = subprocess.run([node, str(HERE / "check_pages.mjs"), source, build, *map(str, pages)]).returncode
    book.remove()
    if code:
        sys.exit(code)


{"page": page, "times": times, "cost": cost, "gpus": gpus, "show": show}[part](*sys.argv[2:])
print(f"{len(checks)} checks")
