#!/usr/bin/env python3
"""With the real judge, signed records and the sandbox, on a virtual Slurm.

Submissions that try to read others', the seeds, the gradebook, and to submit jobs.
"""
from rehearsal import *

LAB = "01_coalescing"


def official(slurm, **more):
    course = Course(slurm, program=False, grading='signing_key = "key"\nkeys = ["key.pub"]\nseeds = "seeds"\n', **more)
    text = (course.dir / "course.toml").read_text().replace('keys = ["key.pub"]', f'keys = ["{course.dir}/key.pub"]')
    (course.dir / "course.toml").write_text(text)
    (course.dir / "seeds").write_bytes(os.urandom(32))
    (course.dir / "seeds").chmod(0o600)
    made = subprocess.run([RIDGE, "key", "new", str(course.dir / "key")], capture_output=True, text=True, env=course.env)
    if made.returncode:
        skip("no signing here: " + made.stderr)
    return course


def folder(course, student):
    target = course.dir / "submissions" / student
    shutil.copytree(REPO / "solutions" / LAB, target, ignore=shutil.ignore_patterns("steps", "README.md"))
    return target


def isolation(slurm):
    course = official(slurm)
    secret = "f00dfeed" + os.urandom(8).hex()
    honest = folder(course, "victim")
    (honest / "copy.cu").write_text((honest / "copy.cu").read_text() + f"// {secret}\n")
    course.expected["victim"] = 100.0
    # Where everything is, as somebody would know it who had seen the instructor's folder.
    targets = {"include-other": f'#include "{course.dir}/submissions/victim/copy.cu"\n',
               "include-seed": f'asm(".incbin \\"{course.dir}/seeds\\"");\n',
               "include-key": f'#include "{course.dir}/key"\n'}
    for name, line in targets.items():
        target = folder(course, name)
        (target / "copy.cu").write_text(line + (target / "copy.cu").read_text())
    solution = (REPO / "solutions" / LAB / "copy.cu").read_text()
    attempts = {  # host code that does something before it computes; the answer stays right
        "run-sbatch": f'#include <cstdlib>\nstatic int tried = std::system("sbatch --wrap \'touch {course.dir}/escaped\'");\n',
        "read-book": f'#include <cstdio>\nstatic bool tried = [] {{ if (FILE* f = std::fopen("{course.dir}/gradebook.sqlite", "rb")) '
                     f'{{ char b[16]; if (std::fread(b, 1, 16, f) == 16) __builtin_trap(); }} return true; }}();\n',
        "write-spool": f'#include <cstdio>\nstatic bool tried = [] {{ if (std::fopen("{course.dir}/shared/spool/x.json", "w")) __builtin_trap(); return true; }}();\n',
    }
    for name, text in attempts.items():
        target = folder(course, name)
        (target / "copy.cu").write_text(text + solution)
    for name in list(targets) + list(attempts):
        course.expected[name] = None
    course.roster()
    done = course.run(*course.grade_words(), limit=500)
    expect("exit code: " + done.stderr[-2000:], 0, done.returncode)
    outcomes = dict(course.rows("SELECT s.student, r.outcome FROM submission s JOIN work w ON w.content = s.content JOIN result r ON r.work = w.id"))
    expect("the honest one", "passed", outcomes["victim"])
    records = dict(course.rows("SELECT s.student, r.record FROM submission s JOIN work w ON w.content = s.content JOIN result r ON r.work = w.id"))
    for name in targets:  # where one file does not compile, the others may be graded
        expect(name, True, outcomes[name] == "build-failed" or "copy.cu does not compile" in records[name])
    for name in attempts:  # refused by its symbols, or it ran and reached nothing: never trapped, never a way out
        expect(name + ": " + outcomes[name], True, outcomes[name] in ("build-failed", "failed", "passed"))
    expect("no job of a student's, no file", [], [p for p in ("escaped", "shared/spool/x.json") if (course.dir / p).exists()])
    seed, key = (course.dir / "seeds").read_bytes(), (course.dir / "key").read_text().split()[-1]
    for student, record in course.rows("SELECT s.student, r.record FROM submission s JOIN work w ON w.content = s.content JOIN result r ON r.work = w.id"):
        expect(f"{student}: another's line, the seed or the key in the record", False,
               (secret in record and student != "victim") or key in record or seed.hex() in record)
    for name in ("read-book", "write-spool"):
        record = course.rows(f"SELECT r.record FROM submission s JOIN work w ON w.content = s.content JOIN result r ON r.work = w.id WHERE s.student = '{name}'")[0][0]
        expect(name + " found what it looked for", False, "illegal instruction" in record.lower() or "SIGILL" in record or "SIGTRAP" in record)
    modes = [oct(p.stat().st_mode & 0o077) for p in (course.dir / "shared").iterdir()]
    expect("the shared folder's parts are the instructor's alone", {"0o0"}, set(modes))
    complete = course.rows("SELECT count(*) FROM result WHERE record LIKE '%\"complete\": true%'")[0][0]
    expect("records made in a complete sandbox, inside a Slurm job", len(course.expected), complete)
    course.remove()


# Isolation is tried in jobs that are confined by control groups, where there are some.
with Slurm(4, confined=True) as slurm:
    isolation(slurm)
print(f"{len(checks)} checks")
