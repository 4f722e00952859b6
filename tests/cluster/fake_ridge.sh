#!/usr/bin/env bash
# Stands in for ridge where a test needs an outcome that the real one should never give: behaves as the submission's
# file `fake` says (an exit code, `hang`, `crash` or `no-json`), and notes its environment in the file `env` there.
set -u
submission='' json='' lab=${2:-} backend=''
while [ $# -gt 0 ]; do
  case $1 in
    --submission) submission=$2; shift ;;
    --backend) backend=$2; shift ;;
    --json) json=$2; shift ;;
  esac
  shift
done
[ -n "$submission" ] && [ -n "$json" ] || exit 2
env >"$submission/env"
behaviour=$(cat "$submission/fake") || exit 2

result() { # OUTCOME POINTS
  printf '{ "schema": "ridge.result/1", "attempt": "%s-%s", "lab": "%s", "backend": "%s", "outcome": "%s",\n' \
    "$(date -u +%Y%m%dT%H%M%S)" "$$" "$lab" "$backend" "$1" >"$json"
  printf '  "score": { "points": %s, "max": 100, "coverage": 1.0 } }\n' "$2" >>"$json"
}
case $behaviour in
  0) result passed 100; exit 0 ;;
  1) result failed 0; exit 1 ;;
  4) result build-failed 0; exit 4 ;;
  hang) result failed 0; sleep 600 ;;
  crash) result passed 100; kill -SEGV $$ ;;
  no-json) exit 0 ;;
  *) echo "fake_ridge: exit code $behaviour" >&2; exit "$behaviour" ;;
esac
