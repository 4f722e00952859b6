#!/usr/bin/env python3
"""`ridge cluster preflight`: what it makes of nvidia-smi's lines and of a measurement; and that a node which it calls sick is left
out and its work done elsewhere. No GPU is needed: nvidia-smi is a stand-in, with lines in its documented CSV format.

test_preflight.py [smi|node]    node: on a virtual Slurm (slow)
"""
import json
from rehearsal import *

part = (sys.argv + ["smi"])[1]
GOOD = "GPU-0b5c1e3f-1111-2222-3333-444455556666, NVIDIA H200, 0, 4, 0x0000000000000001, 0, 1980, 1980"


def stand_in(folder):
    tool = folder / "nvidia-smi"
    tool.write_text(f'#!/bin/sh\ncase "$1" in --query-gpu=*) f={folder}/gpus ;; *) f={folder}/apps ;; esac\n'
                    '[ ! -e "$f.$SLURMD_NODENAME" ] || f=$f.$SLURMD_NODENAME\ncat "$f"; [ ! -e "$f.code" ] || exit "$(cat "$f.code")"\n')
    tool.chmod(0o755)
    (folder / "gpus").write_text(GOOD + "\n")
    (folder / "apps").write_text("")


def smi():
    dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-preflight."))
    env = {**os.environ, "PATH": f"{dir}:{os.environ['PATH']}"}
    env.pop("CUDA_VISIBLE_DEVICES", None)
    run = lambda *words, e=env: subprocess.run([RIDGE, "cluster", "preflight", *words], capture_output=True, text=True, env=e, timeout=60)
    if not shutil.which("nvidia-smi"):
        bare = run(e=dict(os.environ))
        expect("no GPU: " + bare.stdout, (77, True), (bare.returncode, "skipped: no nvidia-smi" in bare.stdout))
        expect("no GPU where one is needed", 3, run("--require", e=dict(os.environ)).returncode)
    stand_in(dir)

    def sees(what, code, word, gpus=GOOD, apps="", *words):
        (dir / "gpus").write_text(gpus + "\n")
        (dir / "apps").write_text(apps)
        done = run(*words)
        expect(f"{what}: {done.stdout}{done.stderr}", (code, True), (done.returncode, word in done.stdout + done.stderr))

    sees("a good one", 0, "fit: 1 NVIDIA H200")
    sees("ECC counters that are not there", 0, "fit", GOOD.replace(", 0, 1980", ", [N/A], 1980"))
    sees("busy", 3, "97 % in use", GOOD.replace("H200, 0,", "H200, 97,"))
    sees("memory in use", 3, "60123 MiB", GOOD.replace(" 4,", " 60123,"))
    sees("a stranger's process", 3, "process 4711", GOOD, GOOD.split(",")[0] + ", 4711\n")
    sees("another GPU's process", 0, "fit", GOOD, "GPU-ffff, 4711\n")
    sees("a hot one", 3, "0x20", GOOD.replace("0001,", "0020,"))
    sees("a power cap is none", 0, "fit", GOOD.replace("0001,", "0004,"))
    sees("memory errors", 3, "2 uncorrected ECC", GOOD.replace(", 0, 1980", ", 2, 1980"))
    sees("clocks that were set low", 3, "set to 1200 MHz", GOOD.replace("1980, 1980", "1200, 1980"))
    sees("the second of two", 3, "GPU-2: 5 unc", GOOD + "\nGPU-2, NVIDIA H200, 0, 4, 0x0, 5, 1980, 1980")
    sees("garbage", 77, "shows no GPU", "\x00\x01 garbage, , ,")
    (dir / "gpus.code").write_text("9")
    sees("a driver that fails", 77, "nvidia-smi fails", "No devices were found")
    (dir / "gpus.code").unlink()
    # against a record of a real H200
    reference = REPO / "benchmarks/h200/calibration.json"
    record = json.loads(reference.read_text())

    def measured(**factors):
        text = json.loads(json.dumps(record))
        for c in text["ceilings"]:
            c["value"] *= factors.get(c["id"], 1)
        (dir / "measured.json").write_text(json.dumps(text))
        return ("--reference", str(reference), "--measured", str(dir / "measured.json"))
    sees("as fast as calibrated", 0, "as calibrated", GOOD, "", *measured())
    sees("3 % slower", 0, "as calibrated", GOOD, "", *measured(copy=0.97, bf16=0.97))
    sees("a slow copy", 3, "copy: 70 %", GOOD, "", *measured(copy=0.7))
    sees("a slow GEMM", 3, "bf16: 85 %", GOOD, "", *measured(bf16=0.85))
    keep = ("--keep", str(dir / "keep"))
    sees("a slow one is not kept", 3, "copy", GOOD, "", *measured(copy=0.7), *keep)
    sees("the first time", 0, "as calibrated", GOOD, "", *measured(), *keep)
    sees("within the hour", 0, "within the hour", GOOD, "", *measured(copy=0.7), *keep)
    sees("another GPU", 3, "copy", GOOD.replace("0b5c", "0b5d"), "", *measured(copy=0.7), *keep)
    (dir / "broken.json").write_text("{")
    sees("a reference that is none", 2, "is no calibration", GOOD, "", "--reference", str(dir / "broken.json"))
    shutil.rmtree(dir)


def node(slurm):
    course = Course(slurm, grading='preflight = "gpu"\nper_job = 1\nretries = 6\n', head='site = "./site.toml"\n')
    stand_in(course.dir)
    (course.dir / "gpus.n3").write_text(GOOD.replace(", 0, 1980", ", 7, 1980") + "\n")
    (course.dir / "site.toml").write_text(f'setup = "export PATH={course.dir}:$PATH"\n')
    for i in range(12):
        course.add(f"s{i}", f"slow 0.3 {i * 8} of {i}", i * 8.0)
    course.roster()
    done = course.run(*course.grade_words())
    expect("exit code: " + done.stderr, 0, done.returncode)
    course.check()
    (sick,) = course.rows("SELECT name, excluded, reason FROM node WHERE excluded = 1")
    expect(f"the sick node is left out: {sick}", ("n3", True), (sick[0], "7 uncorrected ECC errors" in sick[2]))
    expect("and reported", True, "Left out: node n3" in done.stdout and "ECC" in done.stdout)
    expect("it graded nothing", [], course.rows("SELECT node FROM attempt WHERE node = 'n3' AND state = 'graded'"))
    course.remove()


if part == "smi":
    smi()
else:
    with Slurm(4) as slurm:
        node(slurm)
print(f"{len(checks)} checks")
