#!/usr/bin/env python3
"""With the real judge, signed records and the sandbox, on a virtual Slurm.

test_judged.py class        200 submissions of mixed quality to an exact gradebook; a second run changes nothing
test_judged.py isolation    submissions that try to read others', the seeds, the gradebook, and to submit jobs
"""
import tomllib
from rehearsal import *

LAB = "01_coalescing"
part = (sys.argv + ["class"])[1]


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


def wrong(name):
    """A wrong solution: a file of wrong/, or edits of wrong.toml. Its lab's file, and the text."""
    if (file := REPO / "labs" / LAB / "wrong" / name).exists():
        text = file.read_text()
        return text.split("replaces: ")[1].split(";")[0], text
    with open(REPO / "labs" / LAB / "wrong.toml", "rb") as f:
        (entry,) = [w for w in tomllib.load(f)["wrong"] if w["name"] == name[:-3]]
    base = {"stub": "labs"}.get(entry.get("base", ""), "solutions")
    text = (REPO / base / LAB / entry["file"]).read_text()
    for old, new in entry["edit"]:
        expect(f"{name}: the edit meets one place", 1, text.count(old))
        text = text.replace(old, new)
    return entry["file"], text


def kinds():
    """What a student may hand in: name, files that differ from the solution."""
    yield "solution", {}
    yield "stub", {p.name: p.read_text() for p in (REPO / "labs" / LAB).glob("*.cu") if p.name not in ("entry.cu", "baseline.cu")}
    yield "unbuilt", {"copy.cu": "this is not C++\n"}
    yield "empty", {"gather.cu": ""}
    for name in ("aos_naive.cu", "copy_off_by_one.cu", "copy_tail_lost.cu", "gather_next_index.cu", "gather_last_warp.cu",
                 "transpose_conflicts.cu", "transpose_naive.cu", "transpose_square_only.cu"):
        file, text = wrong(name)
        yield name[:-3], {file: text}


def judged(files):
    """The points that ridge says of it outside of any cluster, and the outcome."""
    with tempfile.TemporaryDirectory() as dir:
        work = pathlib.Path(dir, "s")
        shutil.copytree(REPO / "solutions" / LAB, work, ignore=shutil.ignore_patterns("steps", "README.md"))
        for name, text in files.items():
            (work / name).write_text(text)
        subprocess.run([RIDGE, "grade", LAB, "--backend", "cpu", "--submission", str(work), "--json", dir + "/r.json"],
                       capture_output=True, env={**os.environ, "RIDGE_RESULTS": dir + "/results"}, timeout=300)
        import json
        record = json.load(open(dir + "/r.json"))
        return record["score"]["points"], record["score"]["max"], record["outcome"]


def whole_class(slurm):
    course = official(slurm, head="")
    all_kinds = list(kinds())
    points = {name: judged(files) for name, files in all_kinds}
    for i in range(200):
        name, files = all_kinds[i % len(all_kinds)]
        target = folder(course, f"s{i:03}")
        for file, text in files.items():
            (target / file).write_text(text)
        if i == 7:  # one whose text is its own
            (target / "copy.cu").write_text((target / "copy.cu").read_text() + "// mine\n")
        p, m, _ = points[name]
        course.expected[f"s{i:03}"] = round(100 * p / m, 6) if m else 0.0
    course.roster()
    start = time.monotonic()
    done = course.run(*course.grade_words(), limit=1500)
    took = time.monotonic() - start
    expect("exit code: " + done.stderr[-2000:], 0, done.returncode)
    got = {k: 0.0 if v is None else v for k, v in course.gradebook().items()}
    expect("the gradebook", course.expected, got)
    results = course.rows("SELECT token, points, record FROM result ORDER BY token")
    again = course.run(*course.grade_words())
    expect("a second run", 0, again.returncode)
    expect("a second run takes nothing in", True, ": 0 submissions taken in" in again.stdout)
    expect("a second run changes nothing", results, course.rows("SELECT token, points, record FROM result ORDER BY token"))
    for i, row in enumerate(results):
        (course.dir / f"{i}.json").write_text(row[2])
    verify = subprocess.run([RIDGE, "verify", *[str(course.dir / f"{i}.json") for i in range(len(results))], "--key",
                             str(course.dir / "key.pub")], capture_output=True, text=True, env=course.env)
    expect("ridge verify of all records: " + verify.stdout + verify.stderr, 0, verify.returncode)
    print(f"200 submissions, {len(results)} different contents, in {took:.1f} s: as expected; the second run changed nothing")
    course.remove()


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
    for name in targets:
        expect(name, "build-failed", outcomes[name])
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
with Slurm(4, confined=part == "isolation") as slurm:
    {"class": whole_class, "isolation": isolation}[part](slurm)
print(f"{len(checks)} checks")
