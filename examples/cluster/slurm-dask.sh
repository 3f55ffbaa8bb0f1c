#!/bin/sh
# Trains and aligns on a Dask cluster within one SLURM job: a scheduler, workers, and the command itself:
#
#     sbatch --export=ALL,SOURCE=en.txt.gz,TARGET=fr.txt.gz,JOB=/shared/job slurm-dask.sh
#
# Needs `pip install 'cepts[cluster]'`. Workers that die are started again. If the whole job is killed or requeued, it
# goes on where it was. Everybody must see JOB under the same name. The links are in JOB.links.txt.
#SBATCH --ntasks=17
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=4G
#SBATCH --time=1-00:00:00
#SBATCH --requeue
set -eu
: "${SOURCE:?}" "${TARGET:?}" "${JOB:?}"
host=${HOST:-$(hostname -f)}
port=${PORT:-8786}
address=tcp://$host:$port

# Otherwise Dask has its workers give free memory back at once, and they spend much of their time on getting it anew.
export MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_MMAP_THRESHOLD_=268435456 MALLOC_ARENA_MAX=1
dask scheduler --host "$host" --port "$port" --no-dashboard &
scheduler=$!
srun --ntasks=$((SLURM_NTASKS - 1)) sh -c "
    until dask worker '$address' --nthreads 1 --no-dashboard --local-directory \"\${TMPDIR:-/tmp}\"; do sleep 5; done" &
workers=$!
trap 'kill $scheduler $workers 2>/dev/null || true' EXIT INT TERM

cepts align "$SOURCE" "$TARGET" --checkpoint "$JOB" --engine "dask:$address" -o "$JOB.links.txt"
