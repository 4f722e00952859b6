"""A class whose hand-ins are taken in and judged, without Slurm and in a second: the records are written here, as a judge
would, and put into the gradebook."""
import hashlib, json
from rehearsal import *

LAB = "01_coalescing"
FILES = ("copy.cu", "aos_to_soa.cu", "transpose.cu", "gather.cu")
DEADLINE = 1_793_570_400  # 2026-11-01T22:00:00Z
# id -> (name, Canvas's flat name, Canvas's user, Moodle's participant): six scripts, marks of HTML, two of one name
# The ids have eight digits: five given digits stand in one SHA-256 digest of 17,000 by chance.
STUDENTS = {
    "kx101": ("Jane Doe", "doejane", 90041711, 50062811), "kx102": ("Müller, Jürgen", "müllerjürgen", 90041712, 50062812),
    "kx103": ("Αλέξανδρος Παπάς", "παπάςαλέξανδρος", 90041713, 50062813), "kx104": ("Ирина Петрова", "петроваирина", 90041714, 50062814),
    "kx105": ("王 小明", "王小明", 90041715, 50062815), "kx106": ("أحمد علي", "عليأحمد", 90041716, 50062816),
    "kx107": ("<script>alert('x')</script> & \"Co\"", "scriptalertxscriptco", 90041717, 50062817),
    "kx108": ("山田 はなこ", "山田はなこ", 90041718, 50062818), "kx109": ("Hanging Harry", "harryhanging", 90041719, 50062819),
    "kx110": ("Broken Betty", "bettybroken", 90041720, 50062820), "kx111": ("Absent Anna", "annaabsent", 90041721, 50062821),
    "kx112": ("Walt_Waiting", "waltwaiting", 90041722, 50062822), "kx113": ("Jane Doe", "doejane", 90041723, 50062823)}
NO_RECORD = {"kx109", "kx110", "kx111", "kx112"}
SECRETS = ("SEED-0b5e", "node-of-the-lab", "/home/judge", "illness of")  # of records and decisions: for no student's eyes


def check(name, passed, message="", cause=""):
    return {"name": name, "status": "passed" if passed else "failed", "message": message, **({"cause": cause} if cause else {})}


def goal(id, value, points, most, met):
    return {"id": id, "title": f"goal of {id}", "metric": "sectors_over_ideal", "unit": "x", "value": value, "zero": 4.0, "full": 1.02,
            "points": points, "max": most, "met": met, "note": ""}


def task(id, title, points, most, checks, goals=(), cases=(), kernels=()):
    status = "passed" if points == most else "failed"
    return {"id": id, "title": title, "status": status, "reason": "", "points": points, "max": most, "checks": list(checks),
            "goals": list(goals), "cases": list(cases), "kernels": list(kernels), "output": "", "output_bytes": 0}


def tasks(level):
    """Of four levels of skill, 0 to 3."""
    hostile = "a <b>bold</b> case: element 5 is 1, not 2 </article><img src=x onerror=alert(1)>"
    all = [task("copy", "Copy an array", 15, 15, [check("correct", True), check("sectors", True)], [goal("sectors", 1.0, 10, 10, True)])]
    if level >= 1:
        slow = level == 1
        lines = [{"file": "aos_to_soa.cu", "line": 3, "op": "global_ld", "requests": 100, "lanes": 3200, "bytes": 12800, "sectors": 3200,
                  "ideal_sectors": 400, "wavefronts": 3200, "conflicts": 0, "lane_step": [32, 32]}]
        all.append(task("aos_to_soa", "Array of structures to structure of arrays", 5 if slow else 25, 25,
                        [check("correct", True), check("sectors", not slow)], [goal("sectors", 8.0 if slow else 1.0, 0 if slow else 20, 20, not slow)],
                        kernels=[{"kernel": "aos_to_soa_kernel", "grid": [4, 1, 1], "block": [256, 1, 1], "launches": 1, "counters": {}, "lines": lines}]))
    else:
        all.append(task("aos_to_soa", "Array of structures to structure of arrays", 0, 25, [
            check("build", False, "aos_to_soa.cu does not compile:\naos_to_soa.cu:3:9: error: use of undeclared identifier 'i'\n  out[i] = in[i].x;\n      ^")]))
    right = level >= 3
    all.append(task("transpose", "Transpose a matrix", 35 if right else 0, 35,
                    [check("correct", right, "" if right else "* x *: wrong result; `ridge check` shows values on public inputs"),
                     check("sectors", right, "" if right else "not measured, since the answer is not right yet")],
                    [goal("sectors", 1.0 if right else None, 20 if right else 0, 20, right)],
                    [] if right else [{"name": "* x *", "status": "failed", "message": "wrong result"}]))
    all.append(task("gather", "Gather rows by an index list", 25 if level >= 2 else 0, 25,
                    [check("memory", True), check("correct", level >= 2, "" if level >= 2 else hostile)],
                    [], [] if level >= 2 else [{"name": "index <list> *", "status": "failed", "message": "wrong"}]))
    return all


def record(level, content, nonce, version="1"):
    all = tasks(level)
    points = sum(t["points"] for t in all)
    return {"schema": "ridge.result/1", "attempt": f"20261101T1{level}0405.123Z-{nonce[:6]}", "time": f"2026-11-01T1{level}:04:05Z", "lab": LAB,
            "title": "Memory coalescing", "mode": "grade", "standing": "official", "backend": "cpu", "outcome": "passed" if points == 100 else "failed",
            "nonce": nonce, "seed": SECRETS[0], "signature": {"value": "5" * 128},
            "device": {"kind": "emulated", "name": "SIMT emulator", "profile": "h200", "agents": SECRETS[1]},
            "submission": {"path": SECRETS[2], "files": {"copy.cu": hashlib.sha256(nonce.encode()).hexdigest()}, "sha256": content},
            "harness": {"files": {f"labs/{LAB}/check.cpp": version * 64}, "sha256": "a" * 64},
            "ridge": {"version": "0.1.0", "commit": "0123abcd"}, "sandbox": {"complete": True, "layers": [{"name": "limits", "on": True, "reason": SECRETS[1]}]},
            "seconds": {"build": 1.0, "run": 2.0}, "score": {"points": points, "max": 100, "coverage": 1.0}, "tasks": all}


class GradedClass:
    """`shape`: how the hand-ins are named: id, canvas, moodle."""

    def __init__(self, shape="id", head="", lab="", backend="cpu"):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-graded."))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "RIDGE_", "LC_", "LANG"))}
        self.env["TZ"] = "UTC0"  # pages have local times
        self.hand_ins = self.dir / "hand-ins"
        self.hand_ins.mkdir()
        self.nonces, self.shape, self.sources = {}, shape, {}
        (self.dir / "course.toml").write_text(
            f'name = "Parallel programming"\n{head}[grading]\nsigned = false\nbackend = "{backend}"\n[late]\npercent_per_day = 10\ndays = 3\n[labs.01]\ndeadline = 2026-11-01T22:00:00Z\n{lab}')
        quoted = lambda text: '"' + text.replace('"', '""') + '"'
        (self.dir / "roster.csv").write_text("id,name,email\n" + "".join(f"{i},{quoted(s[0])},{i}@example.edu\n" for i, s in STUDENTS.items()))
        (self.dir / "worksheet.csv").write_text('Identifier,"Full name","Email address",Grade\n' + "".join(
            f"Participant {s[3]},{quoted(s[0])},{i}@example.edu,\n" for i, s in STUDENTS.items()))
        (self.dir / "canvas.csv").write_text("Student,ID,SIS User ID,SIS Login ID,Section,Lab\n    Points Possible,,,,,100\n" + "".join(
            f"{quoted(s[0])},{s[2]},,{i}@example.edu,A,\n" for i, s in STUDENTS.items()))

    def command(self, *words):
        return [RIDGE, "cluster", words[0], "--course", str(self.dir / "course.toml"), *words[1:]]

    def run(self, *words, env=None):
        return subprocess.run(self.command(*words), capture_output=True, text=True, env={**self.env, **(env or {})}, cwd=self.dir, timeout=120)

    def source_of(self, student, file):
        name, flat, user, participant = STUDENTS[student]
        late = "LATE_" if student == "kx102" else ""
        if self.shape == "canvas":
            again = "copy-1.cu" if student == "kx103" and file == "copy.cu" else file
            return f"{flat}_{late}{user}_{user + 70000}_{again}"
        if self.shape == "moodle":
            return f"{name.replace('_', ' ').replace('/', '')}_{participant}_assignsubmission_file_/{file}"
        return f"{student}/{file}"

    def hand_in(self, student, text, when):
        for file in FILES:
            path = self.hand_ins / self.source_of(student, file)
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"// TASK({file[:-3]})\n// {text} of {student}\n__global__ void k() {{}}  // <i>\n// END({file[:-3]})\n")
            os.utime(path, (when, when))

    def intake(self):
        rosters = ["roster.csv"] + {"canvas": ["canvas.csv"], "moodle": ["worksheet.csv"]}.get(self.shape, [])
        return self.run("intake", "--lab", "01", "--submissions", str(self.hand_ins), *[w for r in rosters for w in ("--roster", r)])

    def db(self):
        return sqlite3.connect(self.dir / "gradebook.sqlite", timeout=20)

    def judge(self, levels, version="1", seconds=30.0):
        """Gives each waiting content its record."""
        db = self.db()
        with db:
            batch = db.execute("INSERT INTO batch(name, lab, state, job, tasks, made) VALUES(?, ?, 'over', ?, 1, 1)",
                               (f"{self.prefix()}{os.urandom(4).hex()}", LAB, str(4000 + len(self.nonces)))).lastrowid
            for work, content, student in db.execute(
                    "SELECT w.id, w.content, s.student FROM work w JOIN submission s ON s.content = w.content WHERE w.state = 'waiting' GROUP BY w.id").fetchall():
                if student not in levels:
                    continue
                nonce = os.urandom(16).hex()
                self.nonces.setdefault(student, []).append(nonce)
                text = record(levels[student], content, nonce, version)
                token = os.urandom(12).hex()
                db.execute("INSERT INTO attempt(token, work, number, state, batch, task, node, made, ended) VALUES(?, ?, 1, 'graded', ?, 0, 'n1', 1, 2)", (token, work, batch))
                db.execute("INSERT INTO result VALUES(?, ?, 1, ?, ?, 100, 1, ?, ?, ?, 1)",
                           (token, work, text["outcome"], text["score"]["points"], seconds, nonce, json.dumps(text)))
                db.execute("UPDATE work SET state = 'graded' WHERE id = ?", (work,))
        db.close()

    def prefix(self):
        return "ridge-" + self.db().execute("SELECT value FROM meta WHERE key = 'id'").fetchone()[0] + "-"

    def whole(self):
        """Two rounds: the first of some students, then what counts; hung, broken, absent and waiting ones among them."""
        early = DEADLINE - 5 * 86400
        first = {"kx101": 0, "kx102": 1, "kx104": 0}
        for i, student in enumerate(first):
            self.hand_in(student, "first try", early + 3600 * i)
        expect("intake", 0, self.intake().returncode)
        self.judge(first)
        levels = {"kx101": 3, "kx102": 2, "kx103": 0, "kx104": 1, "kx105": 2, "kx106": 1, "kx107": 1, "kx108": 3, "kx113": 0}
        for i, student in enumerate([*levels, "kx109", "kx112"]):
            self.hand_in(student, "last try", DEADLINE + 90000 if student == "kx102" else DEADLINE - 86400 + 5000 * i)
        if self.shape == "id":
            for student in ("kx110", "kx108"):  # of the second one the earlier hand-in counts
                (self.hand_ins / f"{student}.rar").write_bytes(b"Rar!\x1a\x07\x00")
        done = self.intake()
        expect("intake: " + done.stdout + done.stderr, 0, done.returncode)
        self.judge(levels, version="2")
        db = self.db()
        with db:
            db.execute("UPDATE work SET state = 'not-graded', reason = 'the judge did not end within 600 s (on node-of-the-lab)' WHERE content = "
                       "(SELECT content FROM submission WHERE student = 'kx109')")
        db.close()
        for words in (("extend", "--student", "kx103", "--until", "2026-11-20T22:00:00Z"), ("override", "--student", "kx104", "--percent", "61.5")):
            done = self.run(words[0], "--lab", "01", *words[1:], "--reason", f"{SECRETS[3]} {words[2]}", "--author", "Prof")
            expect(f"{words[0]}: {done.stderr}", 0, done.returncode)
        self.levels = levels
        return self

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
