#!/bin/sh
# down.sh DIR: ends the Slurm that up.sh started there, and everything it started.
exec "$(dirname "$0")/cluster.sh" down "$@"
