#!/bin/sh
# Trains and aligns with one SLURM array, whose tasks wait for each other:
#
#     cepts shard en.txt.gz fr.txt.gz /shared/job
#     sbatch --array=1-16 --export=ALL,JOB=/shared/job slurm-shares.sh
#     cat /shared/job.links.* > links.txt          # when the array has ended
#
# All tasks must run at the same time. A task that is killed or requeued goes on where it was; meanwhile the others
# wait. Everybody must see JOB under the same name.
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=1-00:00:00
#SBATCH --requeue
set -eu
share=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
threads=${SLURM_CPUS_PER_TASK:-1}
cepts train "$JOB" --shard "$share" --wait --threads "$threads" --quiet
links=$JOB.links.$(printf %05d "$SLURM_ARRAY_TASK_ID")
cepts align "$JOB" --shard "$share" -o "$links" --threads "$threads" --quiet
