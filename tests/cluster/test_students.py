#!/usr/bin/env python3
"""The student's way: `ridge submit` into the course's folder, `ridge grade --slurm`, and the instructor's grading of what
was handed in; `ridge cluster doctor` on good and bad course files."""
import getpass
from rehearsal import *


def ridge(course, *words, **env):
    return subprocess.run([RIDGE, *words], capture_output=True, text=True, timeout=120, cwd=course.dir, env={**course.env, **env})


def submit(course):
    box = course.dir / "dropbox"
    (box / "01_coalescing").mkdir(parents=True)
    (box / "01_coalescing").chmod(0o3733)
    work = course.dir / "mine"
    work.mkdir()
    (work / "copy.cu").write_text("// points 30\n")
    me = getpass.getuser()
    course.expected[me] = 80.0
    course.roster()
    hand_in = ("submit", "01", "--submission", str(work), "--to", str(box), "--unchecked")
    first = ridge(course, *hand_in)
    expect("handing in: " + first.stderr, 0, first.returncode)
    again = ridge(course, *hand_in)
    expect("the same once more", True, "handed in already" in again.stdout)
    time.sleep(1.1)
    (work / "copy.cu").write_text("// points 80\n")
    expect("a better one", 0, ridge(course, *hand_in).returncode)
    files = sorted(p.name for p in (box / "01_coalescing").iterdir())
    expect("two archives, no half ones", 2, len([f for f in files if f.endswith(".tar.gz") and not f.startswith(".")]))
    expect("nothing else", 2, len(files))
    expect("a limit a day", 2, ridge(course, "submit", "01", "--submission", str(course.dir / "submissions/other"), "--unchecked",
                                     RIDGE_COURSE=str(course.dir / "course.toml")).returncode)
    done = course.run("grade", "--lab", "01", "--submissions", str(box / "01_coalescing"), "--roster", str(course.dir / "roster.csv"))
    expect("grading what was handed in: " + done.stderr, 0, done.returncode)
    export = course.run("export", "--lab", "01").stdout
    expect("the last one counts", True, f"{me},N {me},80," in export)


def doctor(course):
    good = course.run("doctor")
    expect("doctor: " + good.stdout + good.stderr, 0, good.returncode)
    expect("doctor asked a node", True, "sees the shared folder" in good.stdout)
    file = course.dir / "course.toml"
    text = file.read_text()
    # Signed, the public half of the key must be known, else every result is rejected after four gradings.
    subprocess.run([RIDGE, "key", "new", str(course.dir / "key")], check=True, capture_output=True)
    file.write_text(text.replace("signed = false", 'signing_key = "key"\nkeys = ["key.pub"]'))
    expect("doctor knows the key", True, "and its public half" in course.run("doctor", "--no-job").stdout)
    (course.dir / "key.pub").rename(course.dir / "away")
    for keys, word in (('["key.pub"]', "is no public key"), ("[]", "names no `signing_key` and `keys`"),
                       ('["' + "ab" * 32 + '"]', "lacks the public half")):
        file.write_text(text.replace("signed = false", f'signing_key = "key"\nkeys = {keys}'))
        bad = course.run("doctor", "--no-job")
        expect(f"doctor finds '{word}': {bad.stdout}", (3, True), (bad.returncode, word in bad.stdout))
        bad = course.run(*course.grade_words())
        expect(f"grade says '{word}': {bad.stderr}", (2, True), (bad.returncode, word in bad.stderr))
    for change, word in ((("cpus = 1", 'cpus = 1\ngres = "gpu:h100:1"'), "offers no gpu:h100"),
                         (('partition = "grade"', 'partition = "nowhere"'), "there is no partition nowhere"),
                         (("[labs.01]", "[labs.01]\nlimit_s = 90000"), "minutes, partition grade allows")):
        file.write_text(text.replace(*change))
        bad = course.run("doctor", "--no-job")
        expect(f"doctor finds '{word}': {bad.stdout}", (3, True), (bad.returncode, word in bad.stdout))
    for change, word in ((("[labs.01]", "[labs.01]\ndeadlin = 5"), "there is no key 'deadlin'"),
                         (("[labs.01]", "[labs.01]\ndeadline = 2026-12-01T00:00:00"), "with its zone"),
                         (("[labs.01]", "[labs.77]"), "[labs.77]"), (('name = "Rehearsal"', "name = 5"), "line 1: 'name' is not a text")):
        file.write_text(text.replace(*change))
        bad = course.run("status")
        expect(f"course.toml: '{word}': {bad.stderr}", (2, True), (bad.returncode, word in bad.stderr))
    file.write_text(text)


def through_slurm(course):
    work = course.dir / "mine"
    done = ridge(course, "grade", "01", "--slurm", "--backend", "cpu", "--submission", str(work), RIDGE_WORK=str(course.dir / "work"))
    # one file of four, which the real judge says on a node
    expect("grade --slurm: " + done.stdout + done.stderr, (2, True), (done.returncode, "has no aos_to_soa.cu" in done.stdout))
    expect("it says that it is practice", True, "practice" in done.stderr)


def examples():
    """Each command's help shows its own examples."""
    text = subprocess.run([RIDGE, "cluster", "--help"], capture_output=True, text=True).stdout
    names = [line.split()[0] for line in text.split("Subcommands:\n")[1].split("\n\n")[0].splitlines()]
    shown = {}
    for name in names:
        one = subprocess.run([RIDGE, "cluster", name, "--help"], capture_output=True, text=True).stdout
        shown[name] = [line.strip() for line in one.split("Examples:\n")[1].splitlines() if line.strip()]
    expect(f"all of them its own: {shown}", [], [n for n, lines in shown.items() if not lines or any(not line.startswith(f"ridge cluster {n}") for line in lines)])
    expect("many commands", True, len(names) >= 19)


examples()
with Slurm(4) as slurm:
    course = Course(slurm, head='dropbox = "dropbox"\n')
    text = (course.dir / "course.toml").read_text()
    (course.dir / "course.toml").write_text(text.replace("[slurm]", "[limits]\nsubmissions_per_day = 2\n\n[slurm]"))
    course.add("other", "points 1", None)
    submit(course)
    course.expected.pop("other")
    doctor(course)
    through_slurm(course)
    course.remove()
print(f"{len(checks)} checks")
