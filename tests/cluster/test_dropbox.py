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
    for user in (PROF, ADA, BOB):
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
    refusals()
finally:
    for user in (PROF, ADA, BOB):
        subprocess.run(["userdel", user], capture_output=True)
    shutil.rmtree(dir, ignore_errors=True)
print(f"{len(checks)} checks")
