"""The shared folder, its files, and the gradebook."""
from one_fault import *


def gone(part):
    def run(r):
        r.start()
        shutil.rmtree(r.shared / part)
        r.finish()
        return r.sound(taken=part != "taken")
    return run


for part in ("spool", "beat", "taken", "fenced"):
    fault(f"folder {part} removed")(gone(part))


@fault("shared folder away for 6 s")
def _(r):
    r.start()
    r.shared.rename(r.dir / "away")
    time.sleep(6)
    if r.shared.exists():  # made anew by a command
        shutil.rmtree(r.shared)
    (r.dir / "away").rename(r.shared)
    r.finish()
    return r.sound()


@fault("another file system over the shared folder for 4 s")
def _(r):
    r.start()
    if subprocess.run(["mount", "-t", "tmpfs", "none", str(r.shared)], capture_output=True).returncode:
        r.finish()
        return "not tried: nothing can be mounted here"
    time.sleep(4)
    subprocess.run(["umount", "--lazy", str(r.shared)], check=True)
    r.finish()
    return r.sound()


def plans(change):
    def run(r):
        r.start()
        for plan in r.shared.glob("batches/*/plan.json"):
            change(plan)
        r.finish()
        return r.sound()
    return run


fault("plan of a batch removed")(plans(lambda p: p.unlink()))
fault("plan of a batch cut in half")(plans(lambda p: p.write_text(p.read_text()[:len(p.read_text()) // 2])))


def last_content(r):
    content = r.course.rows("SELECT w.content FROM work w WHERE w.state <> 'graded' ORDER BY id DESC")[0][0]
    return r.shared / "contents/01_coalescing" / content


@fault("files of a hand-in removed from the shared folder")
def _(r):
    r.start()
    shutil.rmtree(last_content(r))
    r.finish()
    return r.sound()


@fault("files of a hand-in altered in the shared folder")
def _(r):
    r.start()
    file = last_content(r) / "copy.cu"
    file.unlink()
    file.write_text("// points 100 of an intruder\n")
    r.finish()
    return r.sound()


@fault("gradebook locked for 5 s")
def _(r):
    r.start()
    with sqlite3.connect(r.dir / "gradebook.sqlite", timeout=20, isolation_level=None) as db:
        db.execute("BEGIN IMMEDIATE")
        time.sleep(5)
        db.execute("ROLLBACK")
    r.finish()
    return r.sound()


@fault("gradebook locked for longer than 20 s")
def _(r):
    r.start()
    db = sqlite3.connect(r.dir / "gradebook.sqlite", timeout=20, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    out = r.end()
    expect("who holds it is told: " + out, (3, True), (r.process.returncode, "another process holds the gradebook" in out))
    db.execute("ROLLBACK")
    db.close()
    r.process = subprocess.Popen(r.course.command("resume"), env=r.course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    r.finish()
    return r.sound()


def books(r):
    return sorted(r.dir.glob("gradebook.sqlite*"))


@fault("gradebook moved away and back")
def _(r):
    r.start()
    (r.dir / "elsewhere").mkdir()
    for file in books(r):
        file.rename(r.dir / "elsewhere" / file.name)
    r.until(r.ended, 30)
    expect("the collector stops", True, r.ended())
    for file in books(r):
        file.unlink()
    for file in (r.dir / "elsewhere").iterdir():
        file.rename(r.dir / file.name)
    r.finish()
    return r.sound()


@fault("gradebook replaced by an older copy while it is used")
def _(r):
    r.start()
    r.run("backup", str(r.dir / "old.sqlite"))
    r.until(lambda: r.results() >= 3)
    shutil.copy(r.dir / "old.sqlite", r.dir / "new")
    (r.dir / "new").rename(r.dir / "gradebook.sqlite")
    r.until(r.ended, 30)
    expect("the collector stops", True, r.ended())
    for file in books(r):
        if file.name != "gradebook.sqlite":
            file.unlink()
    r.finish()
    return r.sound()


@fault("gradebook overwritten by garbage, restored from a backup")
def _(r):
    r.start()
    r.run("backup", str(r.dir / "old.sqlite"))
    r.process.kill()
    r.end()
    for file in books(r):
        file.write_bytes(os.urandom(8192)) if file.suffix == ".sqlite" else file.unlink()
    said = r.course.run("status")
    expect("it is told: " + said.stderr, (3, True), (said.returncode, "Restore it from a copy" in said.stderr))
    (r.dir / "gradebook.sqlite").unlink()
    r.run("restore", str(r.dir / "old.sqlite"))
    r.finish()
    return r.sound()


@fault("gradebook's -wal lost with the collector")
def _(r):
    r.start(2)
    r.run("backup", str(r.dir / "old.sqlite"))
    r.until(lambda: r.results() >= 4)
    r.process.kill()
    r.end()
    for file in books(r):
        if file.name != "gradebook.sqlite":
            file.unlink()
    said = r.course.run("resume")  # SQLite had written nothing into the file itself
    expect("it is told: " + said.stderr, (2, True), (said.returncode, "restore" in said.stderr))
    (r.dir / "gradebook.sqlite").unlink()
    r.run("restore", str(r.dir / "old.sqlite"))
    r.finish()
    return r.sound()


def to_a_full_disk(*words):
    def run(r):
        r.start().finish()
        disk = r.dir / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True).returncode:
            return "not tried: nothing can be mounted here"
        try:
            (disk / "out").write_text("the grades of before\n") if words[-1] == "disk/out" else None
            with open(disk / "filler", "wb", buffering=0) as f:
                try:
                    while True:
                        f.write(bytes(4096))
                except OSError:
                    pass
            done = r.course.run(*[str(r.dir / w) if w.startswith("disk/") else w for w in words])
            expect(f"a full disk is told: {done.stdout}{done.stderr}", (3, True), (done.returncode, "full" in done.stderr or "No space" in done.stderr))
            if words[-1] == "disk/out":
                expect("the file of before stays", "the grades of before\n", (disk / "out").read_text())
        finally:
            subprocess.run(["umount", "--lazy", str(disk)])
        return r.sound()
    return run


fault("export to a full disk")(to_a_full_disk("export", "--lab", "01", "-o", "disk/out"))
fault("report to a full disk")(to_a_full_disk("report", "--lab", "01", "--html", "disk/out"))
fault("feedback to a full disk")(to_a_full_disk("export", "--lab", "01", "--feedback", "disk/feedback"))
fault("backup to a full disk")(to_a_full_disk("backup", "disk/saved.sqlite"))


@fault("share squashes the account: its folders are another's for 6 s")
def _(slurm):
    sys.path.insert(0, str(HERE / "class_200"))
    from accounts import Accounts
    r = Round(slurm, order="slow 2")
    user = f"rsq{os.getpid() % 100000}"
    people = Accounts([user], r.dir / "home")
    try:
        if people.why:
            r.start().finish()
            return r
        for folder in (r.dir, pathlib.Path(slurm.dir)):
            folder.chmod(0o755)
        subprocess.run(["chown", "-R", user, str(r.dir)], check=True)
        as_root = r.course.command
        r.course.command = lambda *words: people.words(user, as_root(*words))
        r.start()
        parts = [p for p in r.shared.iterdir() if p.is_dir()]
        for part in parts:
            os.chown(part, 0, 0)
        time.sleep(6)
        for part in parts:
            shutil.chown(part, user)
        r.finish()
        expect("it ran as the account", {user}, {p.owner() for p in books(r)})
        r.course.command = as_root
        return r
    finally:
        people.remove()
