#!/bin/sh
# fixture.sh up|down DIR: the Slurm that the cluster tests share. Where it can't start, they say so one by one (they
# start their own then, and skip).
virtual=$(dirname "$0")/../../cluster/virtual
case $1 in
  up)
    "$virtual/down.sh" "$2" # of a run that was interrupted
    rm -rf "$2"
    "$virtual/up.sh" "$2" 4 && exit 0
    code=$?
    rm -rf "$2"
    [ $code = 77 ] && exit 0
    exit $code
    ;;
  down) [ ! -d "$2" ] || "$virtual/down.sh" "$2" ;;
esac
