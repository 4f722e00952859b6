#!/bin/sh
# Prints the path of the browser that draws the decks, or nothing if there is none. It looks at $RIDGE_BROWSER, then on
# PATH, then for Playwright's Chromium. It skips snaps, such as Ubuntu's Chromium: they see neither /tmp nor most folders.
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
