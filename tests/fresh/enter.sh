#!/bin/sh
# enter.sh ROOT COMMAND...: a command in a system that lies in ROOT, as root there: own mounts, processes and host name, this
# machine's network. Only root may; nothing of it stays.
set -eu
[ $# -ge 2 ] && [ -d "$1/etc" ] || { echo "usage: enter.sh ROOT COMMAND..." >&2; exit 2; }
root=$(cd "$1" && pwd)
shift
# pivot_root and not chroot: in a chroot the kernel makes no user namespaces, and the sandbox could not be seen at work.
# shellcheck disable=SC2016 # the inner shell's
exec unshare --mount --pid --uts --fork --kill-child sh -ec '
  root=$1
  shift
  mount --make-rprivate /
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sys "$root/sys"
  mount -t tmpfs -o mode=755 dev "$root/dev"
  mkdir -p "$root/dev/pts" "$root/dev/shm" "$root/.before"
  chmod 1777 "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  for node in null zero full random urandom tty; do : >"$root/dev/$node" && mount --bind "/dev/$node" "$root/dev/$node"; done
  cat /etc/resolv.conf >"$root/etc/resolv.conf"
  if [ -n "${RIDGE_FRESH_SHARE-}" ]; then mkdir -p "$root/share" && mount --rbind "$RIDGE_FRESH_SHARE" "$root/share"; fi
  hostname fresh
  cd "$root"
  pivot_root . .before
  cd /
  umount -l /.before
  rmdir /.before
  exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb "$@"
' enter "$root" "$@"
