#!/bin/sh
# Trains and aligns on machines that can be reached by SSH and see the same directory, with neither scheduler nor Dask:
#
#     HOSTS="one two three" SOURCE=en.txt.gz TARGET=fr.txt.gz JOB=/shared/job sh ssh.sh
#
# Each machine does its share, and the first also adds up. One that fails is tried again every minute, while the others
# wait for it. Ctrl-C, and the same command later, continue. The links are in JOB.links.txt.
set -eu
: "${HOSTS:?}" "${SOURCE:?}" "${TARGET:?}" "${JOB:?}"
shares=$(set -- $HOSTS && echo $#)

if [ ! -e "$JOB/options.piece" ]; then
    cepts shard "$SOURCE" "$TARGET" "$JOB"
fi
processes=
number=0
for host in $HOSTS; do
    number=$((number + 1))
    share=$number/$shares
    until ssh -n "$host" "cepts train '$JOB' --shard $share --wait --quiet &&
        cepts align '$JOB' --shard $share --quiet -o '$JOB.links.$number'"; do
        sleep 60
    done &
    processes="$processes $!"
done
trap 'kill $processes 2>/dev/null || true' INT TERM
for process in $processes; do
    wait "$process"
done
number=0
while [ "$number" -lt "$shares" ]; do
    number=$((number + 1))
    cat "$JOB.links.$number"
done > "$JOB.links.txt"
