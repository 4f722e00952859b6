#!/usr/bin/env python3
"""Builds apart from runs: a job array of the CPU partition builds each different submission, those that do not build are
graded there, and only the others get a job with GPUs. Nobody but the instructor's account can put a program in their place.

test_builds.py [stand-in|judge]    judge: the real one, signed, with what was built tampered with (slow)
"""
import json
from rehearsal import *

part = (sys.argv + ["stand-in"])[1]
APART = '[build]\npartition = "cpu"\n'


def course_apart(slurm, **more):
    course = Course(slurm, **more)
    file = course.dir / "course.toml"
    file.write_text(file.read_text().replace("cpus = 1\n", 'cpus = 1\ngres = "gpu:1"\n' + APART))
    return course


def phases(course):
    """(phase, node, state of the attempt, outcome) of every attempt"""
    return course.rows("SELECT b.phase, a.node, a.state, r.outcome FROM attempt a JOIN batch b ON b.id = a.batch "
                       "LEFT JOIN result r ON r.token = a.token")


def stand_in(slurm):
    course = course_apart(slurm)
    for i in range(4):
        course.add(f"s{i}", f"points {i * 11} of {i}", i * 11.0)
    course.add("twin", "points 11 of 1", 11.0)
    for i in range(2):
        course.add(f"unbuilt{i}", f"build {i}", 0.0)
    course.roster()
    done = course.run(*course.grade_words())
    expect("exit code: " + done.stderr, 0, done.returncode)
    course.check()
    seen = phases(course)
    gpus = {"n3", "n4"}  # of cluster/virtual
    expect("each different one is built once", 6, len([p for p in seen if p[0] == "build"]))
    expect("on nodes without GPUs", set(), {node for phase, node, *_ in seen if phase == "build"} & gpus)
    expect("with GPUs only what was built", 4, len([p for p in seen if p[0] == "judge"]))
    expect("on nodes with GPUs", set(), {node for phase, node, *_ in seen if phase == "judge"} - gpus)
    expect("those that do not build are graded where they were built", ["build"] * 2, [p[0] for p in seen if p[3] == "build-failed"])
    expect("nothing built is left", [], list((course.dir / "shared/built").iterdir()))
    course.remove()


def ridge(env, *words):
    return subprocess.run([RIDGE, *words], capture_output=True, text=True, env=env, timeout=200)


def judge(slurm):
    """`ridge grade --build-into`, `--built`: what is refused, and that the verdict is the same as in one go."""
    dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-built."))
    env = {**slurm.env, "RIDGE_RESULTS": str(dir / "results"), "RIDGE_SIGNING_KEY": str(dir / "key")}
    if ridge(env, "key", "new", str(dir / "key")).returncode:
        skip("no signing here")
    solution = dir / "solution"
    shutil.copytree(REPO / "solutions/01_coalescing", solution, ignore=shutil.ignore_patterns("steps", "README.md"))
    other = dir / "other"
    shutil.copytree(solution, other)
    (other / "copy.cu").write_text((other / "copy.cu").read_text() + "// mine\n")
    grade = lambda *words, of=solution, to="r.json": ridge(env, "grade", "01", "--official", "--backend", "cpu", "--submission", str(of),
                                                           "--json", str(dir / to), *words)
    built = dir / "built"
    made = grade("--build-into", str(built))
    expect("building: " + made.stdout + made.stderr, 0, made.returncode)
    expect("nothing was judged", False, (dir / "r.json").exists())
    expect("whole", {"worker", "build.json"}, {p.name for p in built.iterdir()})
    expect("again into the same place", 2, grade("--build-into", str(built)).returncode)
    good = grade("--built", str(built))
    expect("judging it: " + good.stdout + good.stderr, 0, good.returncode)
    record = json.loads((dir / "r.json").read_text())
    expect("the record names the program", (json.loads((built / "build.json").read_text())["program"], "apart"),
           (record["program"]["sha256"], record["program"]["built"]))
    expect("it verifies", 0, ridge(env, "verify", str(dir / "r.json"), "--key", str(dir / "key.pub"), "--submission", str(solution)).returncode)
    one_go = grade(to="one.json")
    expect("in one go", 0, one_go.returncode)
    expect("the same points", record["score"], json.loads((dir / "one.json").read_text())["score"])

    def refused(what, word, change=lambda copy: None, of=solution):
        copy = dir / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(built, copy)
        copy.chmod(0o700)
        change(copy)
        (dir / "r.json").unlink(missing_ok=True)
        done = grade("--built", str(copy), of=of)
        expect(f"{what}: {done.stderr}", (3, True), (done.returncode, word in done.stderr))
        expect(f"{what}: nothing was scored", False, (dir / "r.json").exists())

    def edit(copy, key, value):
        manifest = json.loads((copy / "build.json").read_text())
        manifest[key] = value
        (copy / "build.json").write_text(json.dumps(manifest))

    def own_program(copy):
        program = (other / "copy.cu").read_bytes()
        (copy / "worker").write_bytes(program)
        import hashlib
        edit(copy, "program", hashlib.sha256(program).hexdigest())

    def other_key(copy):
        ridge(env, "key", "new", str(dir / "other.key"))
        theirs = {**env, "RIDGE_SIGNING_KEY": str(dir / "other.key")}
        shutil.rmtree(copy)
        ridge(theirs, "grade", "01", "--backend", "cpu", "--submission", str(solution), "--build-into", str(copy))

    def unsigned(copy):
        manifest = json.loads((copy / "build.json").read_text())
        del manifest["signature"]
        (copy / "build.json").write_text(json.dumps(manifest))

    def linked(copy):
        (copy / "worker").rename(dir / "elsewhere")
        (copy / "worker").symlink_to(dir / "elsewhere")

    refused("another program", "not the one that was built", lambda c: (c / "worker").write_bytes(b"\x7fELF"))
    refused("another program with its own hash", "signature does not fit", own_program)
    refused("somebody else's key", "not signed with the course's key", other_key)
    refused("no signature", "not signed", unsigned)
    refused("of other files", "built from other files", of=other)
    refused("another lab's", "signature does not fit", lambda c: edit(c, "lab", "02_reductions"))
    refused("a folder that others may write", "others may write the folder", lambda c: c.chmod(0o770))
    refused("a program that others may write", "others may write worker", lambda c: (c / "worker").chmod(0o777))
    refused("a link in the program's place", "has no worker", linked)
    refused("no manifest", "has no build.json", lambda c: (c / "build.json").unlink())
    refused("a manifest that is none", "no manifest", lambda c: (c / "build.json").write_text("[1, 2]"))
    if os.geteuid() == 0:
        refused("another account's", "belongs to another account", lambda c: os.chown(c, 65534, -1))
    (other / "copy.cu").write_text("this is not C++\n")
    part = grade("--build-into", str(dir / "part"), of=other)
    expect("one file that does not compile: " + part.stderr, 0, part.returncode)
    part = grade("--built", str(dir / "part"), of=other)
    tasks = {t["id"]: t["status"] for t in json.loads((dir / "r.json").read_text())["tasks"]}
    expect("costs its own task alone: " + part.stdout, (1, {"failed": 1, "passed": 3}, "failed"),
           (part.returncode, {s: list(tasks.values()).count(s) for s in ("failed", "passed")}, tasks["copy"]))
    expect("the record is about what was handed in", 0, ridge(env, "verify", str(dir / "r.json"), "--key", str(dir / "key.pub"), "--submission",
                                                              str(other)).returncode)
    (dir / "r.json").unlink()
    for file in other.glob("*.cu"):
        file.write_text("this is not C++\n")
    broken = grade("--build-into", str(dir / "broken"), of=other)
    record = json.loads((dir / "r.json").read_text()) if (dir / "r.json").exists() else {}
    expect("what does not build is graded there", (4, "build-failed", False), (broken.returncode, record.get("outcome"), (dir / "broken").exists()))
    shutil.rmtree(dir)

    # The whole way, with a program that changes while it waits for its job.
    course = course_apart(slurm, program=False, grading='signing_key = "key"\nkeys = ["key.pub"]\nretries = 2\n')
    file = course.dir / "course.toml"
    file.write_text(file.read_text().replace('keys = ["key.pub"]', f'keys = ["{course.dir}/key.pub"]'))
    ridge(course.env, "key", "new", str(course.dir / "key"))
    for student in ("honest", "unbuilt"):
        shutil.copytree(REPO / "solutions/01_coalescing", course.dir / "submissions" / student, ignore=shutil.ignore_patterns("steps", "README.md"))
    for file in (course.dir / "submissions/unbuilt").glob("*.cu"):
        file.write_text("no\n")
    course.expected.update(honest=100.0, unbuilt=0.0)
    course.roster()
    process = subprocess.Popen(course.command(*course.grade_words()), env=course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    changed = False
    while process.poll() is None and not changed:
        for program in (course.dir / "shared/built").glob("*/worker"):
            if ".new" not in program.parent.name:
                program.write_bytes(b"#!/bin/sh\n")
                changed = True
        time.sleep(0.02)
    out = process.communicate(timeout=200)[0]
    expect("it was changed in time", True, changed)
    expect("the whole way: " + out, 0, process.returncode)
    course.expected["unbuilt"] = None  # of no points at all
    got = course.gradebook()
    expect("the gradebook", (100.0, True), (got["honest"], got["unbuilt"] in (0.0, None)))
    reasons = [r for r, in course.rows("SELECT reason FROM attempt WHERE state = 'failed'")]
    expect(f"the changed one was seen and not scored: {reasons}", True, any("not the one that was built" in r for r in reasons))
    course.remove()


with Slurm(4) as slurm:
    {"stand-in": stand_in, "judge": judge}[part](slurm)
print(f"{len(checks)} checks")
