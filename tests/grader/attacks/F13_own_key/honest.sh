# The same record, and the key of a course that is known.
set -e
export RIDGE_SIGNING_KEY="$HOME_OF_TEST/private/key"
"$RIDGE" key new "$RIDGE_SIGNING_KEY"
"$RIDGE" grade 01 --backend cpu --task copy --submission "$SUBMISSION" --official --json mine.json
exec "$RIDGE" verify --key "$RIDGE_SIGNING_KEY.pub" --submission "$SUBMISSION" mine.json
