#!/bin/sh
# The first check on every kind of machine that was promised: matrix.sh REPOSITORY TABLE [SUITE...]
#
# Each row is a bare system (bookworm: Debian 12; noble: Ubuntu 24.04) with one thing different: no Clang, no root, a full disk,
# an interruption. The same user runs the same check in it, and the row says what happened. TABLE is the page to write.
# Root, debootstrap and a network are needed; without them 77. RIDGE_FRESH: a folder kept between runs (bases and a compiler cache).
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
repository=$(cd "$1" && pwd)
table=$2
shift 2
[ $# -gt 0 ] || set -- bookworm noble
folder=${RIDGE_FRESH:-/var/tmp/ridge-matrix}
mkdir -p "$folder/share/ccache" && chmod 1777 "$folder/share/ccache"
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can make a system of its own"
PATH=$PATH:/usr/sbin:/sbin
rows=$folder/rows.md
: >"$rows"
failures=0

base() { # a bare system, made by fresh.sh's own step
  [ -f "$folder/$1.ready" ] || RIDGE_FRESH=$folder "$here/fresh.sh" "$repository" "$1" base
}

# A system with this course's packages, a user, and the clone; a row gets a copy on write.
prepare() { # suite
  suite=$1 prepared=$folder/$1-prepared
  [ -f "$prepared.ready" ] && [ "$(cat "$prepared.ready")" = "$(git -C "$repository" rev-parse HEAD)" ] && return
  rm -rf "$prepared"
  cp -a "$folder/$suite" "$prepared"
  RIDGE_FRESH_SHARE=$folder/share "$here/enter.sh" "$prepared" sh -c "
    set -e
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends ca-certificates git ccache locales \$($repository_packages)
    localedef -i tr_TR -f UTF-8 tr_TR.UTF-8
    useradd -m -s /bin/bash ada" >"$folder/apt.log" 2>&1 || { tail -n 20 "$folder/apt.log"; exit 1; }
  git -C "$repository" rev-parse HEAD >"$prepared.ready"
}
repository_packages="echo $("$repository/ridge" packages core | tr '\n' ' ')"

fresh_root() { # a copy on write of what $1 names
  umount "$folder/root" 2>/dev/null || true
  rm -rf "$folder/upper" "$folder/work"
  mkdir -p "$folder/upper" "$folder/work" "$folder/root"
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$folder/upper,workdir=$folder/work" "$folder/root" || skip "no overlay file system here"
}
trap 'umount "$folder/root" 2>/dev/null || true' EXIT

cache="export CCACHE_DIR=/share/ccache CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1 CCACHE_UMASK=000"
clone="git clone -q -c advice.detachedHead=false /share/ridge.bundle ridge && cd ridge"
check="./ridge check 01 --task copy --submission solutions/01_coalescing"
network= # "unshare --net": without one
before=: # what root does first, in the same system
as_root() { RIDGE_FRESH_SHARE=$folder/share "$here/enter.sh" "$folder/root" sh -c "$1"; }
as_ada() {
  printf '%s\n%s\n' "$cache" "$1" >"$folder/share/script"
  RIDGE_FRESH_SHARE=$folder/share $network "$here/enter.sh" "$folder/root" sh -c "$before; su - ada -c 'sh /share/script'"
}

# row WHAT EXPECTED-CODE EXPECTED-TEXT COMMAND: by the user, in the system that was prepared.
row() {
  began=$(date +%s)
  code=0
  as_ada "$4" >"$folder/out" 2>&1 </dev/null || code=$?
  result="as expected"
  [ "$code" = "$2" ] && grep -qF -- "$3" "$folder/out" || result="**failed**: exit code $code"
  [ "$result" = "as expected" ] || { failures=$((failures + 1)); echo "--- $suite, $1: $result, wanted $2 and: $3"; tail -n 30 "$folder/out"; }
  printf '| %s | %s | %s, "%s" | %s | %s s |\n' "$suite" "$1" "$2" "$3" "$result" "$(($(date +%s) - began))" >>"$rows"
  tail -n 1 "$rows"
}

# Interrupted by Ctrl-C once the output or the log holds a text; then the same command again.
interrupted() { # what, pattern
  code=0
  as_ada "$clone
    setsid env --default-signal=INT sh -c '$check' >../out 2>&1 &
    pid=\$!
    i=0
    while [ \$i -lt 3000 ] && ! grep -qs -- '$2' ../out build/ridge-build.log; do sleep 0.1; i=\$((i + 1)); done
    /bin/kill -INT -- -\$pid
    wait \$pid" >"$folder/out" 2>&1 </dev/null || code=$?
  if [ "$code" = 130 ]; then
    row "interrupted $1, then again" 0 "PASS copy" "cd ridge; $check"
  else
    failures=$((failures + 1))
    echo "--- $suite, interrupted $1: ended with $code, not by the signal" && tail -n 30 "$folder/out"
    printf '| %s | interrupted %s | 130 | **failed**: exit code %s | |\n' "$suite" "$1" "$code" >>"$rows"
  fi
}

git -C "$repository" bundle create -q "$folder/share/ridge.bundle" HEAD
rm -rf "$folder/share/course" && mkdir "$folder/share/course"
git -C "$repository" archive HEAD | tar -x -C "$folder/share/course"
chmod -R a+rX "$folder/share/course" "$folder/share/ridge.bundle"
for suite in "$@"; do
  base "$suite"
  prepare "$suite"
  ready=$folder/$suite-prepared
  fresh_root "$ready"
  row "everything installed" 0 "PASS copy" "$clone && $check"
  as_root "rm -f /usr/bin/clang* /usr/bin/c++-*clang*"
  row "GCC alone" 0 "PASS copy" "rm -rf ridge; $clone && $check"
  fresh_root "$ready"
  as_root 'rm -f /usr/bin/clang* /usr/bin/c++-*clang*
    printf "#!/bin/sh\nexec /usr/bin/g++ -fcf-protection=full \"\$@\"\n" >/usr/local/bin/g++
    chmod +x /usr/local/bin/g++ && cp /usr/local/bin/g++ /usr/local/bin/c++'
  row "GCC alone with -fcf-protection=full" 0 "PASS copy" "$clone && $check"
  fresh_root "$folder/$suite"
  as_root "useradd -m -s /bin/bash ada"
  row "nothing installed, not root" 3 "only root can install" "mkdir ridge; cd ridge; cp -r /share/course/. .; $check --yes"
  fresh_root "$ready"
  as_root "rm -f /usr/bin/bwrap"
  row "no bubblewrap" 0 "Unsandboxed" "$clone && $check"
  fresh_root "$ready"
  as_root "cd /opt && git clone -q -c advice.detachedHead=false /share/ridge.bundle ridge"
  row "a clone that the user cannot write" 0 "PASS copy" "cd /opt/ridge && $check"
  fresh_root "$ready"
  row "a path with spaces and umlauts" 0 "PASS copy" "mkdir 'Übung am Kurs' && cd 'Übung am Kurs' && $clone && $check"
  fresh_root "$ready"
  row "umask 077" 0 "PASS copy" "umask 077; $clone && $check"
  for language in C tr_TR.UTF-8; do
    fresh_root "$ready"
    row "LANG=$language" 0 "PASS copy" "export LANG=$language LC_ALL=$language; $clone && $check"
  done
  fresh_root "$ready"
  before="mkdir -p /small; mount -t tmpfs -o size=20m,mode=1777 small /small"
  row "a full disk" 3 "is full" "$clone && RIDGE_BUILD_DIR=/small/build $check"
  fresh_root "$ready"
  as_ada "$clone; ./ridge build" >/dev/null 2>&1
  before="mount -t tmpfs -o size=1m,mode=1777 small /tmp"
  row "a full temporary folder" 3 "TMPDIR" "cd ridge; $check"
  before=:
  fresh_root "$ready"
  network="unshare --net"
  row "no network" 0 "PASS copy" "$clone && $check"
  network=
  for point in "while configuring:Detecting CXX compiler" "at the build's beginning:@3/" "in the middle of the build:@25/" \
    "while linking:Linking CXX static library lib/libridge_judge.a" "while checking:check_01_coalescing"; do
    fresh_root "$ready"
    interrupted "${point%%:*}" "${point#*:}"
  done
  fresh_root "$ready"
  row "moved after the build" 0 "PASS copy" "$clone && $check >/dev/null; cd ..; mv ridge moved; cd moved; touch labs/01_coalescing/check.cpp; $check"
  fresh_root "$ready"
  row "copied after the build, then a new commit" 0 "PASS copy" "$clone && $check >/dev/null; cd ..; cp -r ridge copy; cd copy
    git -c user.name=a -c user.email=a@b commit -q --allow-empty -m new; $check"
done

{
  echo "# The first check on every machine that was promised"
  echo
  echo "Made by \`tests/fresh/matrix.sh\` on $(date -u +%Y-%m-%d), commit $(git -C "$repository" rev-parse --short=12 HEAD)."
  echo "Each row is a bare system (debootstrap) with the packages of \`./ridge packages core\`, in which an ordinary user clones the course"
  echo "and runs \`$check\`, with one thing different. Compilations come from a cache, so the seconds are not those of a first build."
  echo
  echo "| system | different | expected exit code and text | result | time |"
  echo "|---|---|---|---|--:|"
  cat "$rows"
} >"$table"
[ "$failures" = 0 ] || { echo "$failures rows failed"; exit 1; }
