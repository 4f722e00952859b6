#!/usr/bin/env python3
"""A class of students from intake to the LMS's file, on a virtual Slurm with the stand-in judge.

test_class.py [short|load]    load: 500 students
"""
import csv, io, json, tarfile, zipfile
from rehearsal import *

part = (sys.argv + ["short"])[1]


def hostile_archives(course):
    """Every one of them is refused with a word on why, and none writes outside of its folder."""
    def tar(name, *members):
        with tarfile.open(course.dir / "submissions" / f"{name}.tar.gz", "w:gz") as t:
            for path, kind, data in members:
                info = tarfile.TarInfo(path)
                info.type = kind
                info.linkname = data if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
                info.size = len(data) if kind == tarfile.REGTYPE else 0
                t.addfile(info, io.BytesIO(data.encode()) if kind == tarfile.REGTYPE else None)
        course.expected[name] = None
    good = ("copy.cu", tarfile.REGTYPE, "// points 100\n")
    tar("slip", ("../escaped.cu", tarfile.REGTYPE, "x"), good)
    tar("absolute", (f"{course.dir}/escaped.cu", tarfile.REGTYPE, "x"), good)
    tar("link", ("copy.cu", tarfile.SYMTYPE, "/etc/passwd"))
    tar("hardlink", ("copy.cu", tarfile.LNKTYPE, "/etc/passwd"))
    tar("fifo", ("copy.cu", tarfile.FIFOTYPE, ""))
    tar("device", ("copy.cu", tarfile.CHRTYPE, ""))
    tar("large", ("copy.cu", tarfile.REGTYPE, "x" * (5 << 20)))
    tar("many", good, *[(f"{i}.cu", tarfile.REGTYPE, "") for i in range(5100)])
    with zipfile.ZipFile(course.dir / "submissions/zipslip.zip", "w") as z:
        z.writestr("lab/../../escaped.cu", "x")
    with zipfile.ZipFile(course.dir / "submissions/bomb.zip", "w", zipfile.ZIP_DEFLATED) as z:
        for i in range(40):
            z.writestr(f"{i}.cu", "\0" * (3 << 20))
    (course.dir / "submissions/garbage.zip").write_bytes(os.urandom(3000))
    folder = course.dir / "submissions/linkfolder"
    folder.mkdir()
    (folder / "copy.cu").symlink_to("/etc/passwd")
    fifo = course.dir / "submissions/fifofolder"
    fifo.mkdir()
    os.mkfifo(fifo / "copy.cu")
    for name in ("zipslip", "bomb", "garbage", "linkfolder", "fifofolder"):
        course.expected[name] = None


def other_shapes(course):
    with zipfile.ZipFile(course.dir / "submissions/doe_zipped_77_lab.zip", "w") as z:
        z.writestr("my work/copy.cu", "// points 40 zipped\n")
        z.writestr("__MACOSX/copy.cu", "junk")
    course.expected["zipped"] = 40.0
    repo = course.dir / "submissions/repo"
    def git(*words, date):
        stamp = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        subprocess.run(["git", "-C", str(repo), "-c", "user.name=N", "-c", "user.email=n@example.edu", *words], check=True,
                       capture_output=True, env={**course.env, **stamp})
    repo.mkdir()
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    for points, date in ((60, "2026-10-01T10:00:00Z"), (90, "2026-12-24T10:00:00Z")):
        (repo / "copy.cu").write_text(f"// points {points} by commit\n")
        git("add", "copy.cu", date=date)
        git("commit", "-qm", "x", date=date)
    # What a hostile repository would have git run: it must not.
    with open(repo / ".git/config", "a") as f:
        f.write(f'[core]\n\tfsmonitor = touch {course.dir}/escaped.cu\n\tsshCommand = touch {course.dir}/escaped.cu\n'
                f'[filter "x"]\n\tsmudge = touch {course.dir}/escaped.cu\n[uploadpack]\n\tpackObjectsHook = touch {course.dir}/escaped.cu\n')
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/attributes").write_text("* filter=x\n")
    course.expected["repo"] = 60.0  # the deadline lies between the commits


def exports(course, lab="01_coalescing"):
    def export(*words):
        done = course.run("export", "--lab", "01", *words)
        expect(f"export {words}: {done.stderr}", 0, done.returncode)
        return done.stdout
    rows = list(csv.DictReader(io.StringIO(export("--format", "csv"))))
    expect("csv: grades", {k: v for k, v in course.expected.items()},
           {r["student"]: float(r["percent"]) if r["percent"] else None for r in rows})
    expect("json: as many", len(course.expected), len(json.loads(export("--format", "json"))))
    head = "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_score"
    expect("nbgrader: header", head, export("--format", "nbgrader").splitlines()[0])
    scored = json.loads(export("--format", "gradescope", "--points", "10"))
    expect("gradescope: who has a grade", {k for k, v in course.expected.items() if v is not None}, {r["student"] for r in scored})
    # Canvas: its own quoting, a byte order mark, CRLF and a comma in a name stay; one column is filled.
    canvas = ("\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Lab 1: 01_coalescing (4711),Other (1),Final\r\n"
              '    Points Possible,,,,,50,10,"(read only)"\r\n'
              '"Doe, Jane",101,,s0@example.edu,"Sec ""A""",,7.5,\r\n'
              "Roe,102,,s1,S,old, 3 ,\r\nNobody,103,,stranger,S,,,\r\n\"Late, \",104,slip,,S,keep,,\r\n")
    (course.dir / "canvas.csv").write_bytes(canvas.encode())
    done = course.run("export", "--lab", "01", "--format", "canvas", "--from", str(course.dir / "canvas.csv"), "-o",
                      str(course.dir / "filled.csv"))
    expect("canvas: " + done.stderr, 0, done.returncode)
    number = lambda s: f"{course.expected[s] / 2:.2f}".rstrip("0").rstrip(".")
    wanted = canvas.replace('"Sec ""A""",,7.5', f'"Sec ""A""",{number("s0")},7.5').replace("S,old,", f"S,{number('s1')},")
    expect("canvas: byte for byte", wanted.encode(), (course.dir / "filled.csv").read_bytes())
    (course.dir / "moodle.csv").write_text('Identifier,"Full name","Email address",Grade,"Feedback comments"\n'
                                           'Participant 1,N,s1@example.edu,,"a, b"\n')
    done = course.run("export", "--lab", "01", "--format", "moodle", "--from", str(course.dir / "moodle.csv"))
    points = f"{course.expected['s1']:.2f}".rstrip("0").rstrip(".")
    expect("moodle", f'Participant 1,N,s1@example.edu,{points},"a, b"', done.stdout.splitlines()[1])


def totals(course):
    """By weights: lab 01 has 3; of lab 02, with 1, nobody handed anything in, and its deadline is over; lab 03's is not."""
    file = course.dir / "course.toml"
    text = file.read_text()
    file.write_text(text.replace("[labs.01]\n", "[labs.01]\nweight = 3\n") + "[labs.02]\ndeadline = 2020-01-01T00:00:00Z\n"
                    "[labs.03]\nweight = 40\ndeadline = 2100-01-01T00:00:00Z\n")
    done = course.run("export", "--lab", "total")
    expect("totals: " + done.stderr, 0, done.returncode)
    rows = {r["student"]: r for r in csv.DictReader(io.StringIO(done.stdout))}
    expect("totals by weights", {k: None if v is None else round(v * 3 / 4, 2) for k, v in course.expected.items()},
           {k: round(float(r["percent"]), 2) if r["percent"] else None for k, r in rows.items()})
    expect("a total says what it is of", True, "02_" in rows["s1"]["note"] and "nothing handed in: 0" in rows["s1"]["note"])
    weight = {r["weight"] for r in json.loads(course.run("export", "--lab", "01", "--format", "json").stdout)}
    expect("a lab's export says its weight", {3.0}, weight)
    file.write_text(text)


def told_first(slurm):
    """What is wrong with hand-ins stands there before a job is sent."""
    course = Course(slurm)
    course.add("good", "slow 2 50", 50.0)
    (course.dir / "submissions/bad.zip").write_text("no archive")
    course.roster()
    with open(course.dir / "roster.csv", "a") as f:
        f.write("bad,N bad,\n")
    said = course.dir / "said"
    with open(said, "w") as f:
        process = subprocess.Popen(course.command(*course.grade_words()), env=course.env, stdout=f, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list(course.dir.glob("shared/batches/*/plan.json")):
        time.sleep(0.02)
    expect("a job is about to be sent", None, process.poll())
    expect("the problem is told: " + said.read_text(), True, "problem: bad.zip: " in said.read_text())
    process.wait(timeout=60)
    course.remove()


def short(slurm):
    told_first(slurm)
    course = Course(slurm, grading="retries = 0\n")
    # A container, as a site's profile names it: the judge starts inside.
    (course.dir / "container").write_text(f'#!/bin/sh\necho "$1" >>{course.dir}/entered\nshift\nexec "$@"\n')
    (course.dir / "container").chmod(0o755)
    (course.dir / "site.toml").write_text(f'container = "{course.dir}/container image.sif"\n')
    with open(course.dir / "course.toml") as f:
        text = f.read()
    (course.dir / "course.toml").write_text('site = "./site.toml"\n' + text)
    with open(course.dir / "course.toml", "a") as f:
        f.write("deadline = 2026-11-01T00:00:00Z\nlimit_s = 2\nlate = { percent_per_day = 10, days = 20 }\n")
    old = time.mktime((2026, 10, 20, 0, 0, 0, 0, 0, 0))
    for i in range(12):
        course.add(f"s{i}", f"points {i * 9} of {i}", i * 9.0)
    course.add("twin", "points 9 of 1", 9.0)
    course.add("unbuilt", "build 0", 0.0)
    course.add("hangs", "hang", None)
    course.add("orphan", "orphan 70", 70.0)
    for p in course.dir.glob("submissions/*/copy.cu"):
        os.utime(p, (old, old))
    hostile_archives(course)
    other_shapes(course)
    for p in (course.dir / "submissions").iterdir():
        os.utime(p, (old, old), follow_symlinks=False)
    course.roster()
    (course.dir / "submissions/stranger").mkdir()
    done = course.run(*course.grade_words(), limit=100)
    expect("exit code: one was not graded: " + done.stderr, 3, done.returncode)
    got = {k: course.gradebook().get(k) for k in course.expected}
    expect("gradebook", course.expected, got)
    expect("nothing escaped", False, (course.dir / "escaped.cu").exists() or (course.dir / "submissions/escaped.cu").exists())
    for name, word in (("slip", "`..`"), ("absolute", "absolute"), ("link", "a link"), ("hardlink", "a link"),
                       ("fifo", "neither a file"), ("device", "neither a file"), ("large", "4 MiB"), ("many", "5000 files"),
                       ("zipslip", "`..`"), ("bomb", "16 MiB"), ("garbage", "neither a zip"),
                       ("linkfolder", "holds none"), ("stranger", "nobody on the roster")):
        line = [l for l in done.stdout.splitlines() if l.strip().startswith((f"problem: {name}:", f"problem: {name}."))]
        expect(f"{name}: said once", 1, len(line))
        expect(f"{name}: {line[0]}", True, word in line[0])
    entered = (course.dir / "entered").read_text().split()
    expect("every judge was started in the container", (course.rows("SELECT count(*) FROM attempt")[0][0], {"image.sif"}),
           (len(entered), set(entered)))
    expect("twins are graded once", 1, course.rows("SELECT count(*) FROM work w JOIN submission s ON s.content = w.content WHERE s.student = 'twin'")[0][0])
    hung = course.rows("SELECT reason FROM work WHERE state = 'not-graded'")
    expect("the hung one says why", True, len(hung) == 1 and "did not end within 2 s" in hung[0][0])
    left = [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"sleep\x00600" in p.read_bytes()
            and str(course.dir).encode() in (p.parent / "environ").read_bytes()]
    expect("processes that outlived their job", [], left)
    before = course.rows("SELECT * FROM result ORDER BY token")
    attempts = course.rows("SELECT count(*) FROM attempt a JOIN work w ON w.id = a.work WHERE w.state = 'graded'")
    course.run("cancel")
    again = course.run("grade", "--lab", "01", "--submissions", str(course.dir / "submissions"), "--detach")
    course.run("cancel")
    expect("a second run takes nothing in: " + again.stdout, True, ": 0 submissions taken in" in again.stdout)
    expect("results after a second run", before, course.rows("SELECT * FROM result ORDER BY token"))
    expect("attempts after a second run", attempts, course.rows("SELECT count(*) FROM attempt a JOIN work w ON w.id = a.work WHERE w.state = 'graded'"))
    stopped = course.run("export", "--lab", "01")
    expect("an entry that belongs to nobody stops the export: " + stopped.stderr, (3, "", True),
           (stopped.returncode, stopped.stdout, "stranger" in stopped.stderr))
    (course.dir / "submissions/stranger").rmdir()
    course.run("intake", "--lab", "01", "--submissions", str(course.dir / "submissions"))
    exports(course)
    totals(course)
    seconds = [s for s, in course.rows("SELECT seconds FROM result")]
    guess = course.run("estimate", "--lab", "01", "--more", "6", "--nodes", "4").stdout
    open_works = course.rows("SELECT count(*) FROM work WHERE state IN ('waiting', 'running')")[0][0]
    hours = -(-(6 + open_works) // 4) * sum(seconds) / len(seconds) / 3600
    expect("the estimate for four nodes: " + guess, True, f"about {hours:.2f} hours on 4 nodes" in guess and f"the mean of {len(seconds)}" in guess)
    # decisions
    expect("an override needs a student", 2, course.run("override", "--lab", "01", "--student", "nobody", "--percent", "5", "--reason", "x").returncode)
    expect("an override needs a reason", 2, course.run("override", "--lab", "01", "--student", "s0", "--percent", "5", "--reason", " ").returncode)
    expect("override", 0, course.run("override", "--lab", "01", "--student", "s0", "--percent", "55", "--reason", "ill", "--author", "Prof").returncode)
    expect("the override counts", True, "s0,N s0,55," in course.run("export", "--lab", "01").stdout)
    report = course.run("report", "--lab", "01").stdout
    expect("the report says who decided and why", True, "override s0 55: ill (Prof)" in report)
    expect("the report names twins", True, "byte for byte: s1, twin" in report)
    course.remove()


def load(slurm):
    course = Course(slurm)
    for i in range(500):
        course.add(f"s{i}", f"points {i * 7 % 101} of {i}", float(i * 7 % 101))
    course.roster()
    start = time.monotonic()
    done = course.run(*course.grade_words())
    took = time.monotonic() - start
    expect("exit code: " + done.stderr, 0, done.returncode)
    course.check()
    print(f"500 trivial submissions (the stand-in judge) in {took:.1f} s")
    course.remove()


with Slurm(4) as slurm:
    {"short": short, "load": load}[part](slurm)
print(f"{len(checks)} checks")
