"""The Gradescope autograder of lab 01 in a fake /autograder: test_gradescope.py RIDGE REPOSITORY [--full]

The archive is unpacked, the program that is here takes the place of the one that setup.sh would build, and run_autograder
judges submissions. Without --full only the task `copy`.
"""
import json, os, pathlib, shutil, stat, subprocess, sys, tempfile, zipfile

RIDGE, REPOSITORY = map(pathlib.Path, sys.argv[1:3])
FULL = "--full" in sys.argv
LAB = "01_coalescing"
POINTS = 100 if FULL else 15
SOLUTION, STUB = REPOSITORY / "solutions" / LAB, REPOSITORY / "labs" / LAB
FILES = ["copy.cu", "aos_to_soa.cu", "transpose.cu", "gather.cu"]


def fail(what, *more):
    print("FAILED:", what, *more, sep="\n")
    sys.exit(1)


def run(command, **environment):
    r = subprocess.run(command, env={**os.environ, **environment}, text=True, capture_output=True, timeout=500)
    return r.returncode, r.stdout + r.stderr


def check_format(result):
    """What Gradescope's documentation says of results.json."""
    visibility = {"hidden", "after_due_date", "after_published", "visible"}
    formats = {"text", "html", "simple_format", "md", "ansi"}

    def has(where, key, kind):
        if not isinstance(where.get(key), kind) or isinstance(where[key], bool):
            fail(f"{key} is not of {kind}", json.dumps(where)[:500])

    has(result, "score", (int, float))
    has(result, "execution_time", int)
    has(result, "output", str)
    has(result, "tests", list)
    known = {"score", "execution_time", "output", "output_format", "test_output_format", "test_name_format", "visibility",
             "stdout_visibility", "extra_data", "tests", "leaderboard"}
    if set(result) - known:
        fail("unknown keys", set(result) - known)
    for key in ("visibility", "stdout_visibility"):
        if result[key] not in visibility:
            fail(key, result[key])
    for test in result["tests"]:
        if set(test) - {"score", "max_score", "status", "name", "name_format", "number", "output", "output_format", "tags",
                        "visibility", "extra_data"}:
            fail("unknown keys of a test", test)
        for key in ("score", "max_score"):
            has(test, key, (int, float))
        for key in ("name", "output"):
            has(test, key, str)
        if test["visibility"] not in visibility or test.get("output_format", "text") not in formats:
            fail("visibility or format", test)
        if test.get("status", "passed") not in ("passed", "failed") or not 0 <= test["score"] <= test["max_score"]:
            fail("status or score", test)
    if abs(sum(t["score"] for t in result["tests"]) - result["score"]) > 1e-6:
        fail("the tests' scores do not add up to the score", result)


def unpack(archive, to):
    with zipfile.ZipFile(archive) as z:
        names = z.namelist()
        for entry in z.infolist():
            if entry.filename.startswith("/") or ".." in entry.filename.split("/"):
                fail("a path leads outside", entry.filename)
            z.extract(entry, to)
            mode = entry.external_attr >> 16
            if mode and not entry.is_dir():
                (to / entry.filename).chmod(stat.S_IMODE(mode))
    return names


def main(scratch):
    os.environ["TMPDIR"] = str(scratch)
    archive = scratch / "lab01.zip"
    command = [str(RIDGE), "package", "gradescope", "--lab", "01", "--out", str(archive)]
    code, text = run(command + ([] if FULL else ["--task", "copy"]))
    if code != 0 or f"{POINTS} autograder points" not in text:
        fail("package", code, text)
    autograder = scratch / "autograder"
    names = unpack(archive, autograder / "source")
    for script in ("setup.sh", "run_autograder"):
        if script not in names or not os.access(autograder / "source" / script, os.X_OK):
            fail(script, "is not an executable file at the archive's root")
    for name in names:
        if "/wrong/" in name or name.endswith("/wrong.toml") or name.startswith(tuple(f"ridge/{word}/" for word in ("solutions", "tests", ".git", "work", "build"))):
            fail("the archive holds what it should not", name)
    answers = [(SOLUTION / f).read_text() for f in FILES]
    for name in names:
        if name.endswith(".cu") and (autograder / "source" / name).read_text() in answers:
            fail("the archive holds a solution", name)

    # setup.sh builds this copy, which is the one that students get: nothing that it leaves out may be needed.
    course = autograder / "source/ridge"
    code, text = run(["cmake", "--preset", "default", "-S", str(course), "-B", str(scratch / "configured")])
    if code != 0:
        fail("the course copy does not configure", text)
    shutil.rmtree(scratch / "configured")
    program = course / "build/bin/ridge"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nRIDGE_ROOT="{course}" exec "{RIDGE}" "$@"\n')
    program.chmod(0o755)
    # As Gradescope does, a copy of the script runs.
    script = shutil.copy(autograder / "source/run_autograder", autograder / "run_autograder")
    (autograder / "results").mkdir()

    def grade(submission, **environment):
        shutil.rmtree(autograder / "submission", ignore_errors=True)
        shutil.copytree(submission, autograder / "submission", symlinks=True)
        before = set(scratch.iterdir())
        code, text = run([script], RIDGE_AUTOGRADER=str(autograder), **environment)
        if set(scratch.iterdir()) - before:
            fail("left behind", set(scratch.iterdir()) - before)
        out = autograder / "results/results.json"
        result = json.loads(out.read_text()) if out.exists() else None
        if result is not None:
            check_format(result)
        if [p.name for p in (autograder / "results").iterdir()] not in ([], ["results.json"]):
            fail("results/ holds more than a result")
        return code, result, text

    code, result, text = grade(SOLUTION)
    if code != 0 or result is None or result["score"] != POINTS:
        fail("a good submission", code, result, text)
    good = result

    if FULL:
        code, result, text = grade(STUB)
        if code != 0 or result is None or not 0 < result["score"] < POINTS:
            fail("the stub", code, result, text)
        # A repository with the files in a folder, one of which is missing; an older copy lies deeper.
        repository = scratch / "repository"
        shutil.copytree(SOLUTION, repository / "work" / LAB)
        shutil.copytree(STUB, repository / "old/work" / LAB)
        (repository / "old/work" / LAB / "copy.cu").unlink()
        (repository / "work" / LAB / "gather.cu").unlink()
        code, result, text = grade(repository)
        if code != 0 or result is None or "the stub stands for it: gather.cu" not in result["output"]:
            fail("a repository", code, result, text)
        lost = sum(t["max_score"] - t["score"] for t in result["tests"])
        if {t["tags"][0] for t in result["tests"] if t["status"] == "failed"} != {"gather"} or not 0 < lost <= 25:
            fail("only gather should have lost points", result)
        shutil.rmtree(repository)

    # A file that does not compile: it costs its own task, and the compiler's message is there to read.
    broken = scratch / "broken"
    broken.mkdir()
    for f in FILES:
        shutil.copy(SOLUTION / f, broken)
    (broken / "copy.cu").write_text("#include \"coalescing.hpp\"\nthis does not compile\n")
    code, result, text = grade(broken)
    failed = [t for t in result["tests"] if t["status"] == "failed"] if result else []
    told = [t["output"] for t in failed] + ([result["output"]] if result else [])  # the latter where no other task is judged
    if code != 0 or {t["tags"][0] for t in failed} != {"copy"} or not any("error:" in text for text in told):
        fail("a file that does not compile", code, result, text)
    # A mistake of form takes no points: nothing is judged, and the file that is expected is named.
    copy = (SOLUTION / "copy.cu").read_bytes()

    def form(what, word):
        shutil.rmtree(broken)
        shutil.copytree(SOLUTION, broken, ignore=lambda folder, entries: [e for e in entries if e == "copy.cu" or e not in FILES])
        what()
        code, result, text = grade(broken)
        if code != 3 or result is not None or "NOT GRADED" not in text or "copy.cu" not in text or word not in text:
            fail(f"a mistake of form: {word}", code, result, text)

    for name in ("copy.cu.txt", "COPY.CU", "copy (1).cu", "copy_final.cu", "task1.cu", "copy.docx"):
        form(lambda: (broken / name).write_bytes(copy), f"there is no copy.cu; is {name} meant?")
    form(lambda: (broken / "copy.cu").symlink_to(SOLUTION / "copy.cu"), "copy.cu is a link")
    form(lambda: (broken / "copy.cu").write_bytes(copy + b"// " + b"x" * (1 << 20)), "copy.cu is larger than 1 MiB")
    form(lambda: ((broken / "task1").mkdir(), (broken / "task1/copy.cu").write_bytes(copy)), "copy.cu lies in another folder")
    form(lambda: [f.unlink() for f in broken.iterdir()], "nothing was handed in")
    form(lambda: [f.unlink() for f in broken.iterdir()] + [(broken / "report.pdf").write_bytes(b"%PDF")], "none of the lab's files")
    # A file that is missing without a trace costs its own task. Where the container allows no namespaces, the instructor is told.
    shutil.rmtree(broken)
    shutil.copytree(SOLUTION, broken, ignore=shutil.ignore_patterns("copy.cu", "steps"))
    code, result, text = grade(broken, RIDGE_BWRAP="/nonexistent/bwrap")
    if code != 0 or result is None or result["score"] >= POINTS or "the stub stands for it: copy.cu" not in result["output"]:
        fail("a missing file", code, result, text)
    if [t["visibility"] for t in result["tests"] if "Unsandboxed" in t["output"]] != ["hidden"]:
        fail("nothing tells the instructor of missing namespaces", result)
    shutil.rmtree(broken)

    # Nothing was judged: no result, and above all no zero. An old result does not stay.
    settings = autograder / "source/settings"
    whole = settings.read_text()
    settings.write_text(whole.replace("require_sandbox=0", "require_sandbox=1"))
    code, result, text = grade(SOLUTION, RIDGE_BWRAP="/nonexistent/bwrap")
    if code != 3 or result is not None or "NOT GRADED" not in text:
        fail("without a sandbox that was required", code, result, text)
    settings.write_text(whole.replace("limit_s=540", "limit_s=0.2"))
    code, result, text = grade(SOLUTION)
    if code != 3 or result is not None or "not done within 0.2 s" not in text:
        fail("over the limit", code, result, text)
    settings.write_text(whole)
    program.unlink()
    code, result, text = grade(SOLUTION)
    if code != 3 or result is not None or "NOT GRADED" not in text:
        fail("without a program", code, result, text)

    code, text = run([str(RIDGE), "package", "gradescope", "--lab", "01", "--task", "nothing", "--out", str(archive)])
    if code != 2 or "its tasks are copy" not in text:
        fail("an unknown task", code, text)
    print(f"gradescope: {len(names)} entries, {good['score']} points in {good['execution_time']} s")


with tempfile.TemporaryDirectory(prefix="ridge-gradescope-") as folder:
    main(pathlib.Path(folder))
