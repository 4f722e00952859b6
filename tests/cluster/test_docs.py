#!/usr/bin/env python3
"""Runs the lines of docs/cluster.md's code blocks as they stand, in their order, on a virtual Slurm: with the files that they name."""
from rehearsal import *

LAB = "03_warp_shuffle"


def lines(document):
    inside = False
    for line in document.read_text().splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside and line.split("#")[0].strip():
            yield line.split("#")[0].strip()


with Slurm(4) as slurm:
    dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-docs."))
    (dir / "bin").mkdir()
    (dir / "bin/ridge").symlink_to(RIDGE)
    env = {**slurm.env, "PATH": f"{dir}/bin:{os.environ['PATH']}", "RIDGE_WORK": str(dir / "work"),
           "RIDGE_DROPBOX": str(dir / "dropbox"), "RIDGE_RESULTS": str(dir / "results")}
    for place in ("DIR/jane", f"work/{LAB}"):
        shutil.copytree(REPO / "solutions" / LAB, dir / place, ignore=shutil.ignore_patterns("steps", "README.md"))
    (dir / "dropbox" / LAB).mkdir(parents=True)
    (dir / "roster.csv").write_text("id,name,email\njane,Jane Doe,jane@example.edu\n")
    (dir / "canvas.csv").write_text("Student,ID,SIS Login ID,Section,03_warp_shuffle (1)\nPoints Possible,,,,20\n\"Doe, Jane\",7,jane,S,\n")
    ran = []
    for line in lines(REPO / "docs/cluster.md"):
        done = subprocess.run(["bash", "-c", line], cwd=dir, env=env, capture_output=True, text=True, timeout=600)
        expect(f"{line}\n{done.stdout}{done.stderr}", 0, done.returncode)
        ran.append(line)
        if line.startswith("ridge cluster init"):  # "edit it"
            file = dir / "course.toml"
            file.write_text(file.read_text().replace("# partition = \"gpu\"", 'partition = "grade"\ncpus = 1') +
                            "[labs.03]\ndeadline = 2099-01-01T00:00:00Z\n")
    expect("as many lines as the page is known to have, or more", True, len([l for l in ran if l.startswith("ridge ")]) >= 8)
    expect("Canvas's file was filled", True, '"Doe, Jane",7,jane,S,20' in (dir / "filled.csv").read_text())
    expect("the student's page", True, "100 %" in (dir / "feedback/students/jane/feedback.html").read_text())
    expect("the instructor's page", True, "Jane Doe" in (dir / "lab03.html").read_text())
    expect("the work was handed in", 1, len(list((dir / "dropbox" / LAB).glob("*.tar.gz"))))
    shutil.rmtree(dir)
print(f"{len(ran)} lines of docs/cluster.md")
