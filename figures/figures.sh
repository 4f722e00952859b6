#!/bin/sh
# Makes the figures of lessons and decks again; with names, only those; `drawn`: all that need no build. It needs node. The
# visualizer's exports also need a build (build/bin/ridge-viz, build/bin/ridge; RIDGE_BUILD_DIR names another folder).
set -eu
cd "$(dirname "$0")/.."
exec node figures/make.mjs "$@"
