#!/bin/sh
# `ridge ranks`: every rank reports through its own agent, with its own worker process; a worker that can't start is
# reported and not waited for.
set -u
ridge=$1
bin=$(dirname "$ridge")
if [ ! -x "$bin/ridge-agent" ] || ! command -v mpirun >/dev/null; then
  echo "skipped: no Open MPI here (packages openmpi-bin, libopenmpi-dev)"
  exit 77
fi
fail() { echo "FAILED: $1"; printf '%s\n' "$out"; exit 1; }

out=$("$ridge" ranks -n 2 2>&1) || fail "ridge ranks -n 2 exited with $?"
printf '%s\n' "$out"
[ "$(printf '%s\n' "$out" | grep -c 'rank .* of 2 .*round trip')" = 2 ] || fail "not two reports"
for kind in agent worker; do
  pids=$(printf '%s\n' "$out" | sed -n "s/.*$kind \([0-9][0-9]*\).*/\1/p" | sort -u | wc -l)
  [ "$pids" = 2 ] || fail "the ranks share one $kind"
done

# The same ridge, with a worker that ends at once: reported by every rank, exit code 3, and no hang.
broken=$(mktemp -d)
trap 'rm -rf "$broken"' EXIT
mkdir -p "$broken/bin" "$broken/lib"
cp "$bin/ridge" "$bin/ridge-agent" "$broken/bin/"
cp "$bin/../lib/"libfmt* "$broken/lib/" 2>/dev/null
ln -s /bin/false "$broken/bin/ridge-null-worker"
out=$(timeout 60 "$broken/bin/ridge" ranks -n 2 2>&1)
code=$?
[ $code = 3 ] || fail "a broken worker gave exit code $code, not 3"
printf '%s\n' "$out" | grep -q FAILED || fail "a broken worker was not reported"
