# Part of fresh.sh: what docs/student.md says, by a user of this name who may use sudo. The only thing that is done for the user is
# to write the line that the hints lead to.
new_root git sudo
enter "$root" sh -c 'useradd -m -s /bin/bash ada && echo "ada ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/ada'
git -C "$repository" bundle create -q "$root/tmp/ridge.bundle" HEAD
chmod 644 "$root/tmp/ridge.bundle"

as_ada() { # a command in the clone; its output and code are shown where that is not the one expected
  expected=$1
  shift
  code=0
  started=$(date +%s)
  enter "$root" su - ada -c "export $cache; cd ridge 2>/dev/null; $*" >"$folder/out" 2>&1 </dev/null || code=$?
  [ "$code" = "$expected" ] || { tail -n 60 "$folder/out"; fail "$* ended with $code, not $expected"; }
  step "  $(($(date +%s) - started)) s   $*"
}
says() { grep -qF -- "$1" "$folder/out" || { cat "$folder/out"; fail "it does not say: $1"; }; }

as_ada 0 'git clone -q /tmp/ridge.bundle ridge'
as_ada 0 './ridge start 01 --yes'
says 'ridge: installing:'
says 'work/01_coalescing/copy.cu'
used
as_ada 1 './ridge check 01 --task copy'
says 'fail sectors      8 x (goal 1.02)'
says 'copy.cu:12 asks for 32 sectors per request'
says 'labs/01_coalescing/README.md#task-1-copy'
if grep -q Unsandboxed "$folder/out"; then echo "note: unsandboxed here"; fi
as_ada 0 './ridge hint 01 copy'
grep -q 'float\|lane' "$root/home/ada/ridge/work/01_coalescing/copy.cu" || fail "no stub to edit"
cp "$repository/solutions/01_coalescing/copy.cu" "$root/home/ada/ridge/work/01_coalescing/copy.cu"
as_ada 0 './ridge check 01 --task copy --note "lane k should read element base + k"'
says 'PASS copy'
as_ada 0 './ridge'
says 'aos_to_soa'
as_ada 0 './ridge diff 01'
as_ada 0 './ridge explain sectors 01'
as_ada 0 './ridge log 01'
says 'lane k should read element base + k'
as_ada 0 './ridge report --html me.html'
as_ada 0 './ridge doctor'
