#!/bin/sh
# Prints the Chromium that draws the decks, and nothing where there is none: $RIDGE_BROWSER, then what is on PATH, then
# Playwright's. Ubuntu has Chromium as a snap only, which sees no folder but the home: there Google Chrome serves as well.
for name in ${RIDGE_BROWSER+"$RIDGE_BROWSER"} chromium chromium-headless-shell google-chrome-stable google-chrome \
  microsoft-edge-stable chromium-browser "$HOME"/.cache/ms-playwright/chromium-*/chrome-linux*/chrome; do
  path=$(command -v "$name" 2>/dev/null) || continue
  # Ubuntu's package chromium-browser without the snap is a script that only asks for it.
  "$path" --version 2>/dev/null | grep -qi 'chrom\|edge' || continue
  printf '%s\n' "$path"
  exit 0
done
