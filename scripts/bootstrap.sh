#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Brings a fresh Debian 12 to where Neve builds: system packages and the Python environment .venv.
# Does nothing, quickly, when everything is there. Usage: scripts/bootstrap.sh [demo|fuzz|aarch64]; demo: only what
# the command and the Python package need.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build make pkg-config ccache git ca-certificates
  openmpi-bin libopenmpi-dev libhdf5-openmpi-dev
  libhwy-dev libzstd-dev liblz4-dev zlib1g-dev libbz2-1.0 liblzo2-2 libxxhash-dev libfmt-dev
  nlohmann-json3-dev libcli11-dev libtomlplusplus-dev
  python3 python3-venv python3-dev
)
packages_of_tests=(
  hdf5-tools libgtest-dev libeigen3-dev xz-utils
  mpich libmpich-dev libhdf5-mpich-dev  # beside Open MPI, which stays what mpicc and mpirun mean
  libzfp-dev libnetcdf-mpi-dev  # peers in the mini-apps
  libadios-openmpi-dev libblosc-dev libaec-dev libbz2-dev  # ADIOS there, and what it stands on
  hdf5-filter-plugin-zfp-serial  # what reads their zfp files
  netcdf-bin nco cdo  # ncdump, ncks, cdo, ...: what the tests of data files and of readers run
  python3-paraview python3-h5py xvfb libgl1-mesa-dri  # pvpython, what Neve's reader there needs, and a screen: 1.1 GB
  verilator  # runs rtl/ in tests
  yosys      # proves and costs rtl/
  clang-format
)
requirements=requirements.txt
case "${1:-}" in
  demo) packages_of_tests=() requirements=requirements-demo.txt ;;
  fuzz) packages+=(clang libclang-rt-14-dev llvm) ;;  # llvm: llvm-profdata and llvm-cov say what was covered
  aarch64) packages+=(g++-aarch64-linux-gnu qemu-user) ;;
esac
packages+=("${packages_of_tests[@]}")

say() { echo "bootstrap: $*" >&2; }

missing_packages() {
  local name
  for name in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q '^install ok installed$' || echo "$name"
  done
}

if command -v dpkg-query >/dev/null; then
  mapfile -t missing < <(missing_packages)
  if (( ${#missing[@]} > 0 )); then
    as_root=()
    if (( EUID != 0 )); then
      command -v sudo >/dev/null || {
        say "these packages are missing and neither root nor sudo is at hand: ${missing[*]}"
        exit 1
      }
      as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends "${missing[@]}"
  fi
else
  say "not a Debian system; have these installed by your own means: ${packages[*]}"
fi

python=""
for candidate in "${NEVE_BOOTSTRAP_PYTHON:-}" /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
  if [[ -n "$candidate" ]] && command -v "$candidate" >/dev/null &&
     "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python="$candidate"
    break
  fi
done
if [[ -z "$python" ]]; then
  say "no Python of version 3.11 or later with the venv module found"
  exit 1
fi

[[ -x .venv/bin/python ]] || "$python" -m venv .venv
# The stamp holds what was installed, so that a changed list installs again.
stamp=.venv/neve-$requirements
if ! cmp -s "scripts/$requirements" "$stamp"; then
  say "installing Python packages into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "scripts/$requirements"
  cp "scripts/$requirements" "$stamp"
fi

# Python finds the package in the build, and the benchmarks' in the checkout.
packages_dir=$(echo .venv/lib/python3*/site-packages)
paths="$PWD/build/python
$PWD/bench/python"
if [[ "$(cat "$packages_dir/neve.pth" 2>/dev/null)" != "$paths" ]]; then
  .venv/bin/python -m pip uninstall --quiet --disable-pip-version-check -y neve 2>/dev/null || true
  echo "$paths" > "$packages_dir/neve.pth"
fi
