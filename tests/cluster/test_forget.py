#!/usr/bin/env python3
"""Retention, without Slurm: what `ridge cluster forget` deletes, what it keeps, and what an interruption leaves."""
import fcntl, re, signal
from graded_class import *

OLD = 400 * 86400


def age(book, seconds=OLD):
    """All that was taken in or graded so far is older by so much."""
    with book.db() as db:
        db.execute("UPDATE submission SET taken = taken - ?", (seconds,))
        db.execute("UPDATE result SET taken = MAX(taken - ?, 1)", (seconds,))


def kept(book):
    """All rows but those of events."""
    with book.db() as db:
        return {t: db.execute(f"SELECT * FROM {t} ORDER BY rowid").fetchall() for t in ("student", "submission", "work", "attempt", "result", "decision")}


def contents(book):
    return {p.name: sorted(f.name for f in p.iterdir()) for p in (book.dir / f"shared/contents/{LAB}").iterdir()}


def events(book):
    with book.db() as db:
        return [e for e, in db.execute("SELECT what FROM event WHERE what LIKE '%deleted by%'")]


def content_of(book, student):
    with book.db() as db:
        return db.execute("SELECT content FROM submission WHERE student = ? AND content <> '' ORDER BY id DESC", (student,)).fetchone()[0]


def log(book, name, days):
    file = book.dir / "shared/log" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("what a job printed\n")
    os.utime(file, (time.time() - days * 86400,) * 2)
    return file


def rules():
    book = GradedClass().whole()
    age(book)
    book.hand_in("kx105", "of today", time.time() - 60)  # graded, and not old
    expect("intake", 0, book.intake().returncode)
    book.judge({"kx105": 3})
    with book.db() as db:
        db.execute("UPDATE result SET taken = strftime('%s') WHERE work = (SELECT MAX(work) FROM result)")
        db.execute("INSERT INTO batch(name, lab, state, tasks, made) VALUES('ridge-open', ?, 'submitted', 1, 1)", (LAB,))
    taken = book.dir / "shared/taken"
    taken.mkdir(exist_ok=True)
    (taken / "token.json").write_text("{}")
    os.utime(taken / "token.json", (1, 1))
    logs = [log(book, "ridge-a.0.log", 400), log(book, "ridge-b.0.log", 2), log(book, "ridge-open.0.log", 400)]
    before, files = kept(book), contents(book)
    grades = book.run("export", "--lab", "01").stdout
    stays = {content_of(book, s) for s in ("kx105", "kx109", "kx112")}  # of today, hung, waiting
    for words in ((), ("--older-than", "0"), ("--older-than", "-3"), ("--older-than", "soon")):
        expect(f"forget {words} is no use", 2, book.run("forget", *words).returncode)
    # What a killed intake left, also of a lab that the course has no more.
    halves = [book.dir / "shared/contents" / lab / name for lab, name in ((LAB, ".staging-0123"), ("77_gone", ".staging-4567"), ("77_gone", ".forgotten-89"))]
    for half in halves:
        half.mkdir(parents=True)
        (half / "copy.cu").write_text("// of a student\n")
    dry = book.run("forget", "--older-than", "365")
    expect("it lists what an interrupted run left: " + dry.stdout, [True] * 3, [str(h) in dry.stdout or h.name in dry.stdout for h in halves])
    swept = book.run("forget", "--older-than", "36500", "--yes")
    expect("and deletes that: " + swept.stdout + swept.stderr, (0, [False] * 3), (swept.returncode, [h.exists() for h in halves]))
    dry = book.run("forget", "--older-than", "365")
    expect("dry run: " + dry.stdout + dry.stderr, 0, dry.returncode)
    expect("it keeps all", (before, files, [True] * 3), (kept(book), contents(book), [f.exists() for f in logs]))
    expect("it lists what would go", {c[:8] for c in files if c not in stays}, set(re.findall(rf"^  {LAB} ([0-9a-f]{{8}})  ", dry.stdout, re.M)))
    expect("with the students", True, bool(re.search(r"bytes +kx108$", dry.stdout, re.M)) and "dry run" in dry.stdout)
    expect("and counts", True, f"{len(files) - 3} graded works, and 1 logs" in dry.stdout and "not done, are kept: 2." in dry.stdout)
    expect("nothing is so old", (0, files), (book.run("forget", "--older-than", "900", "--yes").returncode, contents(book)))
    done = book.run("forget", "--older-than", "365", "--yes")
    expect("forget: " + done.stdout + done.stderr, 0, done.returncode)
    expect("what stays", {c: files[c] for c in stays}, contents(book))
    expect("the gradebook", before, kept(book))
    expect("grades", grades, book.run("export", "--lab", "01").stdout)
    expect("logs", [False, True, True], [f.exists() for f in logs])
    expect("what jobs published", True, (taken / "token.json").exists())
    expect("each is in the log of events", {c for c in files if c not in stays}, {e.split(" the files ")[1].split()[0] for e in events(book) if "the files" in e})
    # The other commands, without the files.
    for words in (("report", "--lab", "01", "--html", "page.html"), ("export", "--lab", "01", "--feedback", "feedback"), ("export", "--lab", "total")):
        after = book.run(*words)
        expect(f"{words}: {after.stderr}", 0, after.returncode)
    expect("findings without the code", True, (book.dir / "feedback/students/kx101/feedback.html").exists())
    alike = book.run("similar", "--lab", "01")
    expect("similar tells: " + alike.stdout + alike.stderr, True, "the files are gone" in alike.stdout + alike.stderr)
    again = book.run("regrade", "--lab", "01", "--student", "kx101", "--reason", "why not", "--detach")
    expect("regrade: " + again.stderr, (2, True, before), (again.returncode, "are deleted" in again.stderr, kept(book)))
    # Who hands in the same once more has files again, and the same grade.
    expect("intake", 0, book.intake().returncode)
    expect("the files are there again", True, content_of(book, "kx101") in contents(book))
    expect("and the grade", grades, book.run("export", "--lab", "01").stdout)
    book.remove()


def interrupted():
    """A second process, a shared folder that is away, and kills: each work is whole or gone, and the next run ends it."""
    book = GradedClass().whole()
    age(book)
    files = contents(book)
    forget = ("forget", "--older-than", "365", "--yes")
    with open(book.dir / "gradebook.sqlite.collector", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = book.run(*forget)
    expect("beside a collector: " + busy.stderr, (3, files), (busy.returncode, contents(book)))
    (book.dir / "shared").rename(book.dir / "elsewhere")
    away = book.run(*forget)
    expect("the shared folder is away: " + away.stderr, (3, []), (away.returncode, events(book)))
    (book.dir / "elsewhere").rename(book.dir / "shared")
    place = book.dir / f"shared/contents/{LAB}"
    one = content_of(book, "kx101")
    with book.db() as db:  # 400 works of one graded content, so that a kill comes in the middle
        submission = db.execute("SELECT * FROM submission WHERE content = ?", (one,)).fetchone()
        work = db.execute("SELECT * FROM work WHERE content = ?", (one,)).fetchone()
        result = db.execute("SELECT * FROM result WHERE work = ? AND counts = 1", (work[0],)).fetchone()
        attempt = db.execute("SELECT * FROM attempt WHERE token = ?", (result[0],)).fetchone()
        for i in range(400):
            name = f"{i:064x}"
            shutil.copytree(place / one, place / name)
            db.execute("INSERT INTO submission VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)", (*submission[1:3], name, *submission[4:]))
            id = db.execute("INSERT INTO work VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?)", (work[1], name, *work[3:])).lastrowid
            db.execute("INSERT INTO attempt VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (f"t{i}", id, *attempt[2:]))
            db.execute("INSERT INTO result VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (f"t{i}", id, *result[2:]))
    before, files, kills = kept(book), contents(book), 0
    for sign in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
        told = len(events(book))
        process = subprocess.Popen(book.command(*forget), env=book.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(events(book)) < told + 20:
            time.sleep(0.005)
        process.send_signal(sign)
        kills += process.wait() != 0
        left = contents(book)
        expect(f"{sign.name}: each is whole or gone", {}, {c: f for c, f in left.items() if not c.startswith(".") and f != files[c]})
        expect(f"{sign.name}: the gradebook", before, kept(book))
        expect(f"{sign.name}: what is gone is noted", set(), set(files) - set(left) - {e.split(" the files ")[1].split()[0] for e in events(book)})
    expect("it was ended in the middle", True, kills >= 2)
    (place / f".forgotten-{one}").mkdir(exist_ok=True)
    (place / f".forgotten-{one}" / "copy.cu").write_text("half")
    done = book.run(*forget)
    expect("the next run: " + done.stderr, (0, True), (done.returncode, "an interrupted run left it" in done.stdout))
    expect("ends it", {content_of(book, s) for s in ("kx109", "kx112")}, set(contents(book)))
    expect("the gradebook", before, kept(book))
    book.remove()


{"rules": rules, "interrupted": interrupted}[(sys.argv + ["rules"])[1]]()
print(f"{len(checks)} checks")
