#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A study of the mini-apps under Slurm: sbatch study.sh
# One allocation for all cells; each is a job step of its own. If the time limit ends the job, submit it again:
# it continues where it was.
#SBATCH --job-name=neve-study
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=32
#SBATCH --time=02:00:00
#SBATCH --requeue
set -euo pipefail

# On the file system to be measured; files in a Lustre folder inherit its striping.
folder=${SCRATCH:?}/neve-study
mkdir -p "$folder"
if command -v lfs >/dev/null; then lfs setstripe -c -1 "$folder"; fi

cat >study.toml <<END
title = "Mini-apps on ${SLURM_CLUSTER_NAME:-this cluster}"
launcher = "srun --nodes={nodes} --ntasks={ranks} --ntasks-per-node=32 --exclusive {command}"
ranks-per-node = 32
ranks = [32, 64, 128, 256]
repeats = 5
writes = 3
time-limit = 900
folder = "$folder"
disk-mib = 1024

[struct]
outputs = [
  "raw", "hdf5", "hdf5-zlib", "hdf5-szip", "hdf5-shuffle-zlib", "hdf5-zfp", "hdf5-neve-lossless", "hdf5-neve",
  "neve-lossless", "neve",
]
options = { valid = 0.65, bound = "abs=1e-4", chunk = [64, 64, 64] }
# Weak scaling: 8 Mi points a rank.
at.32 = { grid = [2048, 1024, 128] }
at.64 = { grid = [2048, 2048, 128] }
at.128 = { grid = [4096, 2048, 128] }
at.256 = { grid = [4096, 4096, 128] }
END

neve bench study study.toml --into study
