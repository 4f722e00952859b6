# The judge's key signs a record of a good submission; it is then shown for another one.
set -e
export RIDGE_SIGNING_KEY="$HOME_OF_TEST/private/key"
"$RIDGE" key new "$RIDGE_SIGNING_KEY"
"$RIDGE" grade 01 --backend cpu --task copy --submission "$RIDGE_ROOT/solutions/01_coalescing" --json old.json
exec "$RIDGE" verify --key "$RIDGE_SIGNING_KEY.pub" --submission "$SUBMISSION" old.json
