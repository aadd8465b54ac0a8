#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every fuzz target for MINUTES, two side by side, from seeds made of real data, and says what was covered.
# Ends with an error when an input crashes, leaks, hangs or takes too much memory. What a run has found out stays
# in build-fuzz/corpus, so the next one goes on from there.
# Usage: scripts/fuzz.sh MINUTES [TARGET...]        (targets: files of tests/fuzz/, without .cpp)
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:?usage: scripts/fuzz.sh MINUTES [TARGET...]}
shift
build=build-fuzz
side_by_side=${FUZZ_JOBS:-2}

# Of an input of at most 64 KiB, whose output a target lets grow to some 32 MiB: with the sanitizers' own memory.
limits=(-max_len=65536 -rss_limit_mb=1024 -malloc_limit_mb=160 -timeout=30)

targets=("$@")
if (( ${#targets[@]} == 0 )); then
  for source in tests/fuzz/*.cpp; do targets+=("$(basename "$source" .cpp)"); done
fi
for name in "${targets[@]}"; do
  [[ -x $build/bin/fuzz_$name ]] || { echo "fuzz: no target $build/bin/fuzz_$name" >&2; exit 1; }
done

mkdir -p "$build"/{corpus,findings,logs,profiles}
TMPDIR=$(mktemp -d "$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)/neve-fuzz-XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export LSAN_OPTIONS="suppressions=$PWD/tests/fuzz/leaks.txt:print_suppressions=0"
export UBSAN_OPTIONS=print_stacktrace=1
# A fuzzing process leaves no profile; the corpus is run once more for that.
export LLVM_PROFILE_FILE=/dev/null
# One process, no daemon.
export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_btl=self

make_seeds() {
  rm -rf "$build/seeds"
  # Writes by MPI, which leaves memory behind when it ends.
  ASAN_OPTIONS=detect_leaks=0 "$build/bin/fuzz_make_seeds" . "$build/seeds"
  mkdir -p "$build"/seeds/{frame,stream,frame_file}
  cp tests/golden/*.neve tests/golden/*.nested "$build/seeds/frame/"
  cp tests/golden/*.nevs "$build/seeds/stream/"
  cp tests/golden/*.nevefile "$build/seeds/frame_file/"
}

run_target() {
  local name=$1 corpus=$build/corpus/$1
  mkdir -p "$corpus" "$build/seeds/$name"
  local folders=("$corpus" "$build/seeds/$name")
  [[ -d tests/fuzz/regressions/$name ]] && folders+=("tests/fuzz/regressions/$name")
  local ended=0
  "$build/bin/fuzz_$name" "${limits[@]}" -max_total_time=$((minutes * 60)) -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" "${folders[@]}" >"$build/logs/$name.log" 2>&1 || ended=$?
  echo "fuzz: $name: $(grep -c . "$build/logs/$name.log") lines of log, ended with $ended"
  LLVM_PROFILE_FILE=$build/profiles/$name.profraw "$build/bin/fuzz_$name" -runs=0 "${folders[@]}" \
    >"$build/logs/$name.coverage.log" 2>&1 || true
}

make_seeds
rm -f "$build"/profiles/*
for name in "${targets[@]}"; do
  while (( $(jobs -rp | wc -l) >= side_by_side )); do wait -n || true; done
  run_target "$name" &
done
wait

python3 scripts/fuzz_report.py "$build" "${targets[@]}" | tee "$build/report.md"
if [[ -n $(ls -A "$build/findings") ]]; then
  echo "fuzz: $build/findings holds inputs that failed:" >&2
  ls "$build/findings" >&2
  exit 1
fi
