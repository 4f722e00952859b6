#!/usr/bin/env python3
"""The dropbox as ordinary users have it: two students and an instructor, none of them root, with umask 077. So it is on a share
with root squash too, where root is nobody."""
import pwd
from rehearsal import *

if os.geteuid() != 0:
    skip("only root can make the accounts that this test needs")
for program in ("useradd", "userdel", "setpriv"):
    if not shutil.which(program):
        skip(f"there is no {program} here")

LAB = "01_coalescing"
tag = f"{os.getpid() % 100000}"
PROF, ADA, BOB = f"rprof{tag}", f"rada{tag}", f"r_bob_{tag}"  # Bob's name has underscores
MAL = f"rmal{tag}"  # on no roster: a student of another course, or one who left
dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-dropbox."))
dir.chmod(0o755)


def run(user, *words, **env):
    who = pwd.getpwnam(user)
    home = dir / "home" / user
    argv = ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups", "sh", "-c", 'umask 077; exec "$@"', "sh", *map(str, words)]
    clean = {"PATH": os.environ["PATH"], "HOME": str(home), "USER": user, "RIDGE_WORK": str(home / "work"), **env}
    return subprocess.run(argv, capture_output=True, text=True, env=clean, cwd=home, timeout=120)


def work_of(user, text):
    folder = dir / "home" / user / "mine"
    folder.mkdir(exist_ok=True)
    (folder / "copy.cu").write_text(text)
    return folder


def layout(name, mode):
    """One way to make the folder: with the setgid bit files belong to the instructor's group, else names protect them."""
    box = share / name
    for folder in (box, box / LAB):
        made = run(PROF, "install", "-d", "-m", mode, folder)
        expect(f"{name}: making it: {made.stderr}", 0, made.returncode)
    submit = lambda user, text, **env: run(user, RIDGE, "submit", "01", "--unchecked", "--submission", work_of(user, text), RIDGE_DROPBOX=str(box), **env)
    for user, text in ((ADA, "// points 1\n"), (BOB, "// points 2\n"), (ADA, "// points 3\n")):
        done = submit(user, text)
        expect(f"{name}: {user} hands in: {done.stdout}{done.stderr}", (0, True, ""), (done.returncode, "Handed in" in done.stdout, done.stderr))
        again = submit(user, text)
        expect(f"{name}: the same once more: {again.stdout}{again.stderr}", (0, True), (again.returncode, "handed in already" in again.stdout))
        time.sleep(1.1)
    files = sorted((box / LAB).iterdir())
    expect(f"{name}: three archives", 3, len(files))
    expect(f"{name}: a student can't list them", True, run(BOB, "ls", box / LAB).returncode != 0)
    adas = next(f for f in files if ADA in f.name)
    if "3" in mode[0]:
        expect(f"{name}: nor read another's", True, run(BOB, "cat", adas).returncode != 0)
    expect(f"{name}: nor remove it", True, run(BOB, "rm", "-f", adas).returncode != 0)
    # A name proves nothing.
    forged = box / LAB / adas.name.replace(ADA, BOB).replace("2026", "2030")
    expect(f"{name}: Ada can put a file there", 0, run(ADA, "sh", "-c", f"umask 022; echo x >{forged}").returncode)
    course = dir / "home" / PROF / name
    course.mkdir()
    (course / "course.toml").write_text(f'name = "Box"\ndropbox = "{box}"\n[grading]\nsigned = false\n[labs.01]\n')
    (course / "roster.csv").write_text(f"id,name\n{ADA},Ada\n{BOB},Bob\n")
    shutil.chown(course, PROF)
    taken = run(PROF, RIDGE, "cluster", "intake", "--course", course / "course.toml", "--lab", "01", "--submissions", box / LAB, "--roster",
                course / "roster.csv")
    expect(f"{name}: the forged one is told: {taken.stdout}{taken.stderr}", (3, True), (taken.returncode, f"by {ADA}'s account" in taken.stdout))
    with sqlite3.connect(course / "gradebook.sqlite") as db:
        got = db.execute("SELECT student, content, problem FROM submission ORDER BY handed_in, id").fetchall()
    text = lambda content: (course / "shared/contents" / LAB / content / "copy.cu").read_text()
    expect(f"{name}: the last ones count", {ADA: "// points 3\n", BOB: "// points 2\n"}, {s: text(c) for s, c, p in got if not p})


def strangers():
    """In a folder that anybody writes to, a name is a claim: the file's account must be the student's."""
    box = share / "setgid" / LAB
    course = dir / "home" / PROF / "setgid"
    intake = lambda *more, roster="roster.csv": run(PROF, RIDGE, "cluster", "intake", "--course", course / "course.toml", "--lab", "01", "--submissions", box,
                                                    "--roster", course / roster, *more)

    def counts():
        with sqlite3.connect(course / "gradebook.sqlite") as db:
            return db.execute("SELECT source FROM submission WHERE student = ? ORDER BY COALESCE(handed_in, taken), id", (ADA,)).fetchall()[-1][0]
    before = counts()
    for old in box.glob(f"*{BOB}_2030*"):
        old.unlink()  # the forged one of layout()
    names = (f"{LAB}_{ADA}_2031-01-01T00.00.00Z_0123456789ab.tar.gz", f"{ADA}.tar.gz")
    for name in names:
        put = run(MAL, "sh", "-c", f"umask 022; cd {dir}/home/{MAL}; echo '// broken' >copy.cu; tar czf {box / name} copy.cu")
        expect("anybody can put a file there: " + put.stderr, 0, put.returncode)
    put = run(MAL, "sh", "-c", f"umask 022; cd {box}; mkdir submission_11; echo '// broken' >submission_11/copy.cu; "
              f"printf 'submission_11:\\n  :submitters:\\n  - :name: Ada\\n    :sid: {ADA}\\n    :email: a\\n' >submission_metadata.yml")
    expect("and a list that tells whose it is: " + put.stderr, 0, put.returncode)
    done = intake()
    told = [line for line in done.stdout.splitlines() if "problem: " in line]
    expect(f"all are told: {done.stdout}{done.stderr}", (3, 3), (done.returncode, len(told)))
    expect(f"by whom: {told}", True, all(f"by the account {MAL}, which is not {ADA}'s ({ADA})" in line for line in told if ADA + "." in line or f"_{ADA}_" in line))
    expect("Ada's own still counts", before, counts())
    expect("no export in silence", True, run(PROF, RIDGE, "cluster", "export", "--course", course / "course.toml", "--lab", "01").returncode != 0)
    # The instructor's decision: a copy is the instructor's.
    for path in (*(box / n for n in names), box / "submission_metadata.yml"):
        path.unlink() if path.name != names[1] else shutil.copy(path, course / "copy")
    shutil.rmtree(box / "submission_11")
    (box / names[1]).unlink()
    expect("copied by the instructor", 0, run(PROF, "cp", course / "copy", box / names[1]).returncode)
    done = intake()
    expect(f"it counts: {done.stdout}{done.stderr}", (0, names[1]), (done.returncode, counts()))
    # The roster tells no account: the names alone say whose they are, and intake says so once.
    (course / "numbers.csv").write_text("id,name\n900071,Ada\n900072,Bob\n")
    for file in box.iterdir():
        file.unlink()
    for number in ("900071", "900072"):
        run(MAL, "sh", "-c", f"umask 022; cd {dir}/home/{MAL}; tar czf {box / number}.tar.gz copy.cu")
    done = intake("--dry-run", roster="numbers.csv")
    said = [line for line in done.stdout.splitlines() if "tells no account of 900071, 900072" in line]
    expect(f"told once: {done.stdout}{done.stderr}", (0, 1), (done.returncode, len(said)))


def changed():
    """What a student can do to a hand-in of their own: set its date, name it as an LMS would, lead elsewhere, let others write into it."""
    box, course = share / "plain" / LAB, dir / "home" / PROF / "plain"
    for old in box.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    put = lambda user, script: expect(f"{user}: {script}", 0, run(user, "sh", "-c", f"umask 022; cd {box}; {script}").returncode)
    begun = int(time.time())
    put(ADA, f"mkdir {ADA}; echo '// late' >{ADA}/copy.cu; touch -d '2 days ago' {ADA}/copy.cu {ADA}")
    put(BOB, f"echo '// late, too' >x; mv x 'Lab 1_{BOB}_attempt_2020-11-20-10-32-45_copy.cu'")
    intake = lambda: run(PROF, RIDGE, "cluster", "intake", "--course", course / "course.toml", "--lab", "01", "--submissions", box, "--roster", course / "roster.csv")
    done = intake()
    expect(f"both are taken in: {done.stdout}{done.stderr}", (0, True), (done.returncode, "the later date counts" in done.stdout))

    def last(student):
        with sqlite3.connect(course / "gradebook.sqlite") as db:
            return db.execute("SELECT handed_in, problem FROM submission WHERE student = ? ORDER BY id DESC", (student,)).fetchone()
    for s in (ADA, BOB):
        expect(f"{s}: neither touch nor a name sets the date: {last(s)}", True, last(s)[0] >= begun)
    # Ada's folder leads to what Bob has, and the instructor can read both.
    put(BOB, f"mkdir bobs; echo '// of Bob' >bobs/copy.cu; chmod 755 bobs")
    put(ADA, f"rm -r {ADA}; mkdir {ADA}; ln -s {box}/bobs {ADA}/lab")
    done = intake()
    expect(f"a link is not followed: {done.stdout}", True, "holds none of the lab's files" in last(ADA)[1])
    put(ADA, f"rm -r {ADA}; mkdir {ADA}; chmod 777 {ADA}")
    put(BOB, f"echo '// of Bob' >{ADA}/copy.cu")
    done = intake()
    expect(f"nor is a file of Bob's Ada's: {done.stdout}", True, "copy.cu, which is a file of another account" in last(ADA)[1])


def swapped():
    """Ada's archive and a link to Bob's change places all the time, and the instructor can read both."""
    box, course = share / "plain" / LAB, dir / "home" / PROF / "swapped"
    shutil.copytree(dir / "home" / PROF / "plain", course, ignore=shutil.ignore_patterns("gradebook*", "shared"))
    shutil.chown(course, PROF)
    for old in box.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    names = {s: f"{LAB}_{s}_2026-11-26T10.52.24Z_0123456789ab.tar.gz" for s in (ADA, BOB)}
    for s, name in names.items():
        put = run(s, "sh", "-c", f"umask 022; echo '// of {s}' >copy.cu; tar czf {box / name} copy.cu")
        expect("handed in: " + put.stderr, 0, put.returncode)
    expect("a link", 0, run(ADA, "ln", "-s", box / names[BOB], box / ".link").returncode)
    exchange = ("import ctypes, sys\ncall, words = ctypes.CDLL(None).renameat2, [w.encode() for w in sys.argv[1:]]\n"
                "while call(-100, words[0], -100, words[1], 2) == 0: pass\n")  # AT_FDCWD, RENAME_EXCHANGE
    swaps = subprocess.Popen([sys.executable, "-c", exchange, str(box / names[ADA]), str(box / ".link")])
    try:
        for _ in range(15):
            run(PROF, RIDGE, "cluster", "intake", "--course", course / "course.toml", "--lab", "01", "--submissions", box, "--roster", course / "roster.csv")
        expect("they were swapped to the end", None, swaps.poll())
    finally:
        swaps.kill(), swaps.wait()
    with sqlite3.connect(course / "gradebook.sqlite") as db:
        contents = [c for c, in db.execute("SELECT content FROM submission WHERE student = ? AND content <> ''", (ADA,))]
    texts = {(course / "shared/contents" / LAB / c / "copy.cu").read_text() for c in contents}
    expect(f"nothing of Bob's is Ada's: {texts}", set(), texts - {f"// of {ADA}\n"})


def refusals():
    """What doctor says of a dropbox that does not work; this account would grade."""
    course = dir / "home" / PROF / "doctor"
    course.mkdir()
    shutil.chown(course, PROF)
    (course / "course.toml").write_text('name = "Box"\ndropbox = "box"\n[grading]\nsigned = false\n[labs.01]\n')
    doctor = lambda: run(PROF, RIDGE, "cluster", "doctor", "--no-job", "--course", course / "course.toml")
    if not shutil.which("sinfo"):
        return
    for mode, word in ((None, "there is no folder"), ("0755", "students can't write"), ("3777", "everybody can list"), ("0733", "students can remove")):
        if mode:
            run(PROF, "install", "-d", "-m", mode, course / "box" / LAB)
            run(PROF, "chmod", mode, course / "box" / LAB)
        said = doctor()
        expect(f"doctor on {mode}: {said.stdout}{said.stderr}", True, word in said.stdout)
    run(PROF, "chmod", "3733", course / "box" / LAB)
    expect("doctor on a good one", True, "a folder for each lab" in doctor().stdout)


try:
    for user in (PROF, ADA, BOB, MAL):
        made = subprocess.run(["useradd", "--no-create-home", "--user-group", "--shell", "/bin/sh", user], capture_output=True, text=True)
        if made.returncode:
            skip(f"no account can be made: {made.stderr.strip()}")
        home = dir / "home" / user
        home.mkdir(parents=True)
        shutil.chown(home, user)
    if run(ADA, RIDGE, "--version").returncode:
        skip(f"other accounts can't run {RIDGE}")
    share = dir / "share"
    share.mkdir()
    shutil.chown(share, PROF)
    layout("setgid", "3733")
    layout("plain", "1733")
    strangers()
    changed()
    swapped()
    refusals()
finally:
    for user in (PROF, ADA, BOB, MAL):
        subprocess.run(["userdel", user], capture_output=True)
    shutil.rmtree(dir, ignore_errors=True)
print(f"{len(checks)} checks")
