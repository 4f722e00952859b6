#!/bin/sh
# Gradescope runs this once, as root, while it builds the autograder's image: Ridge with what it needs, from the course copy
# beside it. Packages are the launcher's own list. A failure here is shown on "Configure Autograder".
set -eu
root=${RIDGE_AUTOGRADER:-/autograder} # another one: to try it elsewhere
cd "$root/source"
lab=''
. ./settings

system=$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release | tr -d '"')
minimum=3.25
cmake_here=$(apt-cache policy cmake 2>/dev/null | sed -n 's/^ *Candidate: *//p')
if [ -z "$cmake_here" ] || [ "$cmake_here" = "(none)" ]; then
  apt-get update -q
  cmake_here=$(apt-cache policy cmake | sed -n 's/^ *Candidate: *//p')
fi
if ! dpkg --compare-versions "$cmake_here" ge "$minimum"; then
  echo "ridge: $system has CMake $cmake_here, and Ridge needs $minimum: choose the image Ubuntu 24.04" >&2
  exit 1
fi

# A compiler may need 0.5 GB: no more at a time than there is memory for.
memory=$(awk '/^MemAvailable/ { print int($2 / 600000) }' /proc/meminfo)
jobs=$(nproc)
[ "$memory" -ge "$jobs" ] || jobs=$memory
[ "$jobs" -ge 1 ] || jobs=1
export CMAKE_BUILD_PARALLEL_LEVEL="$jobs"

cd ridge
chmod +x ridge
./ridge build --yes

# Nobody but root (the judge) reads the seed or changes anything.
chmod -R go-w "$root/source"
[ ! -f "$root/source/seed" ] || chmod 600 "$root/source/seed"

# The untouched stub must be judged, and fail.
scratch=$(mktemp -d)
set +e
RIDGE_WORK=$scratch ./ridge check "$lab" --backend cpu --submission "labs/$lab"
code=$?
set -e
rm -rf "$scratch"
[ "$code" = 1 ] || { echo "ridge: the judge does not work here: the stub's check ended with $code, not 1" >&2; exit 1; }
./ridge doctor || true # says which layers of the sandbox there are
echo "ridge: the autograder of $lab is ready on $system"
