"""Judges one mutant as a student's folder would be, on the emulator: `ridge check` of the tasks that its file serves, and
`ridge grade`, with its larger cases, where check finds nothing."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from places import ROOT

SANITIZER = ("race on", "race between", "uninitialised", "never freed", "leak of", "memory leak")


class Judge:
    """`ridge`: the program; `folder` keeps objects between mutants; `limit`: seconds that one run of a task may take."""

    def __init__(self, ridge, folder, limit):
        self.ridge, self.folder, self.limit = ridge, folder.resolve(), limit

    def __call__(self, mutant, modes=("check", "grade")):
        """(verdict, cause, words): verdict is 'killed', 'survived', 'not built' or 'skipped'."""
        with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
            lab = pathlib.Path(scratch) / mutant["lab"]
            shutil.copytree(ROOT / "solutions" / mutant["lab"], lab, ignore=shutil.ignore_patterns("steps", "*.md"))
            if "whole" in mutant:  # else the reference itself
                lines = (lab / mutant["file"]).read_text().split("\n")
                first = mutant["line"] - 1
                lines[first : first + mutant["old"].count("\n") + 1] = mutant["whole"].split("\n")
                (lab / mutant["file"]).write_text("\n".join(lines))
            judged = False
            for mode in modes:
                for task in mutant["tasks"]:
                    verdict, cause, words = self.task(lab, task, mode, pathlib.Path(scratch))
                    if verdict in ("killed", "not built"):
                        return verdict, cause, words if mode == "check" else "grade: " + words
                    judged |= verdict == "survived"
            return "survived" if judged else "skipped", "", ""

    def task(self, lab, task, mode, scratch):
        out = scratch / "result.json"
        out.unlink(missing_ok=True)
        environment = dict(os.environ, RIDGE_ROOT=str(ROOT), RIDGE_WORK=str(scratch / "work"), RIDGE_CACHE=str(self.folder / "objects"))
        try:
            subprocess.run([self.ridge, mode, lab.name[:2], "--backend", "cpu", "--task", task, "--submission", lab, "--json", out,
                            "--time-limit", str(self.limit)], capture_output=True, timeout=40 * self.limit, cwd=scratch, env=environment)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"mutants.py: `ridge {mode}` of {lab.name}, {task} did not end: is this machine overloaded?")
        if not out.is_file():
            raise SystemExit(f"mutants.py: `ridge {mode}` of {lab.name}, {task} wrote no result; run it by hand and see why")
        return verdict_of(json.loads(out.read_text()), task)


def verdict_of(result, task):
    if result["outcome"] == "build-failed":
        return "not built", "build", ""
    [one] = [t for t in result["tasks"] if t["id"] == task]
    if one["status"] == "skipped":
        return "skipped", "", one.get("reason", "")
    if one["status"] == "passed" and one["points"] >= one["max"]:
        return "survived", "", ""
    failed = [c for c in one["checks"] if c["status"] != "passed"]
    if not failed:
        return "killed", "goals", "points"
    name, message = failed[0]["name"], failed[0].get("message", "")
    if name in {g["id"] for g in one.get("goals", [])}:
        cause = "goals"
    elif any(words in message for words in SANITIZER):
        cause = "sanitizer"
    elif name == "time-limit":
        cause = "time limit"
    else:
        cause = "correctness"
    return "killed", cause, f"{name}: {message.splitlines()[0] if message else ''}"[:160]
