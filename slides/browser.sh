#!/bin/sh
# Prints the Chromium that draws the decks, and nothing where there is none: $RIDGE_BROWSER, then what is on PATH, then
# Playwright's. A snap, which is all that Ubuntu has of Chromium, sees neither /tmp nor most folders, and is passed over:
# Google Chrome's own package serves as well.
is_snap() {
  case $(readlink -f "$1") in */snap | */snap/*) return 0 ;; esac
  head -c 4000 "$1" 2>/dev/null | grep -q '^#!.*sh\b' && grep -q /snap/ "$1"
}
if [ -n "${RIDGE_BROWSER-}" ]; then
  command -v "$RIDGE_BROWSER" || echo "ridge: RIDGE_BROWSER: there is no program $RIDGE_BROWSER" >&2
  exit 0
fi
for name in chromium chromium-headless-shell google-chrome-stable google-chrome microsoft-edge-stable chromium-browser \
  "$HOME"/.cache/ms-playwright/chromium-*/chrome-linux*/chrome; do
  path=$(command -v "$name" 2>/dev/null) || continue
  is_snap "$path" && continue
  "$path" --version 2>/dev/null | grep -qiE '(chrom|edge)[^0-9]*[0-9]+\.' || continue
  printf '%s\n' "$path"
  exit 0
done
