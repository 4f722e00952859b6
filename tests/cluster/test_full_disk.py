#!/usr/bin/env python3
"""A full disk under the gradebook, under the shared folder (where results are published), and where hand-ins are unpacked:
nothing acknowledged is lost, the message says what failed, where and what to try, and `resume` finishes.

test_full_disk.py [PART...]    gradebook, intake, shared; all by default (15 s)
"""
import tarfile
from rehearsal import *

parts = sys.argv[1:] or ["gradebook", "intake", "shared"]


class SmallDisk:
    """A tmpfs of our own."""

    def __init__(self, folder, size):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True, text=True)
        if made.returncode:
            self.folder.rmdir()
            skip("a small tmpfs cannot be mounted here: " + made.stderr.strip())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", str(self.folder)])

    def fill(self):
        with open(self.folder / "filler", "ab", buffering=0) as f:
            try:
                while True:
                    f.write(b"\0" * 4096)
            except OSError:
                pass

    def free(self):
        (self.folder / "filler").unlink()


def place(course, key, value):
    file = course.dir / "course.toml"
    file.write_text(file.read_text().replace("[grading]", f'{key} = "{value}"\n[grading]', 1))


def started(course, results):
    process = subprocess.Popen(course.command(*course.grade_words()), env=course.env, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    while process.poll() is None:
        try:
            if len(course.rows("SELECT token FROM result")) >= results:
                break
        except sqlite3.OperationalError:
            pass
        time.sleep(0.05)
    return process


def told(what, process, *words):
    out = process.communicate(timeout=120)[0]
    expect(f"{what}: exit code: {out}", 3, process.returncode)
    for word in words:
        expect(f"{what}: says '{word}': {out}", True, word in out)


def finishes(course, acknowledged):
    done = course.run("resume")
    expect("resume: " + done.stderr, 0, done.returncode)
    course.check()
    kept = dict(course.rows("SELECT token, points FROM result"))
    for token, points in acknowledged:
        expect(f"the acknowledged result of {token}", points, kept.get(token))


def under_the_gradebook(slurm):
    course = Course(slurm, grading="per_job = 2\n")
    with SmallDisk(course.dir / "disk", "768k") as disk:
        place(course, "gradebook", "disk/gradebook.sqlite")
        (course.dir / "gradebook.sqlite").symlink_to("disk/gradebook.sqlite")  # where rehearsal.py looks
        for i in range(8):
            course.add(f"s{i}", f"slow {0.2 + 0.8 * (i % 2)} {i * 9} of {i}", i * 9.0)
        course.roster()
        process = started(course, 2)
        acknowledged = course.rows("SELECT token, points FROM result")
        disk.fill()
        told("gradebook", process, f"the gradebook {course.dir}/disk/gradebook.sqlite", "disk is full", "ridge cluster resume")
        again = course.run("resume")  # still full
        expect("resume on a full disk: " + again.stderr, (3, True), (again.returncode, "free some space there" in again.stderr))
        disk.free()
        finishes(course, acknowledged)
    course.remove()
    return len(acknowledged)


def under_the_intake(slurm):
    for full in ("shared", "temporary"):
        course = Course(slurm)
        with SmallDisk(course.dir / "disk", "4m") as disk:
            if full == "shared":
                place(course, "shared", "disk/shared")
            course.add("s0", "points 10", 10.0)
            with tarfile.open(course.dir / "submissions/s1.tar.gz", "w:gz") as t:
                t.add(course.dir / "submissions/s0/copy.cu", "copy.cu")
            course.expected["s1"] = 10.0
            course.roster()
            disk.fill()
            done = course.run(*course.grade_words(), env={"TMPDIR": str(disk.folder)} if full == "temporary" else {})
            expect(f"intake, {full}: {done.stderr}", (3, True, True),
                   (done.returncode, f"{course.dir}/disk" in done.stderr, "free some space" in done.stderr))
            expect("nothing is written down as a student's mistake", [], course.rows("SELECT student FROM submission"))
            disk.free()
            done = course.run(*course.grade_words())
            expect("with space: " + done.stderr, 0, done.returncode)
            course.check()
        course.remove()


def under_the_results(slurm):
    course = Course(slurm, grading="per_job = 2\nheartbeat_s = 5\n")
    with SmallDisk(course.dir / "disk", "4m") as disk:
        place(course, "shared", "disk/shared")
        for i in range(8):
            course.add(f"s{i}", f"slow {0.1 + 2.9 * (i % 2)} {i * 9} of {i}", i * 9.0)
        course.roster()
        process = started(course, 2)
        acknowledged = course.rows("SELECT token, points FROM result")
        disk.fill()
        told("shared", process, f"{course.dir}/disk/shared/", "No space left on device", "ridge cluster resume")
        expect("no node is blamed", [], course.rows("SELECT name FROM node"))
        disk.free()
        finishes(course, acknowledged)
        # The jobs kept what they had until there was space.
        expect("attempts, of 8 works", 8, course.rows("SELECT count(*) FROM attempt")[0][0])
    course.remove()


with Slurm(4) as slurm:
    for part in parts:
        begun = time.monotonic()
        {"gradebook": under_the_gradebook, "intake": under_the_intake, "shared": under_the_results}[part](slurm)
        print(f"{part}: {time.monotonic() - begun:.1f} s")
print(f"{len(checks)} checks")
