#!/bin/sh
# Makes the book: make.sh ROOT BUILD [--out DIR] [--repository URL]. `make.sh --check` says whether the generator is here.
# Exit codes: 0 made, 1 failed, 2 wrong command line, 3 the generator or a writable folder is missing.
set -eu

say() { printf 'ridge: %s\n' "$*" >&2; }

# The generator may be the system's, or a virtual environment's: its own interpreter knows which modules it has.
has_generator() {
  program=$(command -v sphinx-build) || return 1
  python=$(sed -n '1s/^#! *//p' "$program")
  # shellcheck disable=SC2086 # `/usr/bin/env python3` is two words
  ${python:-python3} -c 'import furo, myst_parser, sphinx_copybutton' 2>/dev/null
}

if [ "${1-}" = --check ]; then
  has_generator
  exit
fi
root=$1
build=$2
shift 2
out=$build/book
repository=$(git -C "$root" remote get-url origin 2>/dev/null || true)
case $repository in
  https://*@*) repository= ;; # an address that holds a password
  https://*) ;;
  git@*:*) repository=https://$(printf %s "${repository#git@}" | sed 's|:|/|') ;;
  *) repository= ;;
esac
while [ $# -gt 0 ]; do
  case $1 in
    --out | --repository)
      [ $# -gt 1 ] || { say "book: $1 needs a value"; say "  try: ./ridge book --out DIR"; exit 2; }
      if [ "$1" = --out ]; then out=$2; else repository=$2; fi
      shift 2
      ;;
    *)
      say "book: there is no option '$1'"
      say "  try: ./ridge book [--out DIR] [--repository URL]"
      exit 2
      ;;
  esac
done
if ! has_generator; then
  say "book: the generator is missing: Sphinx with furo, MyST and the copy button"
  say "  try: apt-get install --no-install-recommends python3-sphinx furo python3-myst-parser python3-sphinx-copybutton"
  exit 3
fi
if [ -e "$out" ] && [ ! -f "$out/.ridge-book" ] && [ -n "$(ls -A "$out" 2>/dev/null)" ]; then
  say "book: $out holds something else than a book"
  say "  try: another folder, or an empty one"
  exit 3
fi
if ! mkdir -p "$out" "$build" 2>/dev/null || ! : 2>/dev/null >"$out/.ridge-book"; then
  say "book: cannot write $out"
  say "  try: ./ridge book --out DIR with a folder that you can write"
  exit 3
fi

build=$(cd "$build" && pwd -P)
stage=$build/book-stage
made=$(python3 "$root/book/stage.py" "$root" "$stage" --repository "$repository" --decks "$build/slides")
export RIDGE_BOOK_EXTRA="$stage/extra"
# A dead link between pages is a warning, and a warning fails. Pages that are no longer made must not stay.
find "$out" -mindepth 1 -maxdepth 1 ! -name .ridge-book -exec rm -rf {} +
if ! said=$(sphinx-build -q -W --keep-going -b html -c "$root/book" -d "$stage/doctrees" "$stage/source" "$out" 2>&1); then
  printf '%s\n' "$said" >&2
  say "book: the generator stopped at a page; the lines above name it (its source is the file of the same path here)"
  exit 1
fi
: >"$out/.ridge-book"
: >"$out/.nojekyll" # GitHub Pages would leave out folders that begin with an underscore
[ -d "$build/slides" ] || say "book: without decks; ./ridge slides makes them, and the next book links them"
echo "$out/index.html: $made"
