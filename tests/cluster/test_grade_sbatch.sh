#!/usr/bin/env bash
# cluster/grade.sbatch on a real Slurm of this machine.
#
#   test_grade_sbatch.sh program    with the real ridge: a good, a failing and a broken submission, and the good one again
#   test_grade_sbatch.sh contract   with fake_ridge.sh: every exit code, a hang, a race, no environment, a cancelled job
#
# RIDGE_TEST_PROGRAM names another program for `program` (default: ./ridge of the repository). Exit codes: 0 all as it
# should be, 1 not, 77 it cannot run here.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
mini=$repo/cluster/virtual/cluster.sh
shared=${RIDGE_TEST_SLURM:-} # the CTest fixture's, else one of our own
part=${1:-}
give_up_after=150 # seconds; below CTest's limit, which would kill this script without its trap

checks=0 failures=0
ok() { checks=$((checks + 1)); echo "ok: $*"; }
bad() { checks=$((checks + 1)); failures=$((failures + 1)); echo "FAILED: $*"; }
expect() { # WHAT WANTED GOT
  if [ "$2" = "$3" ]; then ok "$1"; else bad "$1: wanted '$2', got '$3'"; fi
}

case $part in program | contract) ;; *) echo "usage: $0 program|contract" >&2; exit 2 ;; esac
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (it reads the results here)"; exit 77; }
if [ "$part" = program ]; then
  program=${RIDGE_TEST_PROGRAM:-$repo/ridge}
  [ -x "$program" ] || { echo "skipped: no program to grade with at $program"; exit 77; }
  # The launcher would start a build of its own; a test only runs what is there.
  if [ "$program" = "$repo/ridge" ] && [ ! -x "$repo/build/bin/ridge" ]; then
    echo "skipped: build/bin/ridge is not built"; exit 77
  fi
fi

# Inside a job of another Slurm, these would steer our sbatch.
for name in "${!SLURM_@}" "${!SBATCH_@}" "${!RIDGE_@}"; do unset "$name"; done
dir=$(mktemp -d "${TMPDIR:-/tmp}/ridge-cluster.XXXXXX") || exit 1
# Every process of the cluster and of its jobs names our folder in its command line or its environment.
leftovers() {
  local pid
  unset SLURM_CONF RIDGE_RESULTS # else our own commands below would be found
  grep -lsaF "$dir" /proc/[0-9]*/environ /proc/[0-9]*/cmdline | cut -d/ -f3 | sort -u | while read -r pid; do
    # grep's own command line names the folder too, but it has ended by now; zombies have neither
    ps -o pid=,args= -p "$pid"
  done
}
tear_down() {
  local status=$? left
  trap - EXIT
  trap '' INT TERM
  [ -n "$shared" ] || "$mini" down "$dir/slurm" || status=1
  [ -z "$shared" ] || scancel --user="$(id -un)" 2>/dev/null
  left=$(leftovers)
  if [ -n "$left" ]; then
    echo "FAILED: processes are left:"; echo "$left"
    status=1
  fi
  if [ "$status" -eq 1 ]; then echo "kept for a look: $dir"; else rm -rf "$dir"; fi
  exit "$status"
}
trap tear_down EXIT
trap 'echo "FAILED: interrupted"; exit 1' INT TERM

if [ -f "$shared/etc/slurm.conf" ]; then
  export SLURM_CONF=$shared/etc/slurm.conf
else
  shared=
  "$mini" up "$dir/slurm" || exit $?
  export SLURM_CONF=$dir/slurm/etc/slurm.conf
fi
export RIDGE_RESULTS=$dir/results # nothing of this goes to the user's own results
mkdir "$dir/out" "$dir/log"
root=$repo
if [ "$part" = program ]; then
  [ "$program" = "$repo/ridge" ] || export RIDGE_PROGRAM=$program
else # a repository whose ridge is the fake
  root=$dir/repo
  mkdir -p "$root/cluster" "$root/labs" && cp "$repo/cluster/grade.sbatch" "$root/cluster/" &&
    ln -s "$here/fake_ridge.sh" "$root/ridge" || exit 1
fi
cd "$root" || exit 1

submit() { # NAME [sbatch option...] -- ARG...: prints the job's id
  local name=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  sbatch --parsable --output="$dir/log/$name" "${options[@]}" "$root/cluster/grade.sbatch" "$@" ||
    { echo "FAILED: sbatch refused $name" >&2; exit 1; }
}
job_field() { scontrol -o show job "$1" | grep -o " $2=[^ ]*" | cut -d= -f2; }
exit_code() { # JOB: waits for its end, prints the exit code that Slurm saw
  local state=unknown
  while [ "$SECONDS" -lt "$give_up_after" ]; do
    state=$(job_field "$1" JobState)
    case $state in
      COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL | OUT_OF_MEMORY) job_field "$1" ExitCode | cut -d: -f1; return ;;
    esac
    sleep 0.2
  done
  echo "none: job $1 is still $state after $SECONDS s"
}
field() { # FILE EXPRESSION of a JSON object r
  python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2" 2>&1 | tail -n 1
}
expect_result() { # NAME FILE OUTCOME: published, complete, of the schema
  if [ ! -f "$2" ]; then bad "$1: no result was published; the job's log:"; cat "$dir/log/$1"; return; fi
  expect "$1: schema" ridge.result/1 "$(field "$2" 'r["schema"]')"
  expect "$1: outcome" "$3" "$(field "$2" 'r["outcome"]')"
}
expect_not_graded() { # NAME FILE TEXT: no result, and a clear line in the log
  if [ -e "$2" ]; then bad "$1: a result was published, $(cat "$2")"; else ok "$1: no result"; fi
  if grep -q "NOT GRADED: .*$3" "$dir/log/$1"; then ok "$1: the log says why"; else
    bad "$1: wanted 'NOT GRADED: ...$3' in the log, which is:"; cat "$dir/log/$1"
  fi
}

test_program() {
  local out=$dir/out good failing broken unknown again before
  mkdir "$dir/broken"
  cp "$repo"/solutions/01_coalescing/*.cu "$dir/broken/" || exit 1
  for file in "$dir"/broken/*.cu; do echo 'this is not C++' >>"$file"; done

  good=$(submit good -- 01_coalescing solutions/01_coalescing "$out/good.json" cpu)
  failing=$(submit failing -- 01_coalescing labs/01_coalescing "$out/failing.json")
  expect "good: exit code" 0 "$(exit_code "$good")"
  expect_result good "$out/good.json" passed
  expect "good: lab" 01_coalescing "$(field "$out/good.json" 'r["lab"]')"
  expect "good: all points" True "$(field "$out/good.json" 'r["score"]["points"] == r["score"]["max"] > 0')"
  before=$(cat "$out/good.json" && stat -c %i "$out/good.json")

  again=$(submit again -- 01_coalescing solutions/01_coalescing "$out/good.json" cpu)
  broken=$(submit broken -- 01_coalescing "$dir/broken" "$out/broken.json" cpu)
  expect "failing: exit code" 1 "$(exit_code "$failing")"
  expect_result failing "$out/failing.json" failed
  expect "failing: not all points" True "$(field "$out/failing.json" 'r["score"]["points"] < r["score"]["max"]')"
  expect "failing: auto without a GPU is cpu" cpu "$(field "$out/failing.json" 'r["backend"]')"
  expect "again: exit code" 0 "$(exit_code "$again")"
  expect "again: the first result stayed, byte for byte" "$before" "$(cat "$out/good.json" && stat -c %i "$out/good.json")"
  if grep -q 'KEPT the result' "$dir/log/again"; then ok "again: the log says so"; else bad "again: $(cat "$dir/log/again")"; fi

  unknown=$(submit unknown -- 99_no_such_lab solutions/01_coalescing "$out/unknown.json" cpu)
  expect "broken: exit code" 4 "$(exit_code "$broken")"
  expect_result broken "$out/broken.json" build-failed
  expect "unknown: exit code" 3 "$(exit_code "$unknown")"
  expect_not_graded unknown "$out/unknown.json" 'usage error'
}

fake() { # NAME BEHAVIOUR: a submission; prints its folder
  mkdir "$dir/$1" && echo "$2" >"$dir/$1/fake" && echo "$dir/$1"
}
test_contract() {
  local out=$dir/out name job before
  local -A jobs

  # the exit code, and whether there is a result
  for name in 0 1 4; do jobs[$name]=$(submit "$name" -- 01 "$(fake "$name" "$name")" "$out/$name.json"); done
  for name in 2 3 5 crash no-json; do
    jobs[$name]=$(submit "$name" -- 01 "$(fake "$name" "$name")" "$out/$name.json")
  done
  jobs[hang]=$(RIDGE_WATCHDOG=1 submit hang -- 01 "$(fake hang hang)" "$out/hang.json")

  for name in 0 1 4; do expect "ridge $name: exit code" "$name" "$(exit_code "${jobs[$name]}")"; done
  expect_result 0 "$out/0.json" passed
  expect_result 1 "$out/1.json" failed
  expect_result 4 "$out/4.json" build-failed
  expect "no GPU, no backend named: cpu" cpu "$(field "$out/0.json" 'r["backend"]')"
  for name in 2 3 5 crash no-json hang; do expect "$name: exit code" 3 "$(exit_code "${jobs[$name]}")"; done
  expect_not_graded 2 "$out/2.json" 'usage error'
  expect_not_graded 3 "$out/3.json" 'environment failed'
  expect_not_graded 5 "$out/5.json" 'unexpected exit code 5'
  expect_not_graded crash "$out/crash.json" 'signal 11'
  expect_not_graded no-json "$out/no-json.json" 'left no ridge.result/1'
  expect_not_graded hang "$out/hang.json" 'within 1 s'

  # arguments, folders, environment
  mkdir -p "$dir/elsewhere" "$dir/unbuilt/labs/01"
  cp -r "$root/cluster" "$dir/unbuilt/"
  name=$(fake plain 0)
  jobs[usage]=$(submit usage -- 01)
  jobs[backend]=$(submit backend -- 01 "$name" "$out/backend.json" gpu)
  jobs[missing]=$(submit missing -- 01 "$dir/nowhere" "$out/missing.json")
  jobs[outside]=$(cd "$dir/elsewhere" && submit outside -- 01 "$name" "$out/outside.json")
  jobs[wrong-root]=$(RIDGE_ROOT=$dir submit wrong-root -- 01 "$name" "$out/wrong-root.json")
  jobs[unbuilt]=$(cd "$dir/unbuilt/labs/01" && submit unbuilt -- 01 "$name" "$out/unbuilt.json")
  jobs[root]=$(cd "$dir/elsewhere" && RIDGE_ROOT=$root submit root -- 01 ../plain new/folder/root.json)
  jobs[bare]=$(submit bare --export=NONE -- 01 "$(fake bare 0)" "$out/bare.json")
  jobs[gpu]=$(submit gpu --gres=gpu:1 -- 01 "$name" "$out/gpu.json")
  for name in usage backend missing outside wrong-root unbuilt; do
    expect "$name: exit code" 3 "$(exit_code "${jobs[$name]}")"
  done
  expect_not_graded usage "$out/usage.json" 'wants 3 or 4 arguments'
  expect_not_graded backend "$out/backend.json" "unknown backend 'gpu'"
  expect_not_graded missing "$out/missing.json" 'cannot be entered'
  expect_not_graded outside "$out/outside.json" 'RIDGE_ROOT is not set'
  expect_not_graded wrong-root "$out/wrong-root.json" 'is not a Ridge repository'
  expect_not_graded unbuilt "$out/unbuilt.json" 'is missing or not executable'
  expect "root: exit code" 0 "$(exit_code "${jobs[root]}")"
  expect_result root "$dir/elsewhere/new/folder/root.json" passed
  expect "bare: exit code" 0 "$(exit_code "${jobs[bare]}")"
  expect "bare: SLURM_EXPORT_ENV is gone, PATH and HOME are there" 'HOME PATH ' \
    "$(grep -oE '^(SLURM_EXPORT_ENV|PATH|HOME)=.' "$dir/bare/env" | cut -d= -f1 | sort | tr '\n' ' ')"
  expect "gpu: exit code" 0 "$(exit_code "${jobs[gpu]}")"
  expect "gpu: a job with a GPU takes cuda" cuda "$(field "$out/gpu.json" 'r["backend"]')"

  # Slurm runs one job twice: the first result stays
  before=$(cat "$out/bare.json")
  scontrol requeue "${jobs[bare]}"
  scontrol update JobId="${jobs[bare]}" StartTime=now # a requeued job is held back two minutes
  for _ in $(seq 50); do grep -q 'KEPT the result' "$dir/log/bare" && break; sleep 0.2; done
  expect "requeued: exit code" 0 "$(exit_code "${jobs[bare]}")"
  expect "requeued: it ran twice" 2 "$(grep -c ': grading' "$dir/log/bare")"
  expect "requeued: the first result stayed" "$before" "$(cat "$out/bare.json")"

  # two jobs, one name: one result, and it is whole
  jobs[race1]=$(submit race1 -w n1 -- 01 "$(fake race1 0)" "$out/race.json")
  jobs[race2]=$(submit race2 -w n2 -- 01 "$(fake race2 1)" "$out/race.json")
  expect "race: exit codes" "0 1" "$(exit_code "${jobs[race1]}") $(exit_code "${jobs[race2]}")"
  expect "race: one published, one kept" "1 1" \
    "$(cat "$dir"/log/race? | grep -c ': published') $(cat "$dir"/log/race? | grep -c 'KEPT the result')"
  if grep -q ': published' "$dir/log/race1"; then name=passed; else name=failed; fi
  expect_result race2 "$out/race.json" "$name"

  # a cancelled job says so, and leaves no process and no half result
  job=$(submit cancelled -- 01 "$(fake cancelled hang)" "$out/cancelled.json")
  for _ in $(seq 50); do [ -e "$dir/cancelled/env" ] && break; sleep 0.2; done
  scancel "$job"
  exit_code "$job" >/dev/null
  for _ in $(seq 30); do grep -q 'NOT GRADED' "$dir/log/cancelled" && break; sleep 0.1; done
  expect_not_graded cancelled "$out/cancelled.json" 'Slurm ended the job'
  expect "no temporary file is left" '' "$(find "$dir" -name '.*.tmp*')"
}

"test_$part"
if [ "$failures" -ne 0 ] && [ "$SECONDS" -ge "$give_up_after" ]; then echo "gave up after $SECONDS s"; fi
echo "$checks checks, $failures failed, $SECONDS s"
[ "$failures" -eq 0 ]
