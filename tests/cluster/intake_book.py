"""A course that never sends a job, for tests of the intake."""
import io, tarfile, zipfile
from rehearsal import *

GOOD = "// points 50\n"


class Book:
    def __init__(self, roster="", head=""):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-intake."))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "RIDGE_", "LC_", "LANG"))}
        self.hand_ins = self.dir / "hand-ins"
        self.hand_ins.mkdir()
        (self.dir / "course.toml").write_text(f'name = "Intake"\n{head}[grading]\nsigned = false\n[labs.01]\n')
        (self.dir / "roster.csv").write_text(roster)

    def run(self, *words, cwd=None):
        return subprocess.run([RIDGE, "cluster", words[0], "--course", str(self.dir / "course.toml"), *words[1:]], capture_output=True,
                              text=True, env=self.env, cwd=cwd or self.dir, timeout=120)

    def intake(self, *more, rosters=("roster.csv",), folder=None):
        named = [word for r in rosters for word in ("--roster", str(self.dir / r))]
        return self.run("intake", "--lab", "01", "--submissions", str(folder or self.hand_ins), *named, *more)

    def put(self, name, text=GOOD):
        path = self.hand_ins / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def rows(self, sql):
        with sqlite3.connect(f"file:{self.dir}/gradebook.sqlite?mode=ro", uri=True, timeout=20) as db:
            return db.execute(sql).fetchall()

    def owners(self):
        """student -> (source, problem) of what counts"""
        return {s: (source, problem) for s, source, problem in self.rows(
            "SELECT student, source, problem FROM submission ORDER BY COALESCE(handed_in, taken), id")}

    def text_of(self, student):
        content = self.rows(f"SELECT content FROM submission WHERE student = '{student}' ORDER BY COALESCE(handed_in, taken), id")[-1][0]
        return (self.dir / "shared/contents/01_coalescing" / content / "copy.cu").read_text()

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def zipped(*files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, text in files:
            z.writestr(name, text)
    return out.getvalue()
