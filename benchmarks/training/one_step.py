"""One step out of the timelines of all ranks (timeline.cpp) of `train --graph`, as one Chrome trace.

python3 one_step.py STEP OUT.json.gz TIMELINE.json...     STEP: 0 is the first one, with what libraries do at their start
"""
import gzip
import json
import sys


def events_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return sorted((e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"), key=lambda e: e["ts"])


def one_step(events, step):
    """From the copies of a batch's tokens to the copy of its loss."""
    starts = [i for i, e in enumerate(events) if "embedding_forward" in e["name"]]
    begin = starts[step]
    while begin > 0 and events[begin - 1]["cat"] == "gpu_memcpy" and events[begin]["ts"] - events[begin - 1]["ts"] < 1000:
        begin -= 1
    end = begin + 1
    while not (events[end]["cat"] == "gpu_memcpy" and any("adamw" in e["name"] for e in events[begin:end])):
        end += 1
    return events[begin:end + 1]


def main():
    step, out, *paths = int(sys.argv[1]), *sys.argv[2:]
    events = [e for path in paths for e in one_step(events_of(path), step)]
    first = min(e["ts"] for e in events)
    for e in events:
        e["ts"] = round(e["ts"] - first, 3)
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        file.write(json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, separators=(",", ":")).encode())


main()
