#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every fuzz target for MINUTES in all (shared out), starting from the golden files, and stops
# with an error at the first input that crashes, leaks or asks for too much memory.
# Usage: scripts/fuzz.sh MINUTES
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:?minutes}
shopt -s nullglob
targets=(build-fuzz/bin/fuzz_*)
if (( ${#targets[@]} == 0 )); then
  echo "fuzz: no target in build-fuzz/bin" >&2
  exit 1
fi
seconds=$(( minutes * 60 / ${#targets[@]} ))
for target in "${targets[@]}"; do
  name=$(basename "$target")
  corpus=build-fuzz/corpus/$name
  mkdir -p "$corpus" build-fuzz/findings
  seeds=()
  for folder in "fuzz/seeds/${name#fuzz_}" tests/golden; do
    [[ -d "$folder" ]] && seeds+=("$folder")
  done
  echo "fuzz: $name for $seconds s"
  "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=25 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix=build-fuzz/findings/ -fork="${FUZZ_JOBS:-$(nproc)}" -ignore_crashes=0 \
    "$corpus" "${seeds[@]}"
done

# Jobs that crash on a seed end before the fuzzer counts them: what they leave is a finding all the same.
if [[ -n "$(ls -A build-fuzz/findings)" ]]; then
  echo "fuzz: build-fuzz/findings holds inputs that failed" >&2
  exit 1
fi
