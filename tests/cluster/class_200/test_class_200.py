#!/usr/bin/env python3
"""200 students, the real judge, signed records, a virtual Slurm; none of the people is root. Hand-ins come from the dropbox, from
Canvas, Moodle, Gradescope and GitHub Classroom, and from an instructor's folder in 36 forms. The gradebook must be exact: no zero
from a mistake of form, nobody lost, nothing counted twice, and what cannot be graded is listed."""
import pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import csv, io, json
from rehearsal import *
from accounts import Accounts
from qualities import *
import shapes
from shapes import FORMS, person, put

os.environ.pop("RIDGE_TEST_SLURM", None)
tag = f"{os.getpid() % 100000}"
PROF, ADA, BOB, CAT = f"rprof{tag}", f"rada{tag}", f"r_bob_{tag}", f"rcat{tag}"
UMASK = {ADA: "077", BOB: "077", CAT: "022"}
base = pathlib.Path(tempfile.mkdtemp(prefix="ridge-class."))
base.chmod(0o755)
NOW = time.time()
IN_TIME, DEADLINE, LATE = NOW - 48 * 3600, NOW - 23 * 3600, NOW - 20 * 3600
KINDS = qualities()
people = Accounts([PROF, ADA, BOB, CAT], base / "home")
home, course = base / "home" / PROF, base / "home" / PROF / "course"
expected, plan, dates = {}, [], {}  # student -> percent; (student, how it came); path -> date


def prof(*words, code=0, **more):
    done = people.run(PROF, RIDGE, "cluster", words[0], "--course", course / "course.toml", *words[1:], limit=1500, SLURM_CONF=conf, **more)
    if code is not None:
        expect(f"{words[:3]}: {(done.stdout + done.stderr)[-6000:]}", code, done.returncode)
    return done


def rosters():
    return [w for name in ("roster", "canvas", "worksheet", "classroom") for w in ("--roster", course / (name + ".csv"))]


def take_in(folder, *more, code=0):
    return prof("intake", "--lab", "01", "--submissions", course / folder, *rosters(), *more, code=code)


def rows(sql):
    with sqlite3.connect(f"file:{course}/gradebook.sqlite?mode=ro", uri=True, timeout=20) as db:
        return db.execute(sql).fetchall()


def given(student, how, kind, late=False, told=False):
    """Notes what a hand-in must earn."""
    expected[student] = None if told else worth[kind] * (0.9 if late else 1)
    plan.append((student, how, kind))
    return KINDS.get(kind, SOLUTION)


def quality(i):
    return list(KINDS)[i % len(KINDS)]


def make_class():
    lines = ["id,name,email"]
    def enrol(i, id):
        lines.append(f"{id},{' '.join(person(i))},{id.strip()}@example.edu")
        return id
    for i, account in enumerate((ADA, BOB, CAT)):
        enrol(i, account)
    crlf = lambda i, kind: "CRLF" in shapes.loose(i)[1] and i % 5 and i % 4
    kind_of = lambda i: "solution" if "CRLF" in shapes.loose(i)[1] else quality(i)
    late = {i for i in range(3, 43) if i % 7 == 0}
    students = {i: (enrol(i, f"u{i:03}"), KINDS[kind_of(i)]) for i in range(3, 43)}
    text, used = shapes.canvas(course / "canvas", students, late)
    put(course / "canvas.csv", text)
    for i in students:
        given(f"u{i:03}", "Canvas, " + used[i], "CRLF" if used[i] == "CRLF" else kind_of(i), i in late)
        for path in (course / "canvas").glob(f"*_{9000 + i}_{70000 + i}_*"):
            dates[path] = LATE if i in late else IN_TIME
    students = {i: (enrol(i, f"u{i:03}"), KINDS[kind_of(i)]) for i in range(43, 78)}
    text, used = shapes.moodle(course / "moodle", students)
    put(course / "worksheet.csv", text)
    for i in students:
        given(f"u{i:03}", "Moodle, " + used[i], "CRLF" if used[i] == "CRLF" else kind_of(i))
    ids = [enrol(i, f"u{i:03}") for i in range(78, 96)]
    groups = {n: (ids[n - 78:n - 77] + ids[n - 78 + 15:n - 78 + 16], KINDS[quality(n)]) for n in range(78, 93)}  # three of two students
    shapes.gradescope(course / "gradescope", groups)
    for n, (members, _) in groups.items():
        for id in members:
            given(id, f"Gradescope, {len(members)}", quality(n))
    students = {i: (enrol(i, f"u{i:03}"), KINDS[quality(i)]) for i in range(96, 110)}
    put(course / "classroom.csv", shapes.github(course / "github", students))
    for i in students:
        given(f"u{i:03}", "GitHub Classroom", quality(i))
    for n in range(72):  # each form twice
        name = list(FORMS)[n % 36]
        form, graded = FORMS[name]
        changes = {"CRLF": "CRLF", "Latin-1 comments": "Latin-1"}
        kind = changes.get(name, "solution" if graded is None or name == "extra files" else quality(n + n // 36))
        id = enrol(110 + n, f"u{110 + n}")
        form(given(id, name, kind, told=graded is None), course / "plain" / id)
    special(enrol)
    put(course / "roster.csv", "\n".join(lines) + "\n")
    expect("200 students", 200, len(lines) - 1)


def special(enrol):
    """What is about names, dates and repetitions. 18 students."""
    plain = course / "plain"
    for i, (id, entry) in enumerate({"0048182": "48182", "48183": "0048183", "u184": "  u184 ", "u185": "u185@example.edu", "u186": "U186",
                                     "u187": "Lab 1 (u187) final"}.items()):
        shapes.folder(given(enrol(182 + i, id), f"called '{entry}'", quality(i)), plain / entry)
    shapes.folder(given(enrol(188, "u188"), "misnamed", "solution"), plain / "my homework")
    put(plain / "u189.zip", shapes.zipped(KINDS["stub"]))
    put(plain / "u189_final.zip", shapes.zipped(given(enrol(189, "u189"), "handed in twice", "solution")))
    dates[plain / "u189.zip"] = IN_TIME - 3600
    shapes.folder(given(enrol(190, "u190"), "A, B, A", "copy_tail_lost"), plain / "u190")
    for i, how in ((191, "late"), (192, "late, extended")):
        shapes.folder(given(enrol(i, f"u{i}"), how, "solution", late=how == "late"), plain / f"u{i}")
        dates[plain / f"u{i}"] = LATE
    shapes.folder(given(enrol(193, "u193"), "dates in the future", "solution", late=True), plain / "u193")
    dates[plain / "u193"] = 4e9
    shapes.folder(given(enrol(194, "u194"), "resubmitted while grading", "solution"), plain / "u194")
    put(plain / "u194/copy.cu", KINDS["stub"]["copy.cu"])
    for i in (195, 196):
        shapes.folder(given(enrol(i, f"u{i}"), "twins", "own"), plain / f"u{i}")
        put(plain / f"u{i}/copy.cu", SOLUTION["copy.cu"] + "// of both of us\n")
    given(enrol(197, "u197"), "nothing", "solution", told=True)
    for i in (198, 199):
        shapes.folder(given(enrol(i, f"u{i}"), "one file alone", "one file of four"), plain / f"u{i}")


def own_and_date():
    for path, dirs, files in os.walk(course):
        for name in [*dirs, *files, "."]:
            os.lchown(os.path.join(path, name), *owner)
    for folder in ("canvas", "moodle", "gradescope", "github", "plain"):
        for path, dirs, files in os.walk(course / folder):
            for name in [*dirs, *files]:
                os.utime(os.path.join(path, name), (IN_TIME, IN_TIME), follow_symlinks=False)
    for path, date in dates.items():
        for file in [path, *path.rglob("*")] if path.is_dir() else [path]:
            os.utime(file, (date, date))
    for folder in shapes.CLOSED:
        os.chown(folder, 0, 0)
        folder.chmod(0o700)


def hand_in(student, kind):
    folder = base / "home" / student / "mine"
    shapes.folder(KINDS[kind], folder)
    subprocess.run(["chown", "-R", student, str(folder)], check=True)
    done = people.run(student, RIDGE, "submit", "01", "--unchecked", "--submission", folder, umask=UMASK[student], RIDGE_DROPBOX=str(course / "box"))
    expect(f"{student} hands in: {done.stdout}{done.stderr}", (0, True), (done.returncode, "Handed in" in done.stdout))


def dropbox():
    people.run(PROF, "install", "-d", "-m", "3733", course / "box", course / "box" / LAB)
    for path in (home, course):
        path.chmod(0o711)
    hand_in(ADA, "stub")
    hand_in(BOB, "copy_tail_lost"), hand_in(CAT, "aos_naive")
    time.sleep(1.1)
    hand_in(ADA, "solution")
    for student, kind in ((ADA, "solution"), (BOB, "copy_tail_lost"), (CAT, "aos_naive")):
        given(student, "ridge submit", kind)


def rewrite(student, name, text):
    file = course / "plain" / student / name
    file.write_text(text)
    os.utime(file, None)


def check_exports():
    export = lambda *words: prof("export", "--lab", "01", *words).stdout
    table = list(csv.DictReader(io.StringIO(export())))
    expect("a row for each student, once", sorted(expected), sorted(r["student"] for r in table))
    got = {r["student"]: float(r["percent"]) if r["percent"] else None for r in table}
    how = {s: (h, k) for s, h, k in plan}
    wrong = {s: (how[s], expected[s], got[s]) for s in expected if (expected[s] is None) != (got[s] is None) or
             (got[s] is not None and abs(expected[s] - got[s]) > 0.01)}
    expect("the gradebook", {}, wrong)
    full = json.loads(export("--format", "json"))
    unexplained = [r["student"] for r in full if r["percent"] is None and not r["problem"] and r["student"] != "u197"]
    expect("who has no grade has a reason", [], unexplained)
    scored = [r["student"] for r in json.loads(export("--format", "gradescope", "--points", "100"))]
    expect("Gradescope: all that have a grade", sorted(s for s in got if got[s] is not None), sorted(scored))
    for system, name, key, column in (("canvas", "canvas", "SIS Login ID", "Lab 1: 01_coalescing (815)"), ("moodle", "worksheet", "ID number", "Grade")):
        text = (course / f"{name}.csv").read_text()
        filled = list(csv.DictReader(io.StringIO(export("--format", system, "--from", str(course / f"{name}.csv")))))
        scale = 0.5 if system == "canvas" else 1
        for before, row in zip(csv.DictReader(io.StringIO(text)), filled):
            if row[key]:
                expect(f"{system}: {row[key]}", True, abs(float(row[column]) - expected[row[key]] * scale) < 0.011)
            expect(f"{system}: nothing else is changed", {k: v for k, v in before.items() if k != column}, {k: v for k, v in row.items() if k != column})
    return got


def whole_class():
    begun = time.monotonic()
    made = people.run(PROF, RIDGE, "key", "new", course / "key")
    if made.returncode:
        skip("no signing here: " + made.stderr)
    (course / "seeds").write_bytes(os.urandom(32))
    (course / "seeds").chmod(0o600)
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(DEADLINE))
    put(course / "course.toml", f'name = "Class"\nseeds = "seeds"\n[grading]\nsigning_key = "key"\nkeys = ["{course}/key.pub"]\nlimit_s = {LIMIT_S}\n'
        f'{"" if sandboxed else "require_sandbox = false"}\n[slurm]\npartition = "grade"\ncpus = 1\n[labs.01]\ndeadline = {date}\n'
        "late = { percent_per_day = 10, days = 20 }\n".replace('seeds = "seeds"\n', ""))
    text = (course / "course.toml").read_text()
    put(course / "course.toml", text.replace('name = "Class"\nseeds = "seeds"\n', 'name = "Class"\n').replace("[grading]\n", f'[grading]\nseeds = "{course}/seeds"\n'))
    make_class()
    own_and_date()
    dropbox()
    told = {s for s, how, _ in plan if expected[s] is None and how != "nothing"}
    # A dry run lists every problem and keeps nothing.
    dry = take_in("plain", "--dry-run", code=3).stdout
    problems = [line for line in dry.splitlines() if line.strip().startswith("problem:")]
    expect("a dry run lists what can't be graded, and the misnamed entry: " + "\n".join(problems), len(told) + 1, len(problems))
    expect("and keeps nothing", [], rows("SELECT * FROM submission"))
    for folder in ("canvas", "moodle", "gradescope", "github", "box/" + LAB):
        take_in(folder)
    take_in("plain", code=3)
    stopped = prof("export", "--lab", "01", code=3)
    expect("the misnamed entry stops the export", True, "my homework" in stopped.stderr and stopped.stdout == "")
    (course / "plain/my homework").rename(course / "plain/u188")
    for kind in ("stub", "copy_tail_lost"):  # A, B, A
        rewrite("u190", "copy.cu", KINDS[kind]["copy.cu"])
        take_in("plain")
    for student in (ADA, BOB, CAT, "u190", "u192", "u194"):
        prof("extend", "--lab", "01", "--student", student, "--until", "2100-01-01T00:00:00Z", "--reason", "agreed")
    taken = time.monotonic()
    words = ("grade", "--lab", "01", "--submissions", course / "plain", *rosters())
    process = people.start(PROF, RIDGE, "cluster", words[0], "--course", course / "course.toml", *words[1:], SLURM_CONF=conf)
    while process.poll() is None and len(rows("SELECT token FROM result")) < 2:
        time.sleep(0.2)
    rewrite("u194", "copy.cu", SOLUTION["copy.cu"])
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    prof(*words)
    graded = time.monotonic()
    got = check_exports()
    expect("one result counts of each work", [], rows("SELECT work FROM result WHERE counts = 1 GROUP BY work HAVING count(*) > 1"))
    expect("no work is open", [], rows("SELECT id FROM work WHERE state <> 'graded'"))
    expect("the database", [("ok",)], rows("PRAGMA integrity_check"))
    results = rows("SELECT token, points, record FROM result ORDER BY token")
    again = prof(*words)
    expect("a second run takes nothing in: " + again.stdout, True, ": 0 submissions taken in" in again.stdout)
    expect("and changes nothing", results, rows("SELECT token, points, record FROM result ORDER BY token"))
    for i, row in enumerate(results):
        (course / f"{i}.json").write_text(row[2])
    people.run(PROF, "true")
    verify = subprocess.run([RIDGE, "verify", *[f"{course}/{i}.json" for i in range(len(results))], "--key", f"{course}/key.pub"], capture_output=True, text=True)
    expect("ridge verify of all records: " + verify.stdout + verify.stderr, 0, verify.returncode)
    expect("no file of the gradebook is root's", {PROF}, {p.owner() for p in course.glob("gradebook.sqlite*")})
    zeros = {s for s, p in got.items() if p == 0}
    lawful = {s for s in expected if expected[s] == 0}
    expect("zeros", lawful, zeros)
    print(f"200 students ({len(set(h.split(',')[0] for _, h, _ in plan))} ways, {len(KINDS)} qualities), {len(results)} different contents: "
          f"{sum(p is not None for p in got.values())} graded, {len(told)} listed with a reason, 1 handed in nothing; intake {taken - begun:.0f} s, "
          f"grading {graded - taken:.0f} s; zeros {len(zeros)}, from mistakes of form 0; sandbox required: {'yes' if sandboxed else 'no'}")


try:
    if people.why:
        skip(people.why)
    if people.run(ADA, RIDGE, "--version").returncode:
        skip(f"other accounts can't run {RIDGE}")
    with Slurm(4) as slurm:
        pathlib.Path(slurm.dir).chmod(0o755)
        conf = slurm.env["SLURM_CONF"]
        course.mkdir()
        owner = (course.parent.stat().st_uid, course.parent.stat().st_gid)
        shutil.chown(course, PROF)
        sandboxed = True
        worth = {name: percent(files) for name, files in KINDS.items()}
        # Of 15 for copy, 25, 35 for transpose and 25 for gather.
        expect("a misspelt function costs its own task alone", 65.0, round(worth["misspelt function"], 2))
        expect("and a helper that two files define theirs", 60.0, round(worth["a helper twice"], 2))
        worth["CRLF"] = percent({n: t.replace("\n", "\r\n").encode() for n, t in SOLUTION.items()})
        worth["Latin-1"] = percent({n: b"// gr\xf6\xdfe\n" + t.encode() for n, t in SOLUTION.items()})
        worth["empty file"] = percent({n: t for n, t in SOLUTION.items() if n != "gather.cu"})  # as if it were missing
        worth["own"] = worth["solution"]
        print({k: round(v, 2) for k, v in worth.items()}, flush=True)
        whole_class()
finally:
    people.remove()
    shutil.rmtree(base, ignore_errors=True)
print(f"{len(checks)} checks")
