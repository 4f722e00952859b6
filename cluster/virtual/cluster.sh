#!/usr/bin/env bash
# Runs a real Slurm of N nodes on this machine, on loopback and in one private folder, for tests and rehearsals.
# up.sh and down.sh call this.
#
#   cluster.sh up DIR [N] [--cgroup]   starts it (N: 2 nodes); then: export SLURM_CONF=DIR/etc/slurm.conf
#   cluster.sh down DIR                ends it with its jobs and all its processes, and keeps DIR with the logs
#   cluster.sh start DIR slurmctld|NODE   restarts a daemon that was killed
#   cluster.sh pid DIR slurmctld|NODE     prints its process id
#   cluster.sh doom DIR NODE           kills the node: its daemon and all processes of its jobs at once
#
# Partition `grade` has all nodes; `cpu` the first half of them, without GPUs. The other half offers gpu:emulated:2, which
# is only a name: a job sees it in SLURM_JOB_GPUS alone. Jobs of `urgent` end those of the others. --cgroup confines jobs by the control groups of this machine, v1
# or v2. Exit code 77: it cannot run here (not root, a missing program); the reason is printed.
set -u

say() { printf 'cluster: %s\n' "$*" >&2; }

# Prints ports without a listener, below the range of the kernel's ephemeral ports.
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

# The daemons have a mark in their environment, and TaskProlog passes it to jobs: it finds processes that left their
# job's process tree, which proctrack/linuxproc loses.
mark=RIDGE_MINI_SLURM
processes() { grep -lszxF "$mark=$dir" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }

cgroups() { # prints v1, v2 or nothing
  [ -f /sys/fs/cgroup/cgroup.controllers ] && { echo v2; return; }
  for controller in cpuset memory freezer devices; do [ -w "/sys/fs/cgroup/$controller" ] || return; done
  echo v1
}

configure() { # writes DIR/etc for freshly picked ports
  local host ports i version half cpus memory
  host=$(uname -n)
  host=${host%%.*}
  cpus=$(nproc)
  memory=$(awk '/MemTotal/ { print int($2 / 1024 / 2) }' /proc/meminfo)
  mapfile -t ports < <(free_ports $((nodes + 1)))
  half=$((nodes > 1 ? nodes / 2 : 1))
  version=$(cgroups)
  {
    echo "CgroupPlugin=cgroup/${version:-v1}" # a named version needs no mounted cgroup file system, which containers lack
    if [ -n "$confine" ]; then
      [ "$version" = v2 ] || echo "CgroupMountpoint=/sys/fs/cgroup"
      printf 'ConstrainCores=yes\nConstrainRAMSpace=yes\nConstrainDevices=no\n'
    fi
  } >"$dir/etc/cgroup.conf"
  cat >"$dir/etc/slurm.conf" <<CONF
ClusterName=ridge-virtual
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
TmpFS=$dir/tmp/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
ProctrackType=proctrack/$([ -n "$confine" ] && echo cgroup || echo linuxproc)
TaskPlugin=task/$([ -n "$confine" ] && echo cgroup || echo none)
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=nohold_on_prolog_fail,batch_sched_delay=1,sched_min_interval=200000
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
TaskProlog=$dir/etc/mark
SlurmctldTimeout=30
SlurmdTimeout=15
KillWait=2
ReturnToService=2
MaxArraySize=2001
MinJobAge=60
GresTypes=gpu
$(for i in $(seq "$nodes"); do
    gres=
    [ "$i" -gt "$half" ] || [ "$nodes" -eq 1 ] && gres="Gres=gpu:emulated:2"
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[$i]} CPUs=$cpus RealMemory=$memory $gres"
  done)
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=grade Nodes=n[1-$nodes] Default=YES MaxTime=60 State=UP
PartitionName=cpu Nodes=n[1-$half] MaxTime=60 State=UP
PartitionName=urgent Nodes=n[1-$nodes] MaxTime=60 PriorityTier=10 State=UP
CONF
  printf '#!/bin/sh\necho "export %s=%s"\n' "$mark" "$dir" >"$dir/etc/mark"
  chmod 755 "$dir/etc/mark"
  for i in $(seq "$nodes"); do
    if [ "$i" -gt "$half" ] || [ "$nodes" -eq 1 ]; then echo "NodeName=n$i Name=gpu Type=emulated File=$dir/dev/gpu[0-1]"; fi
  done >"$dir/etc/gres.conf"
}

# Slurm calls a node idle before its slurmd has registered, so its start time must be known too.
all_ready() { [ "$(scontrol -o show node 2>/dev/null | grep 'State=IDLE ' | grep -c 'SlurmdStartTime=[0-9]')" = "$nodes" ]; }

start_once() { # 0 where it is up, else 1
  local node
  configure
  "${daemon[@]}" slurmctld -c >>"$dir/log/start" 2>&1 || return 1
  for node in $(seq -f n%g "$nodes"); do
    "${daemon[@]}" slurmd -c -N "$node" >>"$dir/log/start" 2>&1 || return 1
  done
  for _ in $(seq $((50 + 10 * nodes))); do
    all_ready && return 0
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
  [ -z "$confine" ] || [ -n "$(cgroups)" ] || { say "skipped: no control groups that can be written here"; exit 77; }
  mkdir -p "$dir"/{etc,state,run,log,munge,dev} || { say "cannot make folders in $dir"; exit 1; }
  for i in $(seq "$nodes"); do mkdir -p "$dir/spool/n$i" "$dir/tmp/n$i"; done
  # Regular files as GRES leave a job without a number, and /dev/null breaks confined ones. Where no node can be made, files do.
  for i in 0 1; do [ -e "$dir/dev/gpu$i" ] || mknod -m 666 "$dir/dev/gpu$i" c 240 "$i" 2>/dev/null || : >"$dir/dev/gpu$i"; done
  chmod 700 "$dir/munge"
  [ -z "$(processes)" ] || { say "a cluster is already up in $dir: down.sh $dir"; exit 1; }
  rm -f "$dir/munge/key"
  (umask 377 && head -c 1024 /dev/urandom >"$dir/munge/key")
  # --force: munged refuses a folder that is closed to other users
  "${daemon[@]}" munged --force --num-threads=4 --key-file="$dir/munge/key" --socket="$dir/run/munge.sock" \
    --pid-file="$dir/run/munged.pid" --log-file="$dir/log/munged.log" --seed-file="$dir/munge/seed" \
    >>"$dir/log/start" 2>&1 || { say "munged did not start:"; tail -n 5 "$dir/log/start" "$dir/log/munged.log" >&2; exit 1; }

  for try in 1 2 3; do # another process may take a port before the daemon starts
    start_once && { say "up: $nodes nodes; export SLURM_CONF=$SLURM_CONF"; return 0; }
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
    for _ in $(seq 60); do # slurmstepd ends a job's processes more reliably than this script
      [ -n "$(timeout 5 squeue -h -o %A 2>/dev/null)" ] || break
      sleep 0.1
    done
    stop_processes
  fi
  [ -z "$(processes)" ] || { say "these processes outlived the cluster in $dir:"; ps -o pid,args -p "$(processes | paste -sd,)" >&2; return 1; }
}

usage() { say "usage: up DIR [N] [--cgroup] | down DIR | start|pid DIR slurmctld|NODE | doom DIR NODE"; exit 2; }
[ $# -ge 2 ] || usage
command=$1
mkdir -p "$2" || { say "cannot make $2"; exit 1; }
dir=$(cd "$2" && pwd) || exit 1
export SLURM_CONF=$dir/etc/slurm.conf
nodes=2 confine=
# The daemons get a minimal environment, as from an init system, and the mark.
daemon=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SLURM_CONF="$SLURM_CONF" "$mark=$dir")
case $command in
  up)
    shift 2
    for argument in "$@"; do
      case $argument in
        --cgroup) confine=1 ;;
        [1-9] | [1-9][0-9]) nodes=$argument ;;
        *) usage ;;
      esac
    done
    up
    ;;
  down) down ;;
  start)
    case ${3:-} in
      slurmctld) "${daemon[@]}" slurmctld ;;
      n[1-9]*) "${daemon[@]}" slurmd -N "$3" ;;
      *) usage ;;
    esac
    ;;
  pid)
    case ${3:-} in
      slurmctld) cat "$dir/run/slurmctld.pid" ;;
      n[1-9]*) cat "$dir/run/slurmd-$3.pid" ;;
      *) usage ;;
    esac
    ;;
  doom)
    [ -n "${3:-}" ] || usage
    kill -KILL "$(cat "$dir/run/slurmd-$3.pid")"
    for _ in 1 2 3; do # until no process of its jobs is left
      pids=$(grep -lszxF "SLURMD_NODENAME=$3" $(processes | sed 's#.*#/proc/&/environ#') /dev/null 2>/dev/null | cut -d/ -f3)
      steps=$(pgrep -f "^slurmstepd: \[" | while read -r p; do grep -qszxF "$mark=$dir" "/proc/$p/environ" &&
        grep -qsaF "$dir/spool/$3" "/proc/$p/cmdline" "/proc/$p/environ" && echo "$p"; done)
      # shellcheck disable=SC2086
      [ -z "$pids$steps" ] || kill -KILL $pids $steps 2>/dev/null
      sleep 0.1
    done
    ;;
  *) usage ;;
esac
