# One task of a batch of `ridge cluster grade`, in its pod. The Job has this text as its command:
#   sh -c TEXT ridge-task RIDGE BATCH_FOLDER LOG [SETUP]
# The judge takes secrets only from files of its own account that nobody else can read. Those of a volume are root's.
umask 077
export PATH="${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin" RIDGE_NO_BUILD=1
ridge=$1 batch=$2 log=$3
for secret in signing_key seeds; do
  [ ! -e "/run/ridge/secret/$secret" ] || cat "/run/ridge/secret/$secret" >"/run/ridge/own/$secret" || exit 3
done
[ -z "${4-}" ] || eval "$4" || { echo "ridge-task: the course's setup failed: $4" >&2; exit 3; }
[ -x "$ridge" ] || { echo "ridge-task: the image has no $ridge" >&2; exit 3; }
[ -r "$batch" ] || { echo "ridge-task: there is no $batch: is the claim the shared folder, and user its owner?" >&2; exit 3; }
echo "ridge-task: task $JOB_COMPLETION_INDEX of $batch on $RIDGE_NODE; the log is $log"
exec "$ridge" cluster run "$batch" "$JOB_COMPLETION_INDEX" >>"$log" 2>&1
