#!/usr/bin/env bash
# A real Slurm of two nodes on this machine, on loopback and in one private folder, without cgroups.
#
#   mini_slurm.sh up DIR     starts it; then: export SLURM_CONF=DIR/etc/slurm.conf
#   mini_slurm.sh down DIR   ends it, its jobs and every process it started; DIR with its logs stays
#
# n1 has no GPU; n2 offers one that is only a name (gres), to see what Slurm tells a job that asked for one.
# Exit code 77: it cannot run here (not root, a program missing), with the reason.
set -u

say() { printf 'mini_slurm: %s\n' "$*" >&2; }

# Ports that nobody listens on, below the range the kernel hands out by itself.
free_ports() { # COUNT
  local taken port found=0
  taken=$(awk 'FNR > 1 { split($2, a, ":"); print a[2] }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  while [ "$found" -lt "$1" ]; do
    port=$((20000 + RANDOM % 12000))
    grep -qx "$(printf '%04X' "$port")" <<<"$taken" && continue
    taken+=$'\n'$(printf '%04X' "$port")
    found=$((found + 1))
    echo "$port"
  done
}

# The daemons carry a mark in their environment, and TaskProlog gives it to jobs: a process that left its job's
# process tree is found all the same (proctrack/linuxproc loses it).
mark=RIDGE_MINI_SLURM
processes() { grep -lszxF "$mark=$dir" /proc/[0-9]*/environ | cut -d/ -f3; }

configure() { # writes DIR/etc for freshly picked ports
  local host ports
  host=$(uname -n)
  host=${host%%.*}
  mapfile -t ports < <(free_ports 3)
  # Nothing here uses cgroups. Named, the plugin does not look for a mounted cgroup file system, which containers lack.
  echo CgroupPlugin=cgroup/v1 >"$dir/etc/cgroup.conf"
  cat >"$dir/etc/slurm.conf" <<CONF
ClusterName=ridge-mini
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/run/munge.sock
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=1
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
TaskProlog=$dir/etc/mark
KillWait=2
ReturnToService=2
GresTypes=gpu
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=1 RealMemory=1000
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=1 RealMemory=1000 Gres=gpu:1
PartitionName=grade Nodes=n[1-2] Default=YES MaxTime=30 State=UP
CONF
  printf '#!/bin/sh\necho "export %s=%s"\n' "$mark" "$dir" >"$dir/etc/mark"
  chmod 755 "$dir/etc/mark"
  echo "NodeName=n2 Name=gpu File=/dev/null" >"$dir/etc/gres.conf"
}

# Slurm calls a node idle before its slurmd has spoken, so its start time has to be known too.
both_ready() { [ "$(scontrol -o show node 2>/dev/null | grep 'State=IDLE ' | grep -c 'SlurmdStartTime=[0-9]')" = 2 ]; }

start_once() { # 0: up; 1: not
  local node
  configure
  "${daemon[@]}" slurmctld -c >>"$dir/log/start" 2>&1 || return 1
  for node in n1 n2; do
    "${daemon[@]}" slurmd -c -N "$node" >>"$dir/log/start" 2>&1 || return 1
  done
  for _ in $(seq 50); do
    both_ready && return 0
    sleep 0.1
  done
  return 1
}

up() {
  local program try
  [ "$(id -u)" = 0 ] || { say "skipped: it needs root (slurmd starts jobs as other users)"; exit 77; }
  for program in munged slurmctld slurmd sbatch sinfo squeue scancel scontrol; do
    command -v "$program" >/dev/null ||
      { say "skipped: $program is not installed (packages slurm-wlm and munge)"; exit 77; }
  done
  mkdir -p "$dir"/{etc,state,run,log,munge,spool/n1,spool/n2} || { say "cannot make folders in $dir"; exit 1; }
  chmod 700 "$dir/munge"
  [ -z "$(processes)" ] || { say "a cluster is already up in $dir: mini_slurm.sh down $dir"; exit 1; }
  rm -f "$dir/munge/key"
  (umask 377 && head -c 1024 /dev/urandom >"$dir/munge/key")
  # --force: munged would refuse a folder that not everybody may enter
  "${daemon[@]}" munged --force --num-threads=2 --key-file="$dir/munge/key" --socket="$dir/run/munge.sock" \
    --pid-file="$dir/run/munged.pid" --log-file="$dir/log/munged.log" --seed-file="$dir/munge/seed" \
    >>"$dir/log/start" 2>&1 || { say "munged did not start:"; tail -n 5 "$dir/log/start" "$dir/log/munged.log" >&2; exit 1; }

  for try in 1 2 3; do # somebody else may take a port between the look and the start
    start_once && { say "up: 2 nodes; export SLURM_CONF=$SLURM_CONF"; return 0; }
    say "try $try did not come up"
    stop_processes "$(cat "$dir/run/munged.pid")"
  done
  say "Slurm did not come up in $dir; its last words:"
  tail -n 5 "$dir"/log/* >&2
  down
  exit 1
}

stop_processes() { # [all but this PID]: TERM, then KILL after 5 s
  local left try
  for try in $(seq 50); do
    left=$(processes | grep -vxF "${1:-}")
    [ -n "$left" ] || return 0
    # shellcheck disable=SC2086  # a list
    [ "$try" -gt 1 ] || kill -TERM $left 2>/dev/null
    sleep 0.1
  done
  # shellcheck disable=SC2086
  kill -KILL $left 2>/dev/null
  sleep 0.2
}

down() {
  local jobs
  if [ -n "$(processes)" ]; then
    jobs=$(timeout 5 squeue -h -o %A 2>/dev/null)
    # shellcheck disable=SC2086  # a list
    [ -z "$jobs" ] || timeout 5 scancel $jobs
    for _ in $(seq 60); do # slurmstepd ends a job's processes better than we can from outside
      [ -n "$(timeout 5 squeue -h -o %A 2>/dev/null)" ] || break
      sleep 0.1
    done
    stop_processes
  fi
  [ -z "$(processes)" ] || { say "these processes outlived the cluster in $dir:"; ps -o pid,args -p "$(processes | paste -sd,)" >&2; return 1; }
}

[ $# -eq 2 ] || { say "usage: mini_slurm.sh up|down DIR"; exit 2; }
mkdir -p "$2" || { say "cannot make $2"; exit 1; }
dir=$(cd "$2" && pwd) || exit 1
export SLURM_CONF=$dir/etc/slurm.conf
# The daemons get the bare environment that a site's init system would give them, and the mark.
daemon=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SLURM_CONF="$SLURM_CONF" "$mark=$dir")
case $1 in
  up) up ;;
  down) down ;;
  *) say "usage: mini_slurm.sh up|down DIR"; exit 2 ;;
esac
