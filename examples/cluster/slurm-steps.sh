#!/bin/sh
# Trains and aligns as a chain of SLURM jobs, of which each waits for the one before it:
#
#     SOURCE=en.txt.gz TARGET=fr.txt.gz JOB=/shared/job SHARES=64 sh slurm-steps.sh
#
# In each step, an array runs the tasks on the shards, and one job adds up what they left. The tasks of an array may run
# one after the other. If something fails, run this again: what is done is not done again. Everybody must see JOB under
# the same name. The links are in JOB.links.txt when the last job has ended.
#
# With RANGES=8, arrays of 8 tasks add up and make tables, before the one job finishes the step; this pays if the text has
# hundreds of millions of token pairs or more.
set -eu
: "${SOURCE:?}" "${TARGET:?}" "${JOB:?}"
shares=${SHARES:-16}
threads=${THREADS:-4}
ranges=${RANGES:-0}

if [ ! -e "$JOB/options.piece" ]; then
    cepts shard "$SOURCE" "$TARGET" "$JOB"
fi
left=$(cepts reduce "$JOB" --status --json --quiet | sed 's/.*"left": \([0-9]*\).*/\1/')

last=
submit() { # options and a command for sbatch, to be run after the last job
    last=$(sbatch --parsable --requeue --cpus-per-task="$threads" ${last:+"--dependency=afterok:$last"} "$@")
    last=${last%%;*}
}

step=0
while [ "$step" -lt "$left" ]; do
    step=$((step + 1))
    submit --array="1-$shares" --job-name="cepts-train-$step" \
        --wrap="exec cepts train '$JOB' --shard \$SLURM_ARRAY_TASK_ID/$shares --threads $threads --quiet"
    for round in 1 2; do
        [ "$ranges" -eq 0 ] || submit --array="1-$ranges" --job-name="cepts-ranges-$step-$round" \
            --wrap="exec cepts reduce '$JOB' --range \$SLURM_ARRAY_TASK_ID/$ranges --threads $threads --quiet"
    done
    submit --job-name="cepts-reduce-$step" --wrap="exec cepts reduce '$JOB' --threads $threads --quiet"
done
submit --array="1-$shares" --job-name=cepts-align --wrap="
    exec cepts align '$JOB' --shard \$SLURM_ARRAY_TASK_ID/$shares --threads $threads --quiet \
        -o '$JOB.links.'\$(printf %05d \$SLURM_ARRAY_TASK_ID)"
submit --job-name=cepts-links --wrap="cat '$JOB'.links.[0-9]* > '$JOB.links.txt'"
echo "the last job is $last"
