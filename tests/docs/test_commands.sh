#!/bin/sh
# Runs each `./ridge ...` line of the documents' code blocks, in a scratch work folder. A command may grade to "not all
# passed" (1), find no GPU (3, with --backend cuda), or a slow link (3, with --links); it may not be a usage error or crash.
# A third argument "long": the commands that take a quarter of a minute and longer, else the others. Checks of a student's
# copy of labs 04 and later are all among the long ones; of the short ones a third takes its turn (RIDGE_COURSE_SEED, else the day).
set -u
ridge=$1
root=$2
part=${3:-short}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export RIDGE_WORK="$scratch/work" RIDGE_RESULTS="$scratch/results" TMPDIR="$scratch" HOME="$scratch/home"
export XDG_CONFIG_HOME="$HOME/.config"
mkdir -p "$HOME"
unset RIDGE_SIGNING_KEY
cd "$root" || exit 1
failed=0
ran=0
turn=${RIDGE_COURSE_SEED:-$(($(date +%s) / 86400))}
: >"$scratch/seen"
for document in README.md CONTRIBUTING.md docs/*.md docs/course/*.md labs/*/README.md slides/*/deck.md visualizer/README.md visualizer/*/README.md; do
  [ -f "$document" ] || continue
  awk '/^```/ { inside = !inside; next } inside' "$document" | sed -n 's/^\$ //; s/ *#.*//; /\.\/ridge /p' >"$scratch/commands"
  while IFS= read -r line; do
    grep -qxF -- "$line" "$scratch/seen" && continue # the same in another document
    printf '%s\n' "$line" >>"$scratch/seen"
    case $line in
      *"/experiments/"* | *"./ridge package deb"*) [ "$part" = long ] || continue ;;
      "./ridge check 0"[4-9]* | "./ridge check 1"[0-9]*)
        turn=$((turn + 1))
        [ "$part" = long ] || [ $((turn % 3)) = 0 ] || continue
        ;;
      *) [ "$part" = short ] || continue ;;
    esac
    case $line in
      *"./ridge demo"* | *"./ridge test"* | *"./ridge build"* | *"./ridge packages"* | *"./ridge book"*) continue ;; # the launcher's; CI runs them
      "./ridge live"*) # goes on until Ctrl-C
        [ -x "$(dirname "$ridge")/ridge-live" ] || { echo "skipped: $line"; continue; }
        line="timeout -s INT 2 ${line%:*}:0"
        ;;
      "./ridge serve"*) # goes on until Ctrl-C
        [ -x "$(dirname "$ridge")/ridge-serve" ] || { echo "skipped: $line"; continue; }
        line="timeout -s INT 2 $line"
        ;;
      "./ridge new-lab "*) # into a course of its own
        mkdir -p "$scratch/course/labs" "$scratch/course/runtime"
        line="RIDGE_ROOT=$scratch/course $line"
        ;;
      "./ridge viz "*) line="$line --screenshot $scratch/picture.png" ;;
    esac
    command=$(printf '%s' "$line" | sed "s#\./ridge#$ridge#; s#-o \([a-z]*\)#-o $scratch/\1#; s# result.json# $scratch/result.json#; s# \([a-z]*\.html\)# $scratch/\1#; s# \.\./# $scratch/#")
    case $command in *"viz "*) command -v xvfb-run >/dev/null && [ -x "$(dirname "$ridge")/ridge-viz" ] || { echo "skipped: $line"; continue; } ;; esac
    began=$(date +%s)
    sh -c "$command" >"$scratch/out" 2>&1 </dev/null
    code=$?
    printf '%4d s  %s\n' $(($(date +%s) - began)) "$line"
    ran=$((ran + 1))
    case "$code $line" in
      "0 "* | "1 "*"check "* | "1 "*"grade "* | "3 "*"--backend cuda"* | "3 "*"doctor --links"* | "124 timeout"*) ;;
      *)
        echo "FAILED ($code) in $document: $line"
        cat "$scratch/out"
        failed=1
        ;;
    esac
  done <"$scratch/commands"
done
echo "$ran commands ran"
least=8
[ "$part" = short ] || least=3
[ "$ran" -ge "$least" ] || { echo "FAILED: the documents hold fewer commands than expected"; exit 1; }
exit $failed
