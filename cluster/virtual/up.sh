#!/bin/sh
# up.sh DIR [N] [--cgroup]: a Slurm of N nodes (2) on this machine, in DIR. Ends with down.sh DIR.
exec "$(dirname "$0")/cluster.sh" up "$@"
