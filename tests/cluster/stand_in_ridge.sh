#!/bin/sh
# Stands in for `ridge grade` where a test is about the cluster and not about judging: says at once what the submission's
# copy.cu tells it to: `points N`, `build`, `slow S N`, `hang`, `usage`. A file `harness` beside it says which lab it has. Everything else is as with the real one.
submission='' json='' into='' built='' lab=${2-} backend=cpu
while [ $# -gt 0 ]; do
  case $1 in
    --submission) submission=$2; shift ;;
    --backend) backend=$2; shift ;;
    --json) json=$2; shift ;;
    --build-into) into=$2; shift ;;
    --built) built=$2; shift ;;
  esac
  shift
done
[ -n "$submission" ] && [ -n "$json" ] || exit 2
read -r _ word first second _ <"$submission/copy.cu" || exit 2
case $word in
  slow) sleep "$first"; word=points first=$second ;;
  usage) echo "an unusual file name" >&2; exit 2 ;;
  hang) sleep 600 & sleep 600 ;;
  orphan) setsid sleep 600 & word=points ;;
  broken) echo "no such device" >&2; exit 3 ;;
  broken-on) # a node that is sick
    case " $second " in *" ${RIDGE_NODE:-${SLURMD_NODENAME-}} "*) echo "sick node" >&2; exit 3 ;; esac
    word=points ;;
esac
here=$(dirname "$0")
if [ -e "$here/disk-full" ]; then echo "No space left on device" >&2; exit 3; fi
if [ -n "$into" ] && [ "$word" != build ]; then mkdir "$into" && cp "$submission/copy.cu" "$into/worker" && exit 0; exit 3; fi
if [ -n "$built" ] && ! cmp -s "$submission/copy.cu" "$built/worker"; then echo "it is of other files" >&2; exit 3; fi
hash=$(cd "$submission" && sha256sum ./*.cu | sed 's# \./# #' | sha256sum | cut -d' ' -f1)
nonce=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
outcome=failed points=$first code=1
[ "$first" != 100 ] || outcome=passed code=0
[ "$word" != build ] || outcome=build-failed points=0 code=4
files=$(cat "$here/harness" 2>/dev/null || echo '{}')
cat >"$json" <<JSON
{ "schema": "ridge.result/1", "attempt": "$nonce", "nonce": "$nonce", "lab": "$lab", "backend": "$backend", "mode": "grade",
  "outcome": "$outcome", "harness": { "files": $files }, "submission": { "sha256": "$hash" },
  "score": { "points": $points, "max": 100, "coverage": 1.0 }, "tasks": [] }
JSON
exit $code
