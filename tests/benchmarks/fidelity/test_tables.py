"""The tables of benchmarks/fidelity are what the emulator counts today: test_tables.py RIDGE RECORDING [PROGRAM]

RECORDING: hopper_h200 or h200, as committed. 77: another compiler than that of the tables, whose counts differ by a few.
"""
import fnmatch
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ridge, name, programs = str(Path(sys.argv[1]).resolve()), sys.argv[2], sys.argv[3:]
tables = Path(__file__).resolve().parents[3] / "benchmarks/fidelity"
failures = 0


def check(what, good, more=""):
    global failures
    print(f"{'ok' if good else 'FAILED'}: {what}{'' if good else f' {more}'}", flush=True)
    failures += not good


def varies(launch, metric):
    """Whether a counter depends on the order in which warps or blocks run: no two runs need have the same."""
    return any(fnmatch.fnmatchcase(launch, d.get("launch", "*")) and fnmatch.fnmatchcase(metric, d.get("metric", "*"))
               for d in differences if "depend on the order" in d["reason"])


def counted(record):
    """{launch: its shape, its counters on both sides, its virtual time}"""
    return {one["launch"]: (one["grid"], one["block"], one.get("virtual_us"),
                            {v["metric"]: (v["emulator"], v["hardware"]) for v in one["exact"]
                             if not varies(one["launch"], v["metric"])}) for one in record["launches"]}


def sums(text, words):
    """The numbers of the sentence about all counter values."""
    found = re.search(words, text)
    return found and [int(n) for n in found.groups()]


kept = json.loads((tables / f"{name}.json").read_text())
whole = kept["summary"]
differences = tomllib.loads((tables / ("hopper_differences.toml" if name == "hopper_h200" else "differences.toml")).read_text())["difference"]
expected = [whole["equal"] + whole["known_differences"] + whole["unexplained"], whole["equal"], whole["known_differences"]]
page = sums((tables / f"{name}.md").read_text(),
            r"Of (\d+) counter values that are not zero on both sides, (\d+) are equal to the last digit, (\d+) differ")
check("the page has the sums of its JSON", page == expected, (page, expected))
if name == "hopper_h200":
    said = sums((tables / "README.md").read_text(), r"Of (\d+) counter values (\d+) are equal on an\s+H200, and (\d+) differ")
    check("README.md has them, too", said == expected, (said, expected))

with tempfile.TemporaryDirectory(prefix="ridge-fidelity-") as home:
    run = subprocess.run([ridge, "bench", "fidelity", *programs, "--ncu", str(tables / name / "ncu.csv"), "--out", f"{home}/now"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check("no counter differs without a reason", run.returncode == 0, run.stdout)
    now = json.loads(Path(home, "now.json").read_text())
if now["about"]["compiler"] != kept["about"]["compiler"]:
    print(f"the tables were made with {kept['about']['compiler']}, and here is {now['about']['compiler']}")
    sys.exit(1 if failures else 77)
today = now["summary"]
values = today["equal"] + today["known_differences"] + today["unexplained"]
check("there are as many values as in the table", values == expected[0], today)
before, after = counted(kept), counted(now)
check("the launches are the table's", before.keys() == after.keys(), before.keys() ^ after.keys())
different = [(launch, before[launch], after[launch]) for launch in before if before[launch] != after.get(launch)]
check("their counters and virtual times are the table's", not different, (len(different), different[:3]))
sys.exit(failures != 0)
