"""The rule of includes sees what is planted, and nothing else."""
import subprocess
import sys
import tempfile
from pathlib import Path

TARGETS = ["grader/base/error.hpp", "grader/judge/judge.hpp", "app/home.hpp", "app/x.hpp"]
RULE = Path(__file__).with_name("includes.py")


def judged(files):
    """Exit code and output of the rule for a tree with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ({target: "" for target in TARGETS} | files).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, RULE, folder], capture_output=True, text=True)
        return done.returncode, done.stdout


def expect(what, files, code, text):
    got = judged(files)
    if got[0] != code or text not in got[1]:
        sys.exit(f"{what}: expected {code} and {text!r}, got {got}")


expect("downwards", {"app/main.cpp": '#include "grader/base/error.hpp"\n#include "app/x.hpp"\n#include <vector>\n'}, 0, "no include")
expect("upwards", {"grader/base/error.cpp": '#include "grader/judge/judge.hpp"\n'}, 1, "grader/base may not use grader/judge")
expect("sideways", {"grader/bench/page.cpp": '#  include "grader/judge/judge.hpp"\n'}, 1, "grader/bench may not use grader/judge")
expect("a header too", {"learn/live/log.hpp": '#include "app/home.hpp"\n'}, 1, "learn/live/log.hpp includes app/home.hpp")
expect("by two dots", {"grader/base/error.cpp": '#include "../judge/judge.hpp"\n'}, 1, "grader/base may not use grader/judge")
expect("from the lowest", {"checks/check.hpp": '#include "grader/base/error.hpp"\n'}, 1, "checks may not use grader/base")
print("seen")
