"""Recipes for images and clusters, without building them: test_recipes.py REPOSITORY

The launcher's lists of packages are the only ones; copies are of what is there; what is YAML can be read.
"""
import os, pathlib, re, subprocess, sys, tempfile

repository = pathlib.Path(sys.argv[1])
install = repository / "cluster/install"
failed = False


def expect(holds, what):
    global failed
    if not holds:
        print("FAILED:", what)
        failed = True


def packages(*groups):
    return set(subprocess.run([repository / "ridge", "packages", *groups], check=True, text=True, capture_output=True).stdout.split())


# spack.yaml names, beside each of Spack's, the launcher's own.
named = set(" ".join(re.findall(r"^    - .*?# (.*)$", (install / "spack.yaml").read_text(), re.M)).split())
wanted = packages("core", "class", "mpi") - {"libboost-context-dev"}  # ARM alone
expect(named == wanted, f"spack.yaml and ./ridge packages core class mpi differ: {sorted(named ^ wanted)}")

# No list of packages of their own.
for recipe in ("Dockerfile", "ridge.def"):
    text = "\n".join(line for line in (install / recipe).read_text().splitlines() if "packages" not in line)
    expect("ridge packages" in (install / recipe).read_text(), f"{recipe} does not ask the launcher for packages")
    own = [p for p in packages("core", "viz", "mpi", "live", "serve") if re.search(rf"(?<![\w/.-]){re.escape(p)}(?![\w/.-])", text)]
    expect(not set(own) - {"cmake"}, f"{recipe} repeats packages of the launcher: {own}")  # cmake/ is a folder, too

with tempfile.TemporaryDirectory() as scratch:
    copied = {}
    for recipe in ("Dockerfile", "ridge.def"):
        root = pathlib.Path(scratch) / recipe
        r = subprocess.run([sys.executable, repository / "tests/fresh/recipe_steps.py", install / recipe, repository, root],
                           text=True, capture_output=True)
        expect(r.returncode == 0, f"{recipe}: {r.stderr}")
        (root / "steps.sh").write_text(r.stdout)
        r = subprocess.run(["sh", "-n", root / "steps.sh"], text=True, capture_output=True)
        expect(r.returncode == 0, f"{recipe}: its steps are no shell script: {r.stderr}")
        copied[recipe] = {str(p.relative_to(root)) for p in (root / "opt/ridge").iterdir()}
        for private in ("solutions", "tests", "benchmarks", "slides", ".git"):
            expect(f"opt/ridge/{private}" not in copied[recipe], f"{recipe} copies {private}")
    expect(copied["Dockerfile"] == copied["ridge.def"], f"the recipes copy different things: {copied}")
ignored = (install / "Dockerfile.dockerignore").read_text().split()
expect("labs/*/wrong" in ignored and "labs/*/wrong.toml" in ignored and "solutions" in ignored, "Dockerfile.dockerignore lets answers in")

try:
    import yaml
except ImportError:
    print("note: PyYAML is not installed; the YAML files were not read")
else:
    for file in (install / "spack.yaml", repository / "docs/ci/github.yml", repository / "docs/ci/gitlab.yml"):
        try:
            expect(isinstance(yaml.safe_load(file.read_text()), dict), f"{file.name} is no mapping")
        except yaml.YAMLError as e:
            expect(False, f"{file.name}: {e}")

for script in (repository / "cluster/gradescope").iterdir():
    expect(os.access(script, os.X_OK), f"{script.name} is not executable")
print("recipes:", "something is wrong" if failed else "all as expected")
sys.exit(failed)
