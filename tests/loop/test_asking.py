"""Questions at a terminal: predictions before a first run, and the quiz; and where nobody is asked.

test_asking.py RIDGE REPOSITORY
"""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RIDGE, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
SLOW = 300  # seconds, for a machine with other work


def environment(work, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("RIDGE_") and k != "CI"}
    return env | {"RIDGE_ROOT": str(ROOT), "RIDGE_WORK": str(work), "NO_COLOR": "1", "TERM": "dumb"} | more


class Terminal:
    """The program at a terminal of its own."""

    def __init__(self, work, *arguments, **more):
        self.text, self.seen = "", 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execve(RIDGE, [str(RIDGE), *arguments], environment(work, **more))

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            part = os.read(self.fd, 65536)
        except OSError:  # the program has ended
            return False
        self.text += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)

    def expect(self, what):
        end = time.time() + SLOW
        while what not in self.text[self.seen:]:
            if time.time() > end or not self.read(SLOW):
                raise AssertionError(f"{what!r} was not printed:\n{self.text}")
        self.seen = self.text.index(what, self.seen) + len(what)

    def say(self, line):
        os.write(self.fd, (line + "\n").encode())

    def end(self):
        while self.read(SLOW):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def run(work, *arguments, text="", **more):
    return subprocess.run([RIDGE, *arguments], input=text, text=True, cwd=ROOT, capture_output=True, timeout=SLOW,
                          env=environment(work, **more))


def events(work, kind):
    file = work / ".ridge/journal/01_coalescing.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [e for e in lines if e["kind"] == kind]


def predictions_are_asked_once(work):
    t = Terminal(work, "check", "01", "--task", "copy", "--backend", "cpu")
    t.expect("Enter skips the question")
    t.expect("copy: In copy.cu")
    for unreadable in ("many", "1,000"):
        t.expect("x the ideal> ")
        t.say(unreadable)
        t.expect("Enter skips the question")
    t.expect("x the ideal> ")
    t.say("4x")
    t.expect("Predicted and measured")
    t.expect("copy: 4 predicted, 8 x the ideal measured: ratio 0.5")
    assert t.end() == 1, t.text
    assert [e["value"] for e in events(work, "predict")] == [4]
    assert [e["value"] for e in events(work, "measured")] == [8]

    t = Terminal(work, "check", "01", "--task", "copy", "--backend", "cpu")
    t.end()
    assert "x the ideal>" not in t.text and "Predicted" not in t.text, t.text


def the_rest_can_be_skipped(work):
    t = Terminal(work, "check", "01", "--backend", "cpu")
    t.expect("s skips all 4")
    t.expect("sectors> ")
    t.say("")
    t.expect("x the ideal> ")
    t.say("s")
    t.expect("Score")
    t.end()
    assert [e.get("answer", "") for e in events(work, "predict")] == ["4", "", "", "", ""], t.text
    listed = run(work, "predict", "01").stdout
    assert listed.count("-> skipped") == 4, listed
    assert "1 of 1 prediction right or within a factor of 2; median ratio 0.5." in listed, listed
    log = run(work, "log", "01").stdout
    assert "## Predictions" in log and "ratio 0.5" in log, log
    page = work / "page.html"
    assert run(work, "report", "--html", str(page)).returncode == 0
    assert "Calibration by lab" in page.read_text()


def an_end_of_input_skips(work):
    t = Terminal(work, "check", "01", "--task", "transpose", "--backend", "cpu")
    t.expect("x the ideal> ")
    os.write(t.fd, b"\x04")
    t.expect("Score")
    t.end()
    assert len(events(work, "predict")) == 2, t.text
    assert "not asked yet" in run(work, "predict", "01").stdout


def an_interrupt_asks_again(work):
    t = Terminal(work, "check", "01", "--task", "transpose", "--backend", "cpu")
    t.expect("x the ideal> ")
    t.say("2")
    t.expect("wavefronts> ")
    os.kill(t.pid, signal.SIGINT)
    assert t.end() == 130, t.text
    assert [e["answer"] for e in events(work, "predict")] == ["2"]
    t = Terminal(work, "check", "01", "--task", "transpose", "--backend", "cpu")
    t.expect("wavefronts> ")
    t.say("32")
    t.expect("transpose: 32 predicted, 4 wavefronts is right: ratio 8")
    t.expect("8 banks")
    t.end()
    assert "2 predicted; not measured yet" in run(work, "predict", "01").stdout


def nobody_is_asked(work):
    for arguments, more in ((["--no-predict"], {}), (["--json", str(work / "r.json")], {}), ([], {"CI": "true"})):
        t = Terminal(work, "check", "01", "--task", "copy", "--backend", "cpu", *arguments, **more)
        t.end()
        assert "what do you expect" not in t.text, t.text
        assert "Score" in t.text, t.text
        for result in (work / ".ridge").glob("results/*/*.json"):
            result.unlink()  # so that the next one is a first run again
    t = Terminal(work, "grade", "01", "--task", "copy", "--backend", "cpu")
    t.end()
    assert "what do you expect" not in t.text, t.text
    for result in (work / ".ridge").glob("results/*/*.json"):
        result.unlink()
    piped = run(work, "check", "01", "--task", "copy", "--backend", "cpu", text="4\n")
    assert "what do you expect" not in piped.stdout, piped.stdout
    assert not events(work, "predict")


def a_quiz_can_be_left_and_resumed(work):
    t = Terminal(work, "quiz", "01")
    t.expect("8 questions, 0 answered")
    t.expect("sectors> ")
    t.say("a dozen")
    t.expect("is no number")
    t.expect("sectors> ")
    t.say("32 sectors")
    t.expect("No. A sector holds 8 floats")
    t.expect("Lesson: labs/01_coalescing/README.md#the-idea")
    t.expect("1 to 4> ")
    t.say("7")
    t.expect("is no choice")
    t.expect("1 to 4> ")
    t.say("3")
    t.expect("Right.")
    t.expect("bytes> ")
    os.kill(t.pid, signal.SIGINT)
    assert t.end() == 130
    assert [(e["question"], e["right"]) for e in events(work, "quiz")] == [("stride-three", False), ("reversed", True)]

    # From a file: the third to the last, of which one is left open and one cannot be read.
    r = run(work, "quiz", "01", text="288\n\n4\n8\nabc\n10\n")
    assert "8 questions, 2 answered" in r.stdout and "3 of 8" in r.stdout, r.stdout
    assert "each letter once" in r.stdout or "name all 5" in r.stdout, r.stdout
    assert "6 of 8 answered, 5 right at first, 5 right by now." in r.stdout, r.stdout
    assert "./ridge quiz 01 --again" in r.stdout, r.stdout
    listed = run(work, "quiz", "01", "--list").stdout
    assert "stride-three: wrong so far" in listed and "tiled-order: open" in listed, listed

    r = run(work, "quiz", "01", "--again", text="12\n")
    assert "6 of 8 answered, 5 right at first, 6 right by now." in r.stdout, r.stdout
    assert r.stdout.count("> ") == 1, r.stdout

    # The right order is found from the letters that the list shows.
    shown = dict((text[:20], letter) for letter, text in re.findall(r"^   ?\s*([a-e])\s+(.*)$", listed, re.M))
    right = [i["text"][:20] for q in quiz()["question"] if q["id"] == "tiled-order" for i in q["items"]]
    order = " ".join(shown[text] for text in right)
    r = run(work, "quiz", "01", text=f"2\n{order}\n")
    assert "8 of 8 answered, 7 right at first, 8 right by now." in r.stdout, r.stdout
    assert "8 of 8" in run(work, "quiz", "01").stdout
    assert "## Quiz" in run(work, "log", "01").stdout


def quiz():
    import tomllib
    return tomllib.loads((ROOT / "labs/01_coalescing/quiz.toml").read_text())


def a_quiz_of_the_courses_own(work):
    own = work / "own.toml"
    own.write_text('[[question]]\nid = "x"\nkind = "number"\nask = "How many?"\nanswer = 3\nwhy = "Three."\n'
                   'wrong = [{ answer = 4, why = "One less." }]\n')
    r = run(work, "quiz", "01", "--file", str(own), text="4\n")
    assert "1 questions" not in r.stdout and "No. One less." in r.stdout, r.stdout
    own.write_text(own.read_text().replace("answer = 3", "anwser = 3"))
    r = run(work, "quiz", "01", "--file", str(own))
    assert r.returncode == 3 and "own.toml:1: 'answer' is missing" in r.stderr, r.stderr
    assert run(work, "quiz", "01", "--file", str(work / "none.toml")).returncode == 2


def main():
    with tempfile.TemporaryDirectory() as first:
        predictions_are_asked_once(Path(first))
        the_rest_can_be_skipped(Path(first))
    for case in (an_end_of_input_skips, an_interrupt_asks_again, nobody_is_asked, a_quiz_can_be_left_and_resumed,
                 a_quiz_of_the_courses_own):
        with tempfile.TemporaryDirectory() as work:
            case(Path(work))
            print("ok", case.__name__.replace("_", " "))


if __name__ == "__main__":
    main()
