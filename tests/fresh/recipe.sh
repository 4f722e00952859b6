# Part of fresh.sh: the steps of a container's recipe, taken in the new system as the container's builder would take them. What
# this does not show: the base images themselves, the layers, and the containers' own rights.
new_root
export_to=$folder/course
rm -rf "$export_to"
ridge=${RIDGE_PROGRAM:-$repository/build/bin/ridge}
[ -x "$ridge" ] || skip "no built $ridge to make the course copy with"
"$ridge" course export "$export_to" >/dev/null # an image is made from the copy that students get
case $what in docker) recipe=Dockerfile ;; apptainer) recipe=ridge.def ;; esac
python3 "$here/recipe_steps.py" "$export_to/cluster/install/$recipe" "$export_to" "$root" >"$folder/steps.sh" || fail "$recipe cannot be read"
cp "$folder/steps.sh" "$root/steps.sh"
started=$(date +%s)
enter "$root" env $cache sh /steps.sh build >"$folder/recipe.log" 2>&1 || { tail -n 40 "$folder/recipe.log"; fail "the steps of $recipe"; }
step "  $(($(date +%s) - started)) s   the steps of $recipe"
used
code=0
enter "$root" sh /steps.sh run check 01 --task copy --backend cpu >"$folder/out" 2>&1 || code=$?
[ "$code" = 1 ] && grep -qF '8 x (goal 1.02)' "$folder/out" || { cat "$folder/out"; fail "check in it ended with $code"; }
[ ! -e "$root/opt/ridge" ] || fail "the sources are still there"
find "$root/usr/lib/ridge" -path '*/wrong/*' -o -name wrong.toml -o -path '*/solutions/*' -o -path '*/ridge/tests/*' | grep . && fail "it holds what it should not"
rm -rf "$export_to"
