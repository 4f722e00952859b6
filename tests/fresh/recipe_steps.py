"""The steps of a Dockerfile or an Apptainer definition as a shell script: recipe_steps.py RECIPE CONTEXT ROOT

Copies what the recipe copies into ROOT, and prints a script: `build` takes the other steps, `run ARGUMENTS` what the container
would start. Stages follow each other in the one ROOT: what the first copied is removed, what the second takes of it stays. Knows the instructions that Ridge's own recipes use, and refuses others.
"""
import json, pathlib, re, shlex, shutil, sys

recipe, context, root = map(pathlib.Path, sys.argv[1:])


def copy(source, target):
    source, to = context / source, root / target.lstrip("/")
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, to, dirs_exist_ok=True)
    else:
        shutil.copy2(source, to / source.name if target.endswith("/") else to)


NEXT_STAGE = "rm -rf /opt/ridge"


def taken(sources, target):
    """From the stage before: it lies there already."""
    if sources != [target]:
        sys.exit(f"{recipe}: {sources} should be copied to the same place, not to {target}")


def dockerfile(text):
    build, start, variables, stages = [], "", {}, 0
    for line in re.sub(r"\\\n", " ", text).splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, rest = line.split(None, 1)
        if word == "ARG":
            name, value = rest.split("=", 1)
            build.append(f"{name}={value}")
        elif word == "ENV":
            build.append(f"export {rest}")
            variables.update(v.split("=", 1) for v in shlex.split(rest))
        elif word == "RUN":
            build.append(f"( {rest} )")
        elif word == "COPY":
            *sources, target = rest.split()
            if sources[0].startswith("--from="):
                taken(sources[1:], target)
                continue
            for source in sources:
                copy(source, target)
        elif word == "WORKDIR":
            build.append(f"mkdir -p {rest}")
            variables["PWD"] = rest
        elif word == "ENTRYPOINT":
            start = shlex.join(json.loads(rest))
        elif word == "FROM":
            stages += 1
            build += [NEXT_STAGE] * (stages > 1)
        else:
            sys.exit(f"{recipe}: unknown instruction {word}")
    given = "".join(f"export {k}={shlex.quote(v)}; " for k, v in variables.items() if k != "PWD")
    return build, f'{given}cd {variables["PWD"]}; exec {start} "$@"'


def definition(text):
    build = []
    for stage in re.split(r"^(?=Bootstrap:)", text, flags=re.M)[1:]:
        head, *sections = re.split(r"^%(?=\w)", stage, flags=re.M)
        part = {}
        for section in sections:
            name, _, body = section.partition("\n")
            part[name.strip()] = body
        values = dict(re.findall(r"^\s*(\w+)=(.*)$", part["arguments"], re.M))

        def filled(body):
            return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda m: values[m.group(1)], body)

        filled(head)
        for line in part.get("files", "").splitlines():
            if line.strip():
                copy(*line.split())
        for line in part.get("files from build", "").splitlines():
            if line.strip():
                *sources, target = line.split()
                taken(sources, target)
        build += [NEXT_STAGE] * bool(build) + [f'( {filled(part["post"])} )']
    build.append(f'( {part["environment"]}\n{part["test"]} )')
    return build, f'{part["environment"]}\ncd /tmp\n{part["runscript"]}'


build, start = (dockerfile if recipe.name == "Dockerfile" else definition)(recipe.read_text())
print("set -e\ncase $1 in\nbuild)\n%s\n;;\nrun)\nshift\n%s\n;;\nesac" % ("\n".join(build), start))
