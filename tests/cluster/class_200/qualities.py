"""What the files are worth: the solution, the stub, wrong solutions, and files that do not build, end, or keep quiet."""
import json, tempfile, tomllib
from rehearsal import *

LAB = "01_coalescing"
SOLUTION = {p.name: p.read_text() for p in sorted((REPO / "solutions" / LAB).glob("*.cu"))}
STUB = {name: (REPO / "labs" / LAB / name).read_text() for name in SOLUTION}
WRONG = ("aos_naive", "copy_off_by_one", "copy_tail_lost", "gather_next_index", "gather_last_warp", "transpose_conflicts", "transpose_naive",
         "transpose_square_only", "transpose_endless")
LIMIT_S = 120  # of a grading
RUN_S = "18.0"  # what the collector gives a run of it: 0.6 x 120 s / 4 tasks


def wrong(name):
    if (file := REPO / "labs" / LAB / "wrong" / (name + ".cu")).exists():
        text = file.read_text()
        return {text.split("replaces: ")[1].split(";")[0]: text}
    with open(REPO / "labs" / LAB / "wrong.toml", "rb") as f:
        (entry,) = [w for w in tomllib.load(f)["wrong"] if w["name"] == name]
    text = (STUB if entry.get("base") == "stub" else SOLUTION)[entry["file"]]
    for old, new in entry["edit"]:
        expect(f"{name}: the edit meets one place", 1, text.count(old))
        text = text.replace(old, new)
    return {entry["file"]: text}


def in_host(file, line):
    """The line where the task's function begins."""
    head, brace, rest = SOLUTION[file].rpartition(f"void {file[:-3]}(")
    at = rest.index("{") + 1
    return {file: head + brace + rest[:at] + "\n  " + line + rest[at:]}


def qualities():
    """name -> the four files; what a student did not hand in is missing."""
    flood = SOLUTION["copy.cu"].replace("  if (i < vectors) {", '  printf("thread %d of many, which all say something\\n", int(i));\n  if (i < vectors) {', 1)
    return {"solution": SOLUTION, "stub": STUB, "does not compile": {**SOLUTION, "copy.cu": "this is not C++\n"},
            "misspelt function": {**SOLUTION, "transpose.cu": SOLUTION["transpose.cu"].replace("\nvoid transpose(", "\nvoid transpsoe(")},
            "a helper twice": {**SOLUTION, **{f: SOLUTION[f] + "\nint helper() { return 1; }\n" for f in ("copy.cu", "gather.cu")}},
            "empty file": {**SOLUTION, "gather.cu": ""}, "one file of four": {"copy.cu": SOLUTION["copy.cu"]},
            "crash": {**SOLUTION, **in_host("copy.cu", "*reinterpret_cast<volatile int*>(8) = 1;")},
            "flood": {**SOLUTION, "copy.cu": flood}, **{name: {**SOLUTION, **wrong(name)} for name in WRONG}}


def percent(files):
    """What `ridge grade` says of them outside of any cluster."""
    with tempfile.TemporaryDirectory() as dir:
        work = pathlib.Path(dir, "s")
        work.mkdir()
        for name in SOLUTION:
            (work / name).write_bytes(files[name] if isinstance(files.get(name), bytes) else files.get(name, STUB[name]).encode())
        subprocess.run([RIDGE, "grade", LAB, "--backend", "cpu", "--submission", str(work), "--json", dir + "/r.json", "--time-limit", RUN_S],
                       capture_output=True, env={**os.environ, "RIDGE_RESULTS": dir + "/results"}, timeout=300)
        record = json.load(open(dir + "/r.json"))
        return 100 * record["score"]["points"] / record["score"]["max"]
