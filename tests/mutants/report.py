"""What the judged mutants say: a table by lab, and every survivor with the reason in equivalent.toml, if there is one."""
import collections
import datetime
import pathlib
import subprocess
import tomllib

from places import ROOT

CAUSES = ("correctness", "sanitizer", "time limit", "goals")


KINDS = ("equivalent", "unmeasured")  # 'missed' counts as a survivor


class Equivalents:
    """Entries of equivalent.toml. A mutant is recognised by its text: the file, the old line and the new one. Its kind is
    'equivalent' (same results, same counts), 'unmeasured' (same results, slower where no goal looks), or 'missed' (an error that
    no check finds so far, and why)."""

    def __init__(self, file=pathlib.Path(__file__).parent / "equivalent.toml"):
        self.entries = tomllib.loads(file.read_text()).get("mutant", [])
        for e in self.entries:
            assert e["kind"] in (*KINDS, "missed") and e["why"], e

    def entry(self, mutant):
        for e in self.entries:
            if (e["file"] == f"{mutant['lab']}/{mutant['file']}" and e["old"] == mutant["old"] and mutant["new"] in e["new"]
                    and e.get("occurrence", mutant["occurrence"]) == mutant["occurrence"]):
                return e
        return None


def summary(results, equivalents):
    """{lab: Counter}: 'tried', 'not built', each of CAUSES, 'killed', each of KINDS, 'survived'."""
    table = collections.defaultdict(collections.Counter)
    for one in results:
        count = table[one["lab"]]
        if one["verdict"] == "skipped":
            continue
        count["tried"] += 1
        if one["verdict"] == "killed":
            count["killed"] += 1
            count[one["cause"]] += 1
        elif one["verdict"] == "survived" and (entry := equivalents.entry(one)) and entry["kind"] in KINDS:
            count[entry["kind"]] += 1
        else:
            count[one["verdict"]] += 1
    return table


def share(count):
    """Killed, of the mutants that are not equivalent; then without those whose slowness no goal looks at."""
    different = count["killed"] + count["survived"]
    all_of = different + count["unmeasured"]
    return f"{100 * count['killed'] / all_of:.1f}% | {100 * count['killed'] / different:.1f}%" if different else "- | -"


def rows(results, equivalents):
    table = summary(results, equivalents)
    table["all"] = sum(table.values(), collections.Counter())
    yield "| lab | tried | not built | killed | " + " | ".join("by " + c for c in CAUSES) + " | equivalent | unmeasured | survived | killed of the not equivalent | without unmeasured |"
    yield "|---|" + "--:|" * (len(CAUSES) + 8)
    for lab, count in sorted(table.items(), key=lambda item: (item[0] == "all", item[0])):
        cells = [count["tried"], count["not built"], count["killed"], *(count[c] for c in (*CAUSES, *KINDS)), count["survived"]]
        yield f"| {lab} | " + " | ".join(map(str, cells)) + f" | {share(count)} |"


def by_operator(results, equivalents):
    yield "| operator | tried | not built | killed | equivalent | unmeasured | survived | killed of the not equivalent | without unmeasured |"
    yield "|---|" + "--:|" * 8
    table = summary([dict(one, lab=one["operator"]) | {"home": one["lab"]} for one in results], Relabelled(equivalents))
    for operator, count in sorted(table.items()):
        yield (f"| {operator} | {count['tried']} | {count['not built']} | {count['killed']} | {count['equivalent']} | {count['unmeasured']} | {count['survived']} | "
               f"{share(count)} |")


class Relabelled:
    """Asks `equivalents` about a mutant whose lab was replaced by its operator."""

    def __init__(self, equivalents):
        self.equivalents = equivalents

    def entry(self, mutant):
        return self.equivalents.entry(dict(mutant, lab=mutant["home"]))


def survivors(results, equivalents):
    for one in sorted(results, key=lambda r: (r["lab"], r["file"], r["line"])):
        if one["verdict"] == "survived":
            entry = equivalents.entry(one) or {"kind": "survived", "why": ""}
            kind, why = entry["kind"], entry["why"]
            yield f"- **{kind}** {one['lab']}/{one['file']}:{one['line']}, {one['operator']}: `{on_one_line(one['old'])}` becomes `{on_one_line(one['new'])}`. {why}"


def on_one_line(text):
    return " ".join(text.split())


def commit():
    git = ["git", "-C", str(ROOT)]
    sha = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "--", "labs", "solutions", "grader", "runtime", "checks"], capture_output=True, text=True).stdout.strip()
    return (sha or "unknown") + (", with changes" if changed else "")


def page(results, equivalents, seed, frozen):
    """`frozen`: names of the operators written after the checks."""
    ordinary = [r for r in results if r["operator"] not in frozen]
    later = [r for r in results if r["operator"] in frozen]
    seconds = sorted(r["seconds"] for r in results) or [0]
    lines = ["# Mutants of the reference solutions", "",
             f"Written by `tests/mutants/mutants.py` on {datetime.date.today()}, commit {commit()}, seed {seed}: {len(results)} mutants, "
             f"backend cpu, `ridge check`, then `ridge grade`. A mutant took {seconds[len(seconds) // 2]:.1f} s at the median, {sum(seconds) / 60:.0f} minutes all.", "",
             "*Killed* means that the task lost a point. *Equivalent*: same results, same counts. *Unmeasured*: same results; the cost differs "
             "only where no goal of the emulator looks. Mutants that do not compile and equivalent ones are left out of the shares.", "",
             *rows(ordinary, equivalents), "", *by_operator(ordinary, equivalents)]
    if later:
        lines += ["", "## Operators written after the checks", "", *rows(later, equivalents), "", *by_operator(later, equivalents)]
    lines += ["", "## Survivors", "", *(list(survivors(results, equivalents)) or ["None."])]
    return "\n".join(lines) + "\n"
