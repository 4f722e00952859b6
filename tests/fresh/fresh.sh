#!/bin/sh
# A machine with nothing on it: fresh.sh REPOSITORY [SUITE] [WHAT...]
#   student     as docs/student.md says, from the clone to the first task that passes, by an ordinary user with sudo
#   gradescope  the package of lab 01: setup.sh, then run_autograder with the rights of an ordinary container
#   docker      the steps of cluster/install/Dockerfile, as a build would take them
#   apptainer   the sections of cluster/install/ridge.def
# SUITE: noble (Ubuntu 24.04, the default) or bookworm (Debian 12). Without WHAT: student, gradescope.
#
# Root, debootstrap and a network are needed; without them 77. A build from nothing takes ten minutes of two cores and each system
# 2 GB; RIDGE_FRESH names a folder that is kept between runs (the base system and a compiler cache), else all is removed.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
repository=$(cd "$1" && pwd)
suite=${2:-noble}
[ $# -lt 2 ] || shift
shift
[ $# -gt 0 ] || set -- student gradescope

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
step() { printf '%s %s\n' "$(date +%T)" "$*"; }
[ "$(id -u)" = 0 ] || skip "only root can make a system of its own"
for tool in debootstrap unshare pivot_root gpg git python3; do
  command -v "$tool" >/dev/null 2>&1 || PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"
done
PATH=$PATH:/usr/sbin:/sbin
case $suite in
  noble) mirror=http://archive.ubuntu.com/ubuntu components=main,universe script=gutsy ;;
  bookworm) mirror=http://deb.debian.org/debian components=main script=sid ;;
  *) echo "usage: fresh.sh REPOSITORY [noble|bookworm] [student|gradescope|docker|apptainer]..." >&2; exit 2 ;;
esac
python3 - "$mirror/dists/$suite/Release" <<'END' || skip "$mirror cannot be reached"
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=20).read(64)
END
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces may be made here"

folder=${RIDGE_FRESH:-$(mktemp -d /var/tmp/ridge-fresh-XXXXXX)}
mkdir -p "$folder"
[ -n "${RIDGE_FRESH-}" ] || trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# The archive's own key: Debian's package is there where debootstrap is; Ubuntu's is taken from its archive and believed if it has
# the fingerprint that Ubuntu publishes.
keyring=$folder/$suite.gpg
make_keyring() {
  if [ "$suite" = bookworm ]; then
    cp /usr/share/keyrings/debian-archive-keyring.gpg "$keyring"
    return
  fi
  python3 - "$mirror" "$folder/keyring.deb" <<'END'
import gzip, re, sys, urllib.request
mirror, out = sys.argv[1:]
index = gzip.decompress(urllib.request.urlopen(f"{mirror}/dists/noble/main/binary-amd64/Packages.gz").read()).decode()
name = re.search(r"^Filename: (\S+/ubuntu-keyring_\S+)", index, re.M).group(1)
open(out, "wb").write(urllib.request.urlopen(f"{mirror}/{name}").read())
END
  dpkg-deb -x "$folder/keyring.deb" "$folder/keyring"
  GNUPGHOME=$(mktemp -d) && export GNUPGHOME
  gpg --quiet --no-default-keyring --keyring "$folder/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" \
    --export F6ECB3762474EDA9D21B7022871920D1991BC93C >"$keyring"
  rm -rf "$GNUPGHOME" "$folder/keyring" "$folder/keyring.deb"
  [ -s "$keyring" ] || fail "Ubuntu's archive key is not the one that is known"
}

enter() { RIDGE_FRESH_SHARE=$folder/share "$here/enter.sh" "$@"; }
mkdir -p "$folder/share/ccache" && chmod 1777 "$folder/share/ccache"

base=$folder/$suite
if [ ! -f "$base.ready" ]; then
  step "a base system: $suite"
  rm -rf "$base"
  [ -s "$keyring" ] || make_keyring
  debootstrap --variant=minbase "--keyring=$keyring" --components="$components" "$suite" "$base" "$mirror" \
    "/usr/share/debootstrap/scripts/$script" >"$folder/debootstrap.log" 2>&1 || { tail -n 20 "$folder/debootstrap.log"; fail debootstrap; }
  printf '#!/bin/sh\nexit 101\n' >"$base/usr/sbin/policy-rc.d" # no services in here
  chmod +x "$base/usr/sbin/policy-rc.d"
  : >"$base.ready"
fi

# Each gets a copy of the base. With RIDGE_FRESH a compiler cache is in it too, which a fresh machine has not.
root=$folder/root
new_root() { # packages that this machine has from the start
  rm -rf "$root"
  cp -a --reflink=auto "$base" "$root"
  [ -z "${RIDGE_FRESH-}" ] || set -- "$@" ccache
  enter "$root" sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"' sh ca-certificates "$@" \
    >"$folder/apt.log" 2>&1 || { tail -n 20 "$folder/apt.log"; fail "apt-get in the new system"; }
  used_before=$(du -skx "$root" | cut -f1)
}
cache="CCACHE_DIR=/share/ccache CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1 CCACHE_UMASK=000"
used() { step "disk: $((($(du -skx "$root" | cut -f1) - used_before) / 1000)) MB more than before"; }

for what in "$@"; do
  case $what in student | gradescope) what_script=$here/$what.sh ;; docker | apptainer) what_script=$here/recipe.sh ;;
    base) continue ;; # for matrix.sh
    *) fail "unknown: $what" ;;
  esac
  step "$what on $suite"
  # shellcheck source=/dev/null
  . "$what_script"
  step "$what: all as expected"
  rm -rf "$root"
done
