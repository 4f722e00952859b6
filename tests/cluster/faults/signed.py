"""With the real judge: records that are forged, signed by another key, or can't be signed."""
from one_fault import *


class SignedRound(Round):
    """Two hand-ins to lab 01, which take the real judge some seconds each."""

    def __init__(self, slurm):
        self.slurm, self.seen = slurm, []
        self.course = Course(slurm, program=False, grading='signing_key = "key"\nkeys = ["KEYS/key.pub"]\nretries = 6\nper_job = 1\nat_once = 1\n')
        self.dir, self.shared = self.course.dir, self.course.dir / "shared"
        file = self.dir / "course.toml"
        file.write_text(file.read_text().replace("KEYS", str(self.dir)))
        self.key("key")
        for name in ("solutions", "labs"):
            target = self.dir / "submissions" / name
            target.mkdir()
            for source in (REPO / name / "01_coalescing").glob("*.cu"):
                if source.name not in ("entry.cu", "baseline.cu"):
                    shutil.copy(source, target)
            self.course.expected[name] = 100.0 if name == "solutions" else None
        self.course.roster()

    def key(self, name):
        made = subprocess.run([RIDGE, "key", "new", str(self.dir / name)], capture_output=True, text=True, env=self.course.env)
        if made.returncode:
            skip("no signing here: " + made.stderr)

    def sound(self):
        rows = dict(self.course.rows("SELECT s.student, r.points FROM submission s JOIN work w ON w.content = s.content JOIN result r ON r.work = w.id "
                                     "WHERE r.counts = 1"))
        expect("both are graded", {"solutions", "labs"}, set(rows))
        expect("the solution has full marks, the stub has not", (True, True), (rows["solutions"] == 100, rows["labs"] < 60))
        files = [str(self.dir / f"{i}.json") for i in range(2)]
        for name, (record,) in zip(files, self.course.rows("SELECT record FROM result WHERE counts = 1")):
            pathlib.Path(name).write_text(record)
        done = subprocess.run([RIDGE, "verify", *files, "--key", str(self.dir / "key.pub")], capture_output=True, text=True, env=self.course.env)
        expect("all records that count verify: " + done.stdout + done.stderr, 0, done.returncode)
        expect("the database", "ok", self.course.rows("PRAGMA integrity_check")[0][0])
        return self.summary()


@fault("points raised in a signed record")
def _(slurm):
    r = SignedRound(slurm).start(0)
    file = r.published(200)[0]
    a = json.loads(file.read_text())
    expect("a record", "graded", a["kind"])
    record = json.loads(a["record"])
    record["score"]["points"] = record["score"]["max"]
    record["note"] = "forged"
    a["record"] = json.dumps(record)
    file.unlink()
    file.write_text(json.dumps(a))
    r.go_on()
    r.finish()
    expect("it was refused", True, r.course.rows("SELECT count(*) FROM attempt WHERE state = 'failed' AND reason LIKE '%does not verify%'")[0][0] >= 1)
    return r


@fault("results signed by another key")
def _(slurm):
    r = SignedRound(slurm)
    r.key("other")
    r.start(0)
    r.until(lambda: r.results() >= 1 or r.ended(), 90)
    (r.dir / "key").rename(r.dir / "right")
    shutil.copy(r.dir / "other", r.dir / "key")  # as after a new key of which the collector knows nothing
    refused = lambda: r.course.rows("SELECT count(*) FROM attempt WHERE state = 'failed' AND reason LIKE '%verify%'")[0][0]
    r.until(lambda: refused() or r.ended(), 90)
    seen = refused()
    (r.dir / "right").rename(r.dir / "key")
    r.finish()
    expect("a record of the other key was refused", True, seen >= 1)
    return r


@fault("signing key away for a while")
def _(slurm):
    r = SignedRound(slurm).start(0)
    r.until(lambda: list(r.shared.glob("beat/ridge-*")))
    (r.dir / "key").rename(r.dir / "away")
    r.until(lambda: r.course.rows("SELECT 1 FROM attempt WHERE state = 'failed'") or r.ended(), 200)
    (r.dir / "away").rename(r.dir / "key")
    r.finish()
    return r
