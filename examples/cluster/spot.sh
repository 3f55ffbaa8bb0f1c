#!/bin/sh
# Aligns on a machine that may be taken away at any time, and continues on the next one. Start it when a machine starts:
#
#     SOURCE=en.txt.gz TARGET=fr.txt.gz JOB=/disk/job sh spot.sh
#
# /disk is a volume or a file system that outlives the machine. What is lost is what was being done at that moment, at
# most a shard for each thread. The links are in JOB.links.txt when it ends; a machine that is started later ends at once.
set -eu
: "${SOURCE:?}" "${TARGET:?}" "${JOB:?}"
if [ ! -e "$JOB.links.txt" ]; then
    exec cepts align "$SOURCE" "$TARGET" --checkpoint "$JOB" -o "$JOB.links.txt" --quiet
fi
