#!/usr/bin/env python3
"""Runs the lines of docs/kubernetes.md's code blocks as they stand, in their order, with the files that they name: `kubectl` as the
administrator, `ridge` as the collector."""
from pod_course import *

LAB = "03_warp_shuffle"
PAGE = (REPO / "docs/kubernetes.md").read_text()


def blocks(kind):
    for part in PAGE.split("```" + kind + "\n")[1::1]:
        yield part.split("```")[0]


with Cluster() as cluster:
    course = PodCourse(cluster)  # for its volume; its course.toml is not used
    dir = course.dir
    for file in ("course.toml", "judge"):
        (dir / file).unlink()
    cluster.kubectl("delete", "secret", "ridge-course", "-n", "ridge")
    (dir / "bin").mkdir()
    (dir / "bin/ridge").symlink_to(RIDGE)
    (dir / "cluster").symlink_to(REPO / "cluster")
    shutil.copytree(REPO / "solutions" / LAB, dir / "DIR/jane", ignore=shutil.ignore_patterns("steps", "README.md"))
    (dir / "roster.csv").write_text("id,name,email\njane,Jane Doe,jane@example.edu\n")
    settings = next(blocks("toml"))
    expect("the page's course.toml names labs", True, "[labs.04.kubernetes]" in settings)
    env = {**cluster.env, "PATH": f"{dir}/bin:{cluster.env['PATH']}", "RIDGE_WORK": str(dir / "work"), "RIDGE_NO_BUILD": "1", "HOME": str(dir)}
    user = 23456
    lines = [line.split("#")[0].strip() for block in PAGE.split("\n```\n")[:-1] for line in block.split("\n")
             if line.split(" ")[0] in ("kubectl", "ridge", "head") and line.split("#")[0].strip()]
    ran = []
    for line in lines:
        subprocess.run(["chown", "-R", f"{user}:{user}", str(dir)], check=True)
        words = ["bash", "-c", line]
        if line.startswith("kubectl"):
            config = "admin"
        else:
            config, words = "collector", ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words]
        done = subprocess.run(words, cwd=dir, env={**env, "KUBECONFIG": str(cluster.dir / config)}, capture_output=True, text=True, timeout=600)
        expect(f"{line}\n{done.stdout}{done.stderr}", 0, done.returncode)
        ran.append(line)
        if line.startswith("ridge cluster init"):  # "edit it as below"
            file = dir / "course.toml"
            text = file.read_text()
            head, tail = settings.split("[labs.04]")
            text = text.replace('shared = "shared" ', "# ").replace("[slurm]\n", "").replace('name = "HPC for AI"\n', 'name = "HPC for AI"\n' + head.split("[kubernetes]")[0].replace("/shared/ridge", str(dir / "shared")))
            text += "\n[kubernetes]" + head.split("[kubernetes]")[1].replace("cpus = 4", "cpus = 2").replace("8Gi", "2Gi")
            text += f'program = "{RIDGE}"\nclaim = "{course.name}"\n[labs.03]\ndeadline = 2099-01-01T00:00:00Z\n'
            file.write_text(text + "[labs.04]" + tail.replace("1}\nnode", "2}\nnode"))
    expect("as many lines as the page is known to have", True, len(ran) >= 9)
    cluster.kubectl("get", "jobs", "-n", "ridge")
    grade = subprocess.run([RIDGE, "cluster", "export", "--lab", "03", "--course", str(dir / "course.toml")], capture_output=True, text=True, env=env)
    expect("the grade: " + grade.stdout + grade.stderr, True, "jane,Jane Doe,100" in grade.stdout)
    course.remove()
print(f"{len(ran)} lines of docs/kubernetes.md")
