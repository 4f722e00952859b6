# The record of the submission itself.
set -e
export RIDGE_SIGNING_KEY="$HOME_OF_TEST/private/key"
"$RIDGE" key new "$RIDGE_SIGNING_KEY"
"$RIDGE" grade 01 --backend cpu --task copy --submission "$SUBMISSION" --json mine.json
exec "$RIDGE" verify --key "$RIDGE_SIGNING_KEY.pub" --submission "$SUBMISSION" mine.json
