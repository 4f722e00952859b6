# A record that a student graded and signed at home, shown to somebody who names no key.
set -e
export RIDGE_SIGNING_KEY="$HOME_OF_TEST/private/key"
"$RIDGE" key new "$RIDGE_SIGNING_KEY"
"$RIDGE" grade 01 --backend cpu --task copy --submission "$SUBMISSION" --official --json mine.json
exec "$RIDGE" verify --submission "$SUBMISSION" mine.json
