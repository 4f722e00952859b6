#!/usr/bin/env python3
"""Lab 16's experiments/train.cu with the reference solution's `save`, as real processes that are killed.

    training.py RIDGE [--record OUT.json]

A GPT on four ranks, started by mpirun (as `ridge ranks` starts its agents), or one by one where there is no mpirun. Twenty times a
random rank gets a kill -9 at a random moment, and the run is started again. Then the run must have the state of one that nobody killed,
to the last bit. Another run goes on with three ranks, with two, and with four again. What TensorBoard would show of the killed run is read
by scalars.py, and by tfevents.py with Google's protobuf where a Python here has it. --record leaves those scalars in OUT.json, for the lesson's figure.
"""
import json, os, pathlib, random, re, shutil, signal, subprocess, sys, tempfile, time

REPO = pathlib.Path(__file__).resolve().parents[2]
LAB = REPO / "labs/16_resilience"
sys.path.insert(0, str(LAB / "experiments"))
import scalars  # noqa: E402

KILLS, STEPS, RANKS = 20, 160, 4
random.seed(16)


def expect(what, wanted, got):
    if wanted != got:
        raise SystemExit(f"FAILED: {what}: wanted {wanted!r}, got {got!r}")


class Start:
    """One start of the program on `ranks` processes."""

    def __init__(self, folder, attempt, ranks, steps=STEPS):
        arguments = [PROGRAM, folder, "--attempt", str(attempt), "--steps", str(steps)]
        if shutil.which("mpirun"):
            commands = [["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *arguments]]
        else:
            commands = [[*arguments, "--rank", str(r), "--ranks", str(ranks)] for r in range(ranks)]
        self.log = tempfile.TemporaryFile("w+")
        self.launched = [subprocess.Popen(c, stdout=self.log, stderr=subprocess.STDOUT) for c in commands]
        self.ranks = ranks

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def processes(self):
        """Rank to process and first step, when all have said so."""
        for _ in range(600):
            found = re.findall(r"rank (\d+) of \d+, process (\d+): from step (\d+)", self.text())
            if len(found) == self.ranks:
                return {int(r): (int(p), int(s)) for r, p, s in found}
            if any(p.poll() not in (None, 0) for p in self.launched):
                break
            time.sleep(0.05)
        raise SystemExit("FAILED: the ranks did not start:\n" + self.text())

    def end(self, limit=120):
        """Waits; where one process has failed, ends the others as mpirun does. The exit codes."""
        deadline = time.time() + limit
        while time.time() < deadline and any(p.poll() is None for p in self.launched):
            if any(p.poll() not in (None, 0) for p in self.launched) and len(self.launched) > 1:
                for p in self.launched:
                    p.poll() is None and p.kill()
            time.sleep(0.02)
        if any(p.poll() is None for p in self.launched):
            raise SystemExit("FAILED: the run does not end:\n" + self.text())
        return [p.returncode for p in self.launched]


def ended(text):
    return re.search(r"ended after step (\d+), state ([0-9a-f]{16})", text).groups()


def build(ridge, folder):
    made = str(folder / "train")
    sources = ["labs/16_resilience/experiments/train.cu", "solutions/16_resilience/save.cu"]
    sources += [f"runtime/files/{name}.cpp" for name in ("real", "here", "threads", "client")]
    subprocess.run([ridge, "cc", "--plain", "-std=c++20", "-I", "runtime", "-I", "labs/16_resilience", *sources, "-lcublas", "-lnccl", "-o", made],
                   cwd=REPO, check=True, timeout=300)
    return made


def killed_run(folder):
    """Returns the text of the last start, and how often steps were made again."""
    begun = []
    for kill in range(KILLS):
        run = Start(folder, kill, RANKS)
        processes = run.processes()
        steps = {s for _, s in processes.values()}
        expect(f"all ranks go on from one step at start {kill}", 1, len(steps))
        begun.append(steps.pop())
        time.sleep(random.uniform(0, 0.7))
        victim = random.randrange(RANKS)
        os.kill(processes[victim][0], signal.SIGKILL)
        expect(f"the run ends when rank {victim} is killed", True, any(run.end()))
    expect("no start goes back behind the one before", sorted(begun), begun)
    run = Start(folder, KILLS, RANKS)
    run.processes()
    expect("the last start ends", [0], sorted(set(run.end())))
    return run.text(), begun


def by_protobuf(events):
    """The rows of tfevents.py, or None where no Python here has Google's protobuf."""
    for python in (sys.executable, "/usr/bin/python3"):
        read = subprocess.run([python, str(REPO / "tests/course/tfevents.py"), str(events)], capture_output=True, text=True)
        if read.returncode != 77:
            expect(f"tfevents.py reads the files: {read.stderr}", 0, read.returncode)
            return sorted(map(tuple, json.loads(read.stdout)))
    return None


def check_events(rows, alone, events):
    tags = {"loss", "gradient_norm", "step_time", "goodput"}
    expect("each step has all tags", [], [r for r in rows if set(r) != tags | {"wall_time", "step"}])
    expect("all steps are there", set(range(1, STEPS + 1)), {r["step"] for r in rows})
    expect("steps were made again", True, len(rows) > STEPS)
    for tag in ("loss", "gradient_norm"):  # also those that were made again
        right = {r["step"]: r[tag] for r in alone}
        expect(f"the {tag} of each step is that of the run alone", [], [r for r in rows if r[tag] != right[r["step"]]])
    expect("goodput is a share", [], [r for r in rows if not 0 < r["goodput"] <= 1])
    expect("failures cost goodput", True, rows[-1]["goodput"] < alone[-1]["goodput"])
    path = sorted(pathlib.Path(events).iterdir())[0]
    data = bytearray(path.read_bytes())
    for at in (3, 20, len(data) // 2):  # a length, the first event, another one
        data[at] ^= 4
        try:
            list(scalars.scalars(bytes(data)))
            expect(f"a changed bit of byte {at} is noticed", True, False)
        except ValueError:
            data[at] ^= 4
    others = by_protobuf(events)
    if others is None:
        return "scalars.py alone"
    expect("protobuf reads the same scalars", sorted((r["wall_time"], r["step"], tag, r[tag]) for r in rows for tag in tags), others)
    return "scalars.py and by Google's protobuf"


folder = pathlib.Path(tempfile.mkdtemp(prefix="ridge-training."))
PROGRAM = build(sys.argv[1], folder)
run = Start(folder / "alone", 0, RANKS)
expect("the run that nobody kills", [0], sorted(set(run.end())))
right = ended(run.text())
expect("its steps", str(STEPS), right[0])

text, begun = killed_run(folder / "killed")
expect("the state behind the last step", right, ended(text))
rows, alone = scalars.read(folder / "killed/events"), scalars.read(folder / "alone/events")
reader = check_events(rows, alone, folder / "killed/events")
if "--record" in sys.argv:
    pathlib.Path(sys.argv[sys.argv.index("--record") + 1]).write_text(json.dumps(rows) + "\n")

for attempt, ranks in enumerate((4, 3, 2, 4)):
    run = Start(folder / "resized", attempt, ranks)
    processes = run.processes()
    if attempt < 3:
        time.sleep(1.2)
        os.kill(processes[ranks - 1][0], signal.SIGUSR1)  # one rank is asked, and all stop behind the same step
        expect(f"{ranks} ranks that are asked to stop say so", True, set(run.end()) != {0} and "stopped after step" in run.text())
    else:
        expect("four ranks end", [0], sorted(set(run.end())))
        expect("the state after 4, 3, 2 and 4 ranks", right, ended(run.text()))
shutil.rmtree(folder)
print(f"{KILLS} of {KILLS} kills survived, from steps {begun}; state {right[1]} as without a kill; 4, 3, 2 and 4 ranks have the same; events read by {reader}")
