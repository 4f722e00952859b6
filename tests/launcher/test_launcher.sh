#!/bin/sh
# ./ridge in a folder of its own, with stand-ins for apt-get, dpkg-query, sudo, id, cmake and the built program. Each
# stand-in writes what it was asked into a log.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
home=$scratch/ridge-copy
tools=$scratch/tools
log=$scratch/log
mkdir -p "$home" "$tools"
cp "$1/ridge" "$home/ridge"
mkdir -p "$home/docs" "$home/labs/01_first"
cp "$1/docs/help.txt" "$home/docs/"
echo 'title = "The first"' >"$home/labs/01_first/lab.toml"
failed=0

stand_in() { # name, body
  printf '#!/bin/sh\necho "%s $*" >>"%s"\n%s\n' "$1" "$log" "$2" >"$tools/$1"
  chmod +x "$tools/$1"
}
for tool in chmod cp sh dash env sed grep sort tr tail head mktemp mkdir rm mv cat cut cksum date df awk readlink dirname nproc uname flock git make \
  g++ pkg-config objcopy; do
  path=$(command -v $tool) && ln -sf "$path" "$tools/$tool"
done
printf '#!/bin/sh\necho program "$@"\n' >"$scratch/program"
chmod +x "$scratch/program"
stand_in id 'echo "${FAKE_UID:-0}"'
stand_in dpkg exit\ 0
stand_in dpkg-query 'for last; do :; done; [ -e '"$scratch"'/installed/$last ] && echo installed'
stand_in apt-get 'case "$*" in *install*) mkdir -p '"$scratch"'/installed; for p; do : >'"$scratch"'/installed/$p; done
  for t in c++ ninja clang++ ctest bwrap; do printf "#!/bin/sh\necho $t \$* >>'"$log"'\n" >'"$tools"'/$t; chmod +x '"$tools"'/$t; done
  printf "#!/bin/sh\necho cmake \$* >>'"$log"'\ncase \$1 in --preset) : >'"$home"'/build/build.ninja ;; --build) [ -z \"\${FAKE_BREAK-}\" ] || exit 1; mkdir -p '"$home"'/build/bin; cp '"$scratch"'/program '"$home"'/build/bin/ridge ;; esac\n" >'"$tools"'/cmake; chmod +x '"$tools"'/cmake ;; esac'

launch() { # expected exit code, then arguments; output in $out
  expected=$1
  shift
  : >"$log"
  out=$(cd "$scratch" && PATH=$tools "$home/ridge" "$@" 2>&1 </dev/null)
  code=$?
  [ $code = "$expected" ] || { echo "FAILED: ridge $* exited with $code, not $expected"; echo "$out"; cat "$log"; failed=1; }
}
expect() { # what, text, pattern
  printf '%s\n' "$2" | grep -q -- "$3" || { echo "FAILED: $1: no '$3' in:"; printf '%s\n' "$2"; failed=1; }
}
refuse() {
  if printf '%s\n' "$2" | grep -q -- "$3"; then echo "FAILED: $1: '$3' in:"; printf '%s\n' "$2"; failed=1; fi
}

# Help, the labs and the machine's state need no program: nothing is installed or built.
for asked in --help "check --help" "viz --help" "test -h" --version labs doctor ""; do
  # shellcheck disable=SC2086
  launch 0 $asked
  [ -n "$out" ] || { echo "FAILED: 'ridge $asked' says nothing"; failed=1; }
  [ ! -s "$log" ] || refuse "ridge $asked" "$(cat "$log")" "^\\(apt-get\\|cmake\\|dpkg \\)"
  [ ! -e "$home/build" ] || { echo "FAILED: 'ridge $asked' made a build folder"; failed=1; }
done
launch 0 check --help
expect "help of a command" "$out" "--submission"
launch 0 labs
expect "labs" "$out" "01  The first"
launch 0 doctor
expect "doctor" "$out" "missing: .*libfmt-dev"

# Without a person to ask and without --yes nothing is installed.
launch 3 demo
expect "unasked" "$out" "nothing was installed. Run the command with --yes"
refuse "unasked" "$(cat "$log")" "^apt-get"

# Nothing here, not root, no sudo: says what is missing and how to get it.
FAKE_UID=1000 launch 3 demo --yes
expect "without root" "$out" "apt-get install --no-install-recommends .*clang.*libfmt-dev"
refuse "without root" "$(cat "$log")" "^apt-get"

# The lists themselves, for recipes: nothing is installed or built.
launch 0 packages
expect "packages" "$out" "^clang$"
refuse "packages" "$out" "openmpi"
launch 0 packages mpi core
expect "packages of groups" "$out" "^libopenmpi-dev$"
[ "$(printf '%s\n' "$out" | sort -u)" = "$out" ] || { echo "FAILED: packages: not sorted, or twice"; failed=1; }
launch 2 packages core nothing
expect "unknown group" "$out" "one of core class viz mpi"
[ ! -s "$log" ] || { echo "FAILED: packages ran something:"; cat "$log"; failed=1; }

# RIDGE_NO_BUILD forbids the rest too.
RIDGE_NO_BUILD=1 launch 3 demo --yes
expect "no build" "$out" "RIDGE_NO_BUILD"

# A build that breaks leaves no stamp, and the next run goes on.
FAKE_BREAK=1 launch 3 demo --yes
expect "broken build" "$out" "the build failed"
[ ! -e "$home/build/.ridge-ready" ] || { echo "FAILED: a broken build left its stamp"; failed=1; }
launch 0 demo --yes
expect "repaired" "$out" "^program demo$"
expect "repaired" "$(cat "$log")" "^cmake --build"

# The second run installs and builds nothing, and passes arguments through but for --yes.
launch 0 check 01 --yes --submission "a b"
expect "second run" "$out" "^program check 01 --submission a b$"
refuse "second run" "$(cat "$log")" "^\(apt-get\|cmake\)"

# Help of a built program is the program's own, and builds nothing.
launch 0 viz --help
expect "built help" "$out" "^program viz --help$"
refuse "built help" "$(cat "$log")" "^\(apt-get\|cmake\)"

# A clone that was moved or copied is configured anew, without a word of CMake's.
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=/somewhere/else\nCMAKE_CACHEFILE_DIR:INTERNAL=/somewhere/else/build\n' >"$home/build/CMakeCache.txt"
launch 0 build
expect "moved" "$(cat "$log")" "^cmake --preset"
[ ! -e "$home/build/CMakeCache.txt" ] || { echo "FAILED: moved: the old cache is still there"; failed=1; }

# A target that the program asks for is built in the tree as it is configured. CMake keeps the list without spaces around it.
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s/build\nRIDGE_GROUPS:STRING=core\n' "$home" "$home" >"$home/build/CMakeCache.txt"
launch 0 build --target check_01_first
expect "target" "$(cat "$log")" "^cmake --build.*check_01_first"
refuse "target" "$(cat "$log")" "^cmake --preset"
rm "$home/build/CMakeCache.txt"

# What CMake was told by hand stays: no group is no choice, so that all parts are there.
printf 'RIDGE_GROUPS:STRING=\nCMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' "$home" "$home/build" >"$home/build/CMakeCache.txt"
rm "$home/build/.ridge-ready"
launch 0 check 01 --yes
expect "configured by hand" "$(cat "$log")" "^cmake --build"
refuse "configured by hand" "$(cat "$log")" "^cmake --preset"
rm "$home/build/CMakeCache.txt"

# Another command needs more packages: they are installed, the rest stays.
rm -f "$tools/mpirun"
launch 0 ranks -n 2 --yes
expect "ranks" "$(cat "$log")" "^apt-get .*install.* libopenmpi-dev"
refuse "ranks" "$(cat "$log")" "^apt-get .*libimgui-dev"

# The commands for classes are built when one is first used.
for asked in "cluster status" "submit 03" "grade 03 --slurm"; do
  rm -rf "$home/build" "$scratch/installed/libsqlite3-dev"
  launch 0 check 01 --yes
  refuse "check" "$(cat "$log")" "libsqlite3-dev\\|ridge_group_class"
  # shellcheck disable=SC2086 # words
  launch 0 $asked --yes
  expect "$asked" "$(cat "$log")" "^apt-get .*install.* libsqlite3-dev"
  expect "$asked" "$(cat "$log")" "^cmake --build .* ridge_group_class"
done

# A library that came later is found by an explicit build, though every package is there now.
launch 0 build class --yes
expect "explicit build" "$(cat "$log")" "^cmake --preset"

# Without a built part, a node that may not build says which one it lacks.
rm -rf "$home/build"
launch 0 check 01 --yes
RIDGE_NO_BUILD=1 launch 3 submit 01
expect "not built" "$out" "try: ./ridge build core class"

# A build with the parts that an image shall have; then their commands run without another.
launch 0 build live --yes
expect "build with a part" "$(cat "$home/build/.ridge-ready")" "^groups .*live"
RIDGE_NO_BUILD=1 launch 0 live
expect "a part that was built" "$out" "^program live$"
launch 2 build nothing

# A copy of build/ on a machine without tools or packages: it runs, and no package manager is touched.
rm -rf "$scratch/installed" "$tools/cmake" "$tools/ninja" "$tools/bwrap"
rm -f "$home/build/.ridge-ready"
FAKE_UID=1000 launch 0 check 01
expect "compute node" "$out" "^program check 01$"
refuse "compute node" "$(cat "$log")" "^apt-get"

# Packages that Ridge can do without do not stop a user who cannot install them.
rm -rf "$home/build"
launch 0 demo --yes
rm -rf "$home/build" "$scratch/installed/libarchive-dev" "$tools/clang++"
FAKE_UID=1000 launch 0 check 01
expect "without optional packages" "$out" "going on without .*clang"
expect "without optional packages" "$out" "^program check 01$"

# The same packages do not stop root either, where the archive cannot be reached.
cp "$tools/apt-get" "$scratch/apt-get"
stand_in apt-get 'echo "E: Unable to locate package clang"; exit 100'
rm -rf "$home/build" "$scratch/installed/libarchive-dev" "$tools/clang++"
launch 0 check 01 --yes
expect "no archive, optional packages" "$out" "could not install .*clang"
expect "no archive, optional packages" "$out" "^program check 01$"
rm -rf "$home/build" "$scratch/installed/libfmt-dev"
launch 3 check 01 --yes
expect "no archive, needed packages" "$out" "Unable to locate package clang"
expect "no archive, needed packages" "$out" "the installation failed"
mv "$scratch/apt-get" "$tools/apt-get"
launch 0 check 01 --yes

# A clone that this user cannot write builds elsewhere. (Root can write anywhere.)
if [ "$("$tools/../real-id" 2>/dev/null || command -p id -u)" != 0 ]; then
  rm -rf "$home/build"
  chmod a-w "$home"
  HOME=$scratch/user XDG_CACHE_HOME= launch 0 check 01 --yes
  ls "$scratch/user/.cache/ridge" | grep -q '^build-' || { echo "FAILED: read-only: no build below HOME"; failed=1; }
  chmod u+w "$home"
fi

# A prebuilt Ridge builds nothing, and installs no more than submissions are compiled and run with.
rm -rf "$scratch/installed"
rm -f "$tools/clang++" "$tools/bwrap" "$tools/objcopy" "$home/build/.ridge-ready" "$home/build/build.ninja"
mv "$tools/g++" "$tools/c++" "$scratch" # no compiler
: >"$home/build/.ridge-prebuilt"
launch 0 labs
expect "prebuilt labs" "$out" "^program labs$"
launch 0 build
launch 0 packages core mpi
expect "prebuilt packages" "$out" "^bubblewrap$"
refuse "prebuilt packages" "$out" "dev$"
launch 77 test
FAKE_UID=1000 launch 3 check 01
expect "prebuilt, no compiler, no root" "$out" "^ridge: *apt-get install --no-install-recommends clang binutils bubblewrap$"
launch 3 check 01
expect "prebuilt, unasked" "$out" "missing: clang binutils bubblewrap"
refuse "prebuilt, unasked" "$(cat "$log")" "^\(apt-get\|dpkg\|cmake\)"
ln -sf "$(command -v objcopy)" "$tools/objcopy"
FAKE_UID=1000 launch 3 check 01
expect "prebuilt, no compiler alone" "$out" "^ridge: *apt-get install --no-install-recommends clang bubblewrap$"
rm "$tools/objcopy"
launch 0 check 01 --yes
expect "prebuilt, installs" "$(cat "$log")" "^apt-get .*install.* clang binutils bubblewrap$"
expect "prebuilt, installs" "$out" "^program check 01$"
mv "$scratch/g++" "$tools"
rm -f "$tools/clang++"
ln -sf "$(command -v objcopy)" "$tools/objcopy"
RIDGE_BUILD_DIR=$scratch/elsewhere launch 0 check 01
expect "prebuilt, with g++ alone" "$out" "^program check 01$"
refuse "prebuilt, with g++ alone" "$(cat "$log")" "."
printf '#!/bin/sh\necho no GLIBC_9 here >&2\nexit 1\n' >"$home/build/bin/ridge"
launch 3 check 01 --yes
expect "prebuilt for another system" "$out" "no GLIBC_9 here"
expect "prebuilt for another system" "$out" "does not run here"
refuse "prebuilt for another system" "$(cat "$log")" "."
mv "$scratch/c++" "$tools"
rm -f "$home/build/.ridge-prebuilt"

# Interrupted installation: dpkg is repaired first.
rm -rf "$home/build"
launch 0 demo --yes
expect "interrupted" "$(cat "$log")" "^dpkg --configure -a"

[ $failed = 0 ] && echo "launcher: all expectations met"
exit $failed
