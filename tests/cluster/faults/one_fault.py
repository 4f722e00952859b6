"""One fault while a small class is graded (stand-in judge, virtual Slurm), and the check of its neighbours afterwards."""
import collections, csv, io, json, pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from rehearsal import *

faults = collections.OrderedDict()  # name -> function


def fault(name):
    def add(function):
        assert name not in faults
        faults[name] = function
        return function
    return add


class Round:
    """A class of eight that is graded, four at a time."""

    def __init__(self, slurm, works=8, order="slow 1", build=False, grading="", at_once=4):
        self.slurm, self.seen = slurm, []
        settings = "heartbeat_s = 5\nstart_s = 30\nretries = 6\nper_job = 1\nat_once = @\nreadmit_s = 2\n"
        head = '[build]\npartition = "cpu"\n' if build else ""
        self.course = Course(slurm, grading=settings.replace("@", str(at_once)) + grading + head)
        for i in range(works):
            self.course.add(f"s{i}", f"{order} {i * 11} of {i}", i * 11.0)
        self.course.roster()
        self.dir, self.shared = self.course.dir, self.course.dir / "shared"
        self.process = None

    def wrap(self, program, text):
        """A program of this name before the real one. REAL is that one, COUNT a file that counts its calls."""
        tools = self.dir / "tools"
        tools.mkdir(exist_ok=True)
        new = tools / (program + ".new")
        new.write_text("#!/bin/sh\n" + text.replace("REAL", shutil.which(program)).replace("COUNT", str(tools / (program + ".count"))))
        new.chmod(0o755)
        new.rename(tools / program)
        self.course.env["PATH"] = f"{tools}:{os.environ['PATH']}"

    def unwrap(self, program):
        self.wrap(program, 'exec REAL "$@"\n')

    def start(self, results=1):
        self.process = subprocess.Popen(self.course.command(*self.course.grade_words()), env=self.course.env, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.until(lambda: self.results() >= results)
        return self

    def results(self):
        try:
            return len(self.course.rows("SELECT token FROM result"))
        except sqlite3.Error:  # the tables are not there yet, or the fault is the gradebook's
            return 0

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            time.sleep(0.05)
        return condition()

    def ended(self):
        return self.process.poll() is not None

    def spool(self):
        folder = self.shared / "spool"
        return sorted(p for p in folder.glob("*.json") if p.name[0] != ".") if folder.exists() else []

    def published(self, seconds=60):
        """Files that the collector, which is stopped, has not taken."""
        self.until(lambda: list(self.shared.glob("beat/ridge-*")))
        self.process.send_signal(signal.SIGSTOP)
        expect("a result is published", True, self.until(self.spool, seconds) != [])
        return self.spool()

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def run(self, *words, code=0, **more):
        done = self.course.run(*words, **more)
        expect(f"{words}: {done.stdout}{done.stderr}", code, done.returncode)
        return done.stdout + done.stderr

    def export(self):
        """The rows; what the command remarks is no part of them."""
        done = self.course.run("export", "--lab", "01")
        expect(f"export: {done.stderr}", 0, done.returncode)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def end(self, limit=120):
        """The collector's end: its code and its words."""
        try:
            out = self.process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise SystemExit(f"FAILED: no end; {self.course.run('status').stdout}; kept {self.dir}")
        self.seen.append(self.process.returncode)
        self.words = out
        return out

    def finish(self, words=None):
        """An operator starts the command again until all is graded."""
        out = ""
        for _ in range(10):
            out = self.end()
            if self.process.returncode == 0:
                return out
            time.sleep(0.3)
            self.process = subprocess.Popen(self.course.command(*(words or self.course.grade_words())), env=self.course.env,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        raise SystemExit(f"FAILED: not all is graded: {out}; kept {self.dir}")

    def sound(self, taken=True):
        """Nothing lost, doubled or scored by mistake; the export is exact; each result's file is kept."""
        self.course.check()
        rows = self.export()
        expect("the export", {k: v for k, v in self.course.expected.items() if v is not None},
               {r["student"]: float(r["percent"]) for r in rows if r["percent"]})
        if taken:
            files = {p.stem for p in (self.shared / "taken").iterdir()}
            expect("results whose file is not kept", set(), {t for t, in self.course.rows("SELECT token FROM result")} - files)
        if self.spool():  # of an attempt that was given up, after the collector's end: the next one keeps it
            self.run("resume")
            self.course.check()
        expect("results that nobody takes", [], self.spool())
        return self.summary()

    def summary(self):
        states = dict(self.course.rows("SELECT state, count(*) FROM attempt GROUP BY state"))
        late = self.course.rows("SELECT count(*) FROM result WHERE counts = 0")[0][0]
        said = ", ".join(f"{n} {state}" for state, n in sorted(states.items()))
        codes = " then ".join(map(str, self.seen))
        return f"collector {codes}; attempts: {said}" + (f"; {late} kept, not counted" if late else "")
