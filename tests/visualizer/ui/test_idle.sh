#!/bin/sh
# An open window that nobody touches takes no CPU time: test_idle.sh RIDGE_VIZ TESTS OUT
set -eu
viz=$1 tests=$2 out=$3
command -v xvfb-run >/dev/null || { echo "skipped: xvfb-run was not found (Debian: apt-get install xvfb xauth)" && exit 77; }
rm -rf "$out"
mkdir -p "$out"
XDG_STATE_HOME=$out exec xvfb-run -a -s "-screen 0 1280x720x24" sh -euc '
  "$1" "$2/data/counted_three.json" &
  pid=$!
  trap "kill $pid 2>/dev/null" EXIT
  # Clock ticks of user and system, behind the name in brackets.
  ticks() { sed "s/.*) //" /proc/$pid/stat | cut -d" " -f12,13 | tr " " "+"; }
  # Settled when a second passes without any; a loaded machine takes its time.
  before=-1 now=$(($(ticks)))
  for i in 1 2 3 4 5 6 7 8 9 10; do
    sleep 1
    kill -0 $pid || { echo "FAILED: the window closed" && exit 1; }
    before=$now now=$(($(ticks)))
    [ "$now" -gt 0 ] && [ "$now" -eq "$before" ] && break
  done
  sleep 3
  used=$(($(ticks) - now))
  echo "$used ticks of CPU time in three idle seconds"
  [ "$used" -le 15 ]
  [ -s "$3/ridge/visualizer.json" ] || { echo "FAILED: the state was not saved" && exit 1; }' idle "$viz" "$tests" "$out"
