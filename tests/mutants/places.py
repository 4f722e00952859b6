"""Where mutants are made: the files of a lab's reference solution, the tasks that judge each, and the folder's digest."""
import hashlib
import pathlib
import random
import re
import tomllib

import operators

ROOT = pathlib.Path(__file__).resolve().parents[2]


def labs(chosen=()):
    found = [f.parent.name for f in sorted(ROOT.glob("labs/*/lab.toml"))]
    return [lab for lab in found if not chosen or lab[:2] in chosen or lab in chosen]


def tasks_of(lab):
    """{file of the solution: [task, ...]}: the tasks that the emulator judges, headers of the solution included."""
    files = {}
    for task in tomllib.loads((ROOT / "labs" / lab / "lab.toml").read_text())["task"]:
        if not any(goal.startswith("cpu") for goal in goal_backends(task)) and "needs" in task:
            continue  # a GPU's alone
        todo = [task["file"]]
        for file in todo:  # grows
            files.setdefault(file, []).append(task["id"])
            text = (ROOT / "solutions" / lab / file).read_text()
            todo += [h for h in re.findall(r'#include "([\w./]+)"', text)
                     if (ROOT / "solutions" / lab / h).is_file() and h not in todo]
    return files


def goal_backends(task):
    return [goal.get("backend", "cpu") for goal in task.get("goal", [])]


def digest(lab):
    """Of all that decides a verdict and lies in the lab or its solution: a survivor is judged again where it changed."""
    sha = hashlib.sha256(b"check, then grade")
    for folder in ("labs", "solutions"):
        for file in sorted((ROOT / folder / lab).rglob("*")):
            if file.suffix in (".cu", ".cuh", ".hpp", ".cpp", ".toml") and "wrong" not in str(file.relative_to(ROOT)) and "steps" not in file.parts:
                sha.update(file.read_bytes())
    return sha.hexdigest()[:12]


def mutants_of(lab, table):
    """All mutants of a lab. `occurrence` tells equal lines of a file apart, so that a key survives edits elsewhere."""
    for file, tasks in tasks_of(lab).items():
        text = (ROOT / "solutions" / lab / file).read_text()
        lines = text.split("\n")
        seen = set()
        for operator, number, old, new in operators.mutants(text, table):
            if (number, new) in seen or old == new:
                continue
            seen.add((number, new))
            occurrence = 1 + sum(l.strip() == old.strip() for l in lines[: number - 1])
            one = dict(lab=lab, file=file, tasks=tasks, operator=operator, line=number, occurrence=occurrence,
                       old=old.strip(), new=new.strip(), whole=new)
            one["key"] = hashlib.sha256(f"{lab}/{file}\n{one['old']}\n{one['new']}\n{occurrence}".encode()).hexdigest()[:12]
            yield one


def sample(lab, table, seed, size):
    """`size` mutants in an order that the seed draws: a larger sample begins with the smaller one. 0: all."""
    ones = list(mutants_of(lab, table))
    random.Random(f"{lab} {seed}").shuffle(ones)
    return ones[:size] if size else ones
