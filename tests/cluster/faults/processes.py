"""Signals, limits, and other commands beside the collector."""
import resource
from one_fault import *


def signalled(*signals):
    def run(r):
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup would let the collector ignore it, too
        r.start()
        signal.signal(signal.SIGHUP, before)
        for s in signals:
            r.process.send_signal(s)
            time.sleep(0.05)
        expect("the signal ends it", True, r.until(r.ended) and r.process.returncode != 0)
        r.finish(("resume",))
        return r.sound()
    return run


fault("collector stopped for 8 s (SIGSTOP, SIGCONT)")(
    lambda r: (r.start(), r.process.send_signal(signal.SIGSTOP), time.sleep(8), r.go_on(), r.finish(), r.sound())[-1])
fault("Ctrl-C")(signalled(signal.SIGINT))
fault("Ctrl-C twice")(signalled(signal.SIGINT, signal.SIGINT))
fault("collector ended by SIGTERM")(signalled(signal.SIGTERM))
fault("terminal closed (SIGHUP)")(signalled(signal.SIGHUP))
fault("collector ended by the kernel for memory (SIGKILL)")(signalled(signal.SIGKILL))


def limited(kind, value):
    def run(r):
        r.start()
        resource.prlimit(r.process.pid, kind, (value, resource.prlimit(r.process.pid, kind)[1]))
        r.end()
        expect("it has ended by itself", True, r.process.returncode != 0)
        r.process = subprocess.Popen(r.course.command("resume"), env=r.course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        r.finish()
        return r.sound()
    return run


fault("collector out of memory (allocations fail)")(limited(resource.RLIMIT_AS, 1 << 20))
fault("collector out of file descriptors")(limited(resource.RLIMIT_NOFILE, 3))
fault("collector may write no file any more")(limited(resource.RLIMIT_FSIZE, 0))


@fault("the output's reader ends (a broken pipe)")
def _(r):
    r.start()
    r.process.stdout.close()
    r.process.wait(60)
    r.seen.append(r.process.returncode)
    r.process = subprocess.Popen(r.course.command("resume"), env=r.course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    r.finish()
    return r.sound()


@fault("two collectors at once")
def _(r):
    r.start()
    for words in (("resume",), r.course.grade_words()):
        second = r.course.run(*words)
        expect("the second one is refused: " + second.stderr, (True, True), (second.returncode != 0, "collect" in second.stderr))
    r.finish()
    return r.sound()


@fault("processes of a job stopped until it is given up, then continued")
def _(slurm):
    r = Round(slurm, order="slow 3").start(0)
    r.until(lambda: len(list(r.shared.glob("beat/ridge-*"))) >= 4)
    mine = []
    for p in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"cluster\0run" in p.read_bytes() and str(r.dir).encode() in p.read_bytes():
                mine.append(int(p.parent.name))
        except OSError:
            pass
    expect("jobs are found", True, mine != [])
    os.kill(mine[0], signal.SIGSTOP)
    expect("it is given up", True, r.until(lambda: r.course.rows("SELECT 1 FROM attempt WHERE state = 'fenced'"), 60) != [])
    try:
        os.kill(mine[0], signal.SIGCONT)
    except ProcessLookupError:
        pass
    r.finish()
    return r


def judge(change, back):
    def run(r):
        r.start()
        change(r.dir / "judge")
        time.sleep(3)
        back(r.dir / "judge")
        r.finish()
        return r.sound()
    return run


fault("judge missing for 3 s")(judge(lambda p: p.rename(str(p) + ".away"), lambda p: pathlib.Path(str(p) + ".away").rename(p)))
fault("judge not executable for 3 s")(judge(lambda p: p.chmod(0o600), lambda p: p.chmod(0o755)))


@fault("course.toml broken while grading")
def _(r):
    r.start()
    file = r.dir / "course.toml"
    text = file.read_text()
    file.write_text(text + "[labs.01\nthis is no TOML")
    said = r.course.run("status")
    expect("the line is told: " + said.stderr, (2, True), (said.returncode, "course.toml:18:" in said.stderr))
    r.end()
    expect("the collector has read it before", 0, r.process.returncode)
    file.write_text(text)
    return r.sound()


@fault("lab removed from course.toml while it is graded")
def _(r):
    r.start()
    file = r.dir / "course.toml"
    text = file.read_text()
    r.process.kill()
    file.write_text(text.replace("[labs.01]", "[labs.02]"))
    r.end()
    r.course.run("resume")  # collects what was sent
    said = r.course.run("export", "--lab", "01")
    expect("it is told: " + said.stdout + said.stderr, (2, True), (said.returncode, "labs.01" in said.stderr))
    file.write_text(text)
    r.finish()
    return r.sound()


@fault("roster edited while grading")
def _(r):
    r.start()
    rows = (r.dir / "roster.csv").read_text().splitlines()
    (r.dir / "roster.csv").write_text("\n".join(line for line in rows if not line.startswith("s7,")) + "\nnew,N,new@example.edu\n")
    r.end()
    r.course.add("new", "points 77", 77.0)
    (r.dir / "submissions/s7/copy.cu").unlink()
    (r.dir / "submissions/s7").rmdir()
    r.process = subprocess.Popen(r.course.command(*r.course.grade_words()), env=r.course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = r.finish()
    expect("who left is told: " + out, True, "not on this roster any more" in out)
    r.course.check()
    expect("who left is in no export", False, "s7" in r.run("export", "--lab", "01"))
    return r.summary()


@fault("roster without its columns while grading")
def _(r):
    r.start()
    text = (r.dir / "roster.csv").read_text()
    (r.dir / "roster.csv").write_text("nothing,here\n1,2\n")
    said = r.course.run("intake", "--lab", "01", "--submissions", str(r.dir / "submissions"), "--roster", str(r.dir / "roster.csv"), "--dry-run")
    expect("it is told: " + said.stderr, (2, True), (said.returncode, "no column `id`" in said.stderr))
    r.end()
    (r.dir / "roster.csv").write_text(text)
    return r.sound()


@fault("hand-ins removed while they are graded")
def _(r):
    r.start()
    shutil.rmtree(r.dir / "submissions")
    r.finish()
    return r.sound()


@fault("hand-ins changed while they are graded")
def _(r):
    r.start()
    for file in r.dir.glob("submissions/*/copy.cu"):
        file.write_text("// points 3\n")
    r.finish()
    return r.sound()


def beside(*commands):
    """Other commands while the class is graded, all of which work."""
    def run(r):
        r.start()
        n = 0
        while not r.ended() and n < 20:
            for words in commands:
                r.run(*[w.replace("@", f"{r.dir}/out{n}") for w in words])
            n += 1
        r.finish()
        return r.sound() + f"; {n} times"
    return run


fault("export while grading")(beside(("export", "--lab", "01"), ("export", "--lab", "01", "--format", "json", "-o", "@")))
fault("report and feedback while grading")(beside(("report", "--lab", "01"), ("report", "--lab", "01", "--html", "@"), ("export", "--lab", "01", "--feedback", "@f")))
fault("backup and status while grading")(beside(("backup", "@"), ("status",)))


@fault("cancel while grading")
def _(r):
    r.start()
    r.run("cancel")
    r.until(r.ended, 30)
    r.finish()
    return r.sound()


@fault("regrade while grading")
def _(r):
    r.start()
    done = r.course.run("regrade", "--lab", "01", "--student", "s1", "--reason", "test")
    expect("regrade: " + done.stdout + done.stderr, True, done.returncode in (0, 2, 3))
    r.finish()
    newest = r.course.rows("SELECT count(*) FROM work WHERE state <> 'graded'")
    expect("nothing is open", [(0,)], newest)
    rows = r.export()
    expect("the export", r.course.expected, {row["student"]: float(row["percent"]) for row in rows})
    return r.summary()


@fault("extension and override while grading")
def _(r):
    r.start()
    r.run("extend", "--lab", "01", "--student", "s2", "--until", "2100-01-01T00:00:00Z", "--reason", "test")
    r.run("override", "--lab", "01", "--student", "s0", "--percent", "50", "--reason", "test")
    r.finish()
    r.course.check()
    rows = r.export()
    expect("the export", {**r.course.expected, "s0": 50.0}, {row["student"]: float(row["percent"]) for row in rows})
    return r.summary()
