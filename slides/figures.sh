#!/bin/sh
# Makes all figures of the slides again: diagrams, and pictures of recorded results. Needs node, and for the visualizer's
# exports and the emulator's timelines a build (build/bin/ridge-viz, build/bin/ridge). Names of recorded figures as arguments make only those.
set -eu
cd "$(dirname "$0")"
[ "$#" -gt 0 ] || node figures/drawn.mjs
node figures/recorded.mjs "$@"
