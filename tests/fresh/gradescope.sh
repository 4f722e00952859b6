# Part of fresh.sh: Gradescope's way with the package of lab 01, without Gradescope. Its containers run as root without the rights
# to make namespaces: here the same capabilities are left as Docker leaves by default, inside of a chroot, in which the kernel makes
# no user namespace.
new_root
ridge=${RIDGE_PROGRAM:-$repository/build/bin/ridge}
[ -x "$ridge" ] || skip "no built $ridge to make the package with"
mkdir -p "$root/autograder/source" "$root/autograder/results" "$root/autograder/submission"
"$ridge" package gradescope --lab 01 --out "$folder/lab01.zip" >"$folder/out" || fail "package: $(cat "$folder/out")"
(cd "$root/autograder/source" && python3 - "$folder/lab01.zip" <<'END')
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    for entry in z.infolist():
        z.extract(entry)
        if not entry.is_dir() and entry.external_attr >> 16:
            os.chmod(entry.filename, entry.external_attr >> 16 & 0o7777)
END
cp "$root/autograder/source/run_autograder" "$root/autograder/"

started=$(date +%s)
enter "$root" env $cache sh /autograder/source/setup.sh >"$folder/setup.log" 2>&1 || { tail -n 60 "$folder/setup.log"; fail setup.sh; }
step "  $(($(date +%s) - started)) s   setup.sh"
used

contained() { # with what Docker leaves to root by default
  code=0
  started=$(date +%s)
  # shellcheck disable=SC2016 # the inner shell's
  enter "$root" sh -c 'mkdir -p /jail; mount --rbind / /jail; exec chroot /jail setpriv --bounding-set -all,+chown,+dac_override,+fsetid,+fowner,+mknod,+net_raw,+setgid,+setuid,+setfcap,+setpcap,+net_bind_service,+sys_chroot,+kill,+audit_write "$@"' \
    sh sh -c 'mount --bind /tmp /mnt 2>/dev/null && exit 99; cd /autograder && exec ./run_autograder' >"$folder/out" 2>&1 || code=$?
  step "  $(($(date +%s) - started)) s   run_autograder: $code, $(score)"
}
score() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["score"], r["output"].splitlines()[0])' "$root/autograder/results/results.json" 2>/dev/null || echo "no result"; }
submit() { rm -rf "$root/autograder/submission" && cp -r "$1" "$root/autograder/submission"; }

submit "$repository/solutions/01_coalescing"
contained
[ "$code" = 0 ] && score | grep -q '^100' || { cat "$folder/out"; fail "the solution"; }
grep -q 'Unsandboxed' "$root/autograder/results/results.json" || fail "nothing says that the namespaces are missing"
submit "$repository/labs/01_coalescing"
contained
[ "$code" = 0 ] && score | grep -q '^10\.' || { cat "$folder/out"; fail "the stub"; }
printf 'this does not compile\n' >"$root/autograder/submission/copy.cu"
contained
[ "$code" = 0 ] && score | grep -q '^0\.' || { cat "$folder/out"; fail "a submission that does not build"; }
mv "$root/autograder/source/ridge/build" "$root/autograder/source/ridge/gone"
contained
[ "$code" = 3 ] && [ ! -e "$root/autograder/results/results.json" ] || { cat "$folder/out"; fail "without a program"; }
