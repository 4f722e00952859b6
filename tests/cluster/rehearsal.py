"""A course on a virtual Slurm, for the tests of cluster/: what they all need, and nothing of what they assert."""
import os, pathlib, random, shutil, signal, sqlite3, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent.parent
RIDGE = os.environ.get("RIDGE_PROGRAM_UNDER_TEST", str(REPO / "build/bin/ridge"))
VIRTUAL = str(REPO / "cluster/virtual/cluster.sh")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would all that start here
checks = []  # a list, so that all who import it have the same one


def expect(what, wanted, got):
    checks.append(what)
    if wanted != got:
        raise SystemExit(f"FAILED: {what}: wanted {wanted!r}, got {got!r}")


def skip(why):
    print("skipped:", why)
    sys.exit(77)


class Slurm:
    """The one of the CTest fixture (RIDGE_TEST_SLURM), or one of our own."""

    def __init__(self, nodes=4, confined=False):
        shared = os.environ.get("RIDGE_TEST_SLURM")
        self.own = confined or not (shared and pathlib.Path(shared, "etc/slurm.conf").exists())
        self.dir = tempfile.mkdtemp(prefix="ridge-slurm.") if self.own else shared
        if self.own:
            up = subprocess.run([VIRTUAL, "up", self.dir, str(nodes), *(["--cgroup"] if confined else [])], capture_output=True, text=True)
            if up.returncode == 77 and confined:  # no control groups to write: without them
                up = subprocess.run([VIRTUAL, "up", self.dir, str(nodes)], capture_output=True, text=True)
            print(up.stderr.strip())
            if up.returncode == 77:
                shutil.rmtree(self.dir)
                skip(up.stderr.strip())
            if up.returncode:
                raise SystemExit("FAILED: " + up.stderr)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "RIDGE_"))}
        self.env["SLURM_CONF"] = self.dir + "/etc/slurm.conf"

    def call(self, *words):
        return subprocess.run([VIRTUAL, words[0], self.dir, *words[1:]], capture_output=True, text=True, env=self.env)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.own:
            self.call("down")
            if kind is None:
                shutil.rmtree(self.dir, ignore_errors=True)


class Course:
    """A folder with course.toml, a roster and submissions that the stand-in judge understands."""

    def __init__(self, slurm, grading="", head="", program=True):
        self.slurm = slurm
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-course."))
        self.env = dict(slurm.env)
        self.expected = {}
        (self.dir / "submissions").mkdir()
        shutil.copy(HERE / "stand_in_ridge.sh", self.dir / "judge")
        judge = f'program = "{self.dir}/judge"\n' if program else ""
        signed = "signed = false\nrequire_sandbox = false\n" if program else ""
        (self.dir / "course.toml").write_text(
            f'name = "Rehearsal"\n{judge}{head}\n[grading]\n{signed}{grading}\n[slurm]\npartition = "grade"\ncpus = 1\n'
            "[labs.01]\n")

    def add(self, student, order, points):
        folder = self.dir / "submissions" / student
        folder.mkdir(exist_ok=True)
        (folder / "copy.cu").write_text(f"// {order}\n")
        self.expected[student] = points

    def roster(self):
        names = sorted(self.expected)
        (self.dir / "roster.csv").write_text("id,name,email\n" + "".join(f"{n},N {n},{n}@example.edu\n" for n in names))

    def command(self, *words):
        return [RIDGE, "cluster", words[0], "--course", str(self.dir / "course.toml"), *words[1:]]

    def run(self, *words, limit=300, env=None):
        return subprocess.run(self.command(*words), capture_output=True, text=True, env={**self.env, **(env or {})},
                              timeout=limit)

    GRADE = ("grade", "--lab", "01", "--submissions", "submissions", "--roster", "roster.csv")

    def grade_words(self):
        return ("grade", "--lab", "01", "--submissions", str(self.dir / "submissions"), "--roster",
                str(self.dir / "roster.csv"))

    def rows(self, sql):
        with sqlite3.connect(f"file:{self.dir}/gradebook.sqlite?mode=ro", uri=True, timeout=20) as db:
            return db.execute(sql).fetchall()

    def gradebook(self):
        return {s: (None if p is None else round(100 * p / m, 6)) for s, p, m in self.rows(
            "SELECT s.student, r.points, r.max FROM submission s JOIN work w ON w.lab = s.lab AND w.content = s.content "
            "LEFT JOIN result r ON r.work = w.id AND r.counts = 1")}

    def check(self):
        """Nothing lost, nothing counted twice, nothing of the infrastructure's scored."""
        expect("the gradebook", self.expected, self.gradebook())
        expect("works with two results that count", [], self.rows(
            "SELECT work FROM result WHERE counts = 1 GROUP BY work HAVING count(*) > 1"))
        expect("results that count of attempts that were given up", 0, self.rows(
            "SELECT count(*) FROM result r JOIN attempt a USING(token) WHERE r.counts = 1 AND a.state <> 'graded'")[0][0])
        expect("works that are open", [], self.rows("SELECT id FROM work WHERE state <> 'graded'"))
        expect("the database", "ok", self.rows("PRAGMA integrity_check")[0][0])

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
