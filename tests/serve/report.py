"""The table of hostile requests and faults, tests/serve/REPORT.md: each test writes its own section, and fails where the
committed one says something else."""
import datetime
import json
import pathlib
import subprocess
import sys

FILE = pathlib.Path(__file__).parent / "REPORT.md"
HEAD = """# Hostile requests and faults

What the server of `ridge serve` did with each, as the tests saw it. `python3 tests/serve/test_server.py build/bin/ridge --write` and
`python3 tests/serve/test_net.py build/bin/ridge-net-server --write` write this file, and `python3 tests/cluster/test_live_page.py http --write` the part on the instructor's page;
without `--write`, a test fails where a row differs.
"""


def reason(body):
    """What an answer says, in one line."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body)
    try:
        text = json.loads(text).get("problem", "")
    except (ValueError, AttributeError):
        pass
    return "" if text.startswith("<") else text.strip().split("\n")[0][:200]


def written():
    """When, and with which sources."""
    commit = subprocess.run(["git", "-C", str(FILE.parent), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return f"Last written on {datetime.date.today()}, at commit {commit or 'unknown'}.\n"


class Report:
    def __init__(self, section):
        self.section, self.rows = section, []

    def add(self, what, answer):
        self.rows.append((what, answer))

    def text(self):
        cell = lambda s: s.replace("|", "\\|")
        return f"\n## {self.section}\n\n| # | request or fault | what happened |\n|--:|---|---|\n" + "".join(
            f"| {i} | {cell(what)} | {cell(answer)} |\n" for i, (what, answer) in enumerate(self.rows, 1))

    def finish(self):
        """True where the file has this section."""
        sections = {}
        if FILE.exists():
            for part in FILE.read_text().split("\n## ")[1:]:
                sections[part.split("\n", 1)[0]] = "\n## " + part
        if "--write" in sys.argv:
            sections[self.section] = self.text()
            FILE.write_text(HEAD + written() + "".join(s.rstrip("\n") + "\n" for _, s in sorted(sections.items())))
            return True
        return sections.get(self.section, "").strip() == self.text().strip()
