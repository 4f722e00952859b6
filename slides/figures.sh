#!/bin/sh
# Makes all figures of the slides again: diagrams, and pictures of recorded results. It needs node. The visualizer's exports
# and the emulator's timelines also need a build (build/bin/ridge-viz, build/bin/ridge). With names of recorded figures as
# arguments, it makes only those.
set -eu
cd "$(dirname "$0")"
[ "$#" -gt 0 ] || node figures/drawn.mjs
node figures/recorded.mjs "$@"
