"""The archive and the Debian package: test_prebuilt.py RIDGE REPOSITORY

Both are made and their files are looked at. The archive is unpacked into a folder with an awkward name, which is then made
read-only and moved, and an ordinary user works with it, while build tools and package managers only note that they were called.
"""
import os, pathlib, posixpath, re, shutil, subprocess, sys, tarfile, tempfile

RIDGE, REPOSITORY = (pathlib.Path(a).absolute() for a in sys.argv[1:3])
BUILD = RIDGE.parent.parent
NOBODY = 65534
SOLUTIONS = {p.read_bytes() for p in (REPOSITORY / "solutions").rglob("*.cu")}
WRONG = {p.read_bytes() for pattern in ("*/wrong/*.cu", "*/wrong.toml") for p in (REPOSITORY / "labs").glob(pattern)}


def fail(what, *more):
    print("FAILED:", what, *more, sep="\n")
    sys.exit(1)


def run(command, expected, *texts, **options):
    r = subprocess.run([str(c) for c in command], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=300, **options)
    if r.returncode != expected:
        fail(f"{' '.join(map(str, command))} ended with {r.returncode}, not {expected}", r.stdout)
    for text in texts:
        if text not in r.stdout:
            fail(f"{' '.join(map(str, command))} does not say '{text}'", r.stdout)
    return r.stdout


def look_through(tree, solutions=False):
    """The files below tree, none of which may be an answer, a test, a secret, or tell where it was built."""
    names = {str(p.relative_to(tree)) for p in tree.rglob("*") if not p.is_dir()}
    for name in names:
        parts = name.split("/")
        private = {"wrong", "wrong.toml", "tests", "benchmarks", "slides", "stories", "work", ".git", "grader", "app", "learn", "checks", "formats", "cmake"}
        if not solutions:
            private.add("solutions")
        if private & set(parts) or re.search(r"\.(pem|key|log)$|^seed|CMake", parts[-1]):
            fail("it holds what it should not", name)
        content = (tree / name).read_bytes()
        if content in WRONG or (not solutions and content in SOLUTIONS):
            fail("it holds an answer", name)
        if str(REPOSITORY).encode() + b"/" in content or str(BUILD).encode() + b"/" in content:
            fail("it tells the folder where it was built", name)
    for name in ("ridge", "README.md", "LICENSE", "build/.ridge-prebuilt", "build/bin/ridge", "build/bin/ridge-sandbox-exec",
                 "build/lib/ridge_worker_sealed.o", "build/lib/labs/01_coalescing.so", "labs/01_coalescing/lab.toml",
                 "runtime/worker/backend_cuda.cpp", "docs/metrics.md", "cluster/grade.sbatch"):
        if name not in names:
            fail("it lacks", name)
    includes_are_there(tree, [tree / "runtime/worker" / name for name in
                              ("worker.cpp", "mpi_ranks.cpp", "initialisers.cpp", "backend_cuda.cpp")])
    return names


def includes_are_there(tree, files):
    """The worker is compiled where the GPU is: all that it includes must be in the package."""
    seen = set()
    while files:
        file = files.pop()
        for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
            at = next((p for p in (file.parent / name, tree / "runtime" / name) if p.exists()), None)
            if at is None:
                fail("a header is missing that the worker needs on a GPU", f"{file.relative_to(tree)}: {name}")
            if at.resolve() not in seen:
                seen.add(at.resolve())
                files.append(at)


def unpack(archive, to):
    with tarfile.open(archive) as t:
        for entry in t:
            # A link has no mode of its own: where it leads counts.
            leads = posixpath.normpath(posixpath.join(posixpath.dirname(entry.name), entry.linkname))
            inside = not entry.linkname.startswith("/") and leads.split("/")[0] == entry.name.split("/")[0]
            if (entry.name.startswith("/") or ".." in entry.name.split("/") or
                    (not inside if entry.issym() else entry.mode & 0o022)):
                fail("a path leads outside, or others may write it", entry.name)
        t.extractall(to)
    tops = list(to.iterdir())
    if len(tops) != 1 or not re.fullmatch(r"ridge-\d+\.\d+\.\d+-linux-\w+", tops[0].name):
        fail("the archive's top", tops)
    return tops[0]


class User:
    """An ordinary user, where root runs the tests; a PATH on which building and installing is only noted."""

    def __init__(self, scratch):
        self.home, self.log, tools = scratch / "home", scratch / "log", scratch / "tools"
        self.home.mkdir()
        tools.mkdir()
        self.log.write_text("")
        for tool in ("cmake", "ninja", "make", "apt-get", "sudo", "dpkg-query", "git"):
            (tools / tool).write_text(f'#!/bin/sh\necho {tool} "$@" >>"{self.log}"\nexit 1\n')
            (tools / tool).chmod(0o755)
        self.become = []
        if os.geteuid() == 0 and shutil.which("setpriv"):
            self.become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            os.chown(self.home, NOBODY, NOBODY)
            os.chown(self.log, NOBODY, NOBODY)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("RIDGE_", "XDG_")) and k != "TMPDIR"}
        self.environment = {**kept, "HOME": str(self.home), "PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}

    def run(self, command, expected, *texts):
        return run([*self.become, *command], expected, *texts, env=self.environment, cwd=self.home)


def main(scratch):
    scratch.chmod(0o755)
    user = User(scratch)

    archive = scratch / "ridge.tar.gz"
    text = run([RIDGE, "package", "tarball", "--out", archive], 0, "no solutions", "MB")
    if archive.stat().st_size > 25 << 20:
        fail("the archive is too large", text)
    tree = unpack(archive, scratch / "first")
    names = look_through(tree)

    # An awkward place, read-only. Ordinary users cannot write it, root by chance could.
    place = scratch / "Übung eins" / "read only"
    place.parent.mkdir()
    tree.rename(place)
    run(["chmod", "-R", "a-w", place], 0)
    ridge = place / "ridge"
    user.run([ridge, "--help"], 0, "check", "doctor")
    user.run([ridge, "labs"], 0, "01_coalescing", "10_mixed_precision")
    user.run([ridge, "doctor"], 0, "emulator library", "not in this prebuilt Ridge", "Every lab can run here.")
    user.run([ridge, "check", "01", "--task", "copy", "--backend", "cpu"], 1, "8 x (goal 1.02)", "Score 5 / 15")
    work = user.home / "ridge-work"
    if not list(work.glob(".ridge/results/01_coalescing/*.json")):
        fail("the result is not in ~/ridge-work", list(user.home.rglob("*")))
    if not list(work.glob(".ridge/objects/*.h.gch")):
        fail("the emulator's headers are parsed for each file: nobody may write beside this Ridge, and the cache holds none")
    user.run([ridge, "build", "--yes"], 0, "nothing to build")
    user.run([ridge, "test"], 77, "skipped")
    user.run([ridge, "packages"], 0, "clang\n", "binutils\n", "bubblewrap\n")
    user.run([ridge, "viz"], 3, "--with viz")
    for command in (["new-lab", "11_histogram"], ["course", "export", scratch / "copy"], ["package", "gradescope", "--lab", "01"],
                    ["package", "tarball"]):
        user.run([ridge, *command], 2, "a clone of the course")
    moved = scratch / "moved"
    place.rename(moved)
    user.run([moved / "ridge", "start", "01"], 0, "ridge-work/01_coalescing")
    if {str(p.relative_to(moved)) for p in moved.rglob("*") if not p.is_dir()} != names:
        fail("files were added to a read-only Ridge")
    if user.log.read_text():
        fail("something was built or installed", user.log.read_text())

    # Where it cannot run, nothing is installed, and the machine is told of.
    broken = scratch / "broken"
    shutil.copytree(moved, broken)
    run(["chmod", "-R", "u+w", moved, broken], 0)
    (broken / "build/bin/ridge").write_text("#!/bin/sh\necho no GLIBC_9 here >&2\nexit 1\n")
    user.run([broken / "ridge", "check", "01"], 3, "no GLIBC_9 here", "this prebuilt Ridge does not run here")

    # The same by CMake alone; twice, over an older one and beside a student's work.
    prefix = scratch / "prefix"
    for _ in range(2):
        run(["cmake", "--install", BUILD, "--prefix", prefix], 0)
        (prefix / "lib/ridge/work").mkdir(exist_ok=True)
        (prefix / "lib/ridge/work/mine").write_text("mine")
    if (prefix / "lib/ridge/work/mine").read_text() != "mine":
        fail("a student's work was touched")
    shutil.rmtree(prefix / "lib/ridge/work")
    if look_through(prefix / "lib/ridge") != names:
        fail("cmake --install gives other files", names ^ look_through(prefix / "lib/ridge"))
    run([prefix / "bin/ridge", "--version"], 0, "ridge ")

    run([RIDGE, "package", "tarball", "--out", archive, "--solutions"], 0, "not for students")
    more = look_through(unpack(archive, scratch / "second"), solutions=True)
    if "solutions/01_coalescing/copy.cu" not in more or any(not n.startswith("solutions/") for n in more ^ names):
        fail("--solutions adds something else", more ^ names)

    run([RIDGE, "package", "tarball", "--with", "nothing"], 2)
    if shutil.which("dpkg-deb"):
        deb = scratch / "ridge.deb"
        run([RIDGE, "package", "deb", "--out", deb], 0, "apt-get install")
        for field, text in {"Section": "education", "Depends": "clang | g++", "Recommends": "bubblewrap",
                            "Package": "ridge"}.items():
            run(["dpkg-deb", "--field", deb, field], 0, text)
        run(["dpkg-deb", "--field", deb, "Depends"], 0, "binutils", "libc6", "libstdc++6")
        run(["dpkg-deb", "--contents", deb], 0, "./usr/bin/ridge -> ../lib/ridge/ridge")
        run(["dpkg-deb", "-x", deb, scratch / "system"], 0)
        if {p.name for p in (scratch / "system").iterdir()} != {"usr"} or look_through(scratch / "system/usr/lib/ridge") != names:
            fail("the package has other files than the archive")
        user.run([scratch / "system/usr/bin/ridge", "labs"], 0, "01_coalescing")
        # Installed in a folder of the system, and run by root: the sandbox hides the rest of Ridge there, and no more.
        system = "/usr/local/src"
        there = ["unshare", "--mount", "sh", "-ec", f'mount --bind "$0" {system}; exec {system}/ridge "$@"',
                 scratch / "system/usr/lib/ridge"]
        if os.geteuid() == 0 and os.path.isdir(system) and subprocess.run([*there, "--version"], capture_output=True).returncode == 0:
            environment = {**user.environment, "HOME": str(scratch / "root")}
            (scratch / "root").mkdir()
            run([*there, "check", "01", "--task", "copy", "--backend", "cpu"], 1, "Score 5 / 15", env=environment)
    print(f"prebuilt: {len(names)} files, {archive.stat().st_size / 1e6:.1f} MB with solutions")


with tempfile.TemporaryDirectory(prefix="ridge-prebuilt-") as folder:
    main(pathlib.Path(folder))
