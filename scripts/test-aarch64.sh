#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the core for 64-bit Arm, runs its unit and golden tests under qemu-user, and compares its frames with
# this machine's, byte for byte. Needs build/ (make build) and Debian's arm64 packages, which are unpacked into
# build-aarch64/root: nothing of the system changes but the cross compiler and qemu-user, which are installed.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/bootstrap.sh aarch64

folder=$PWD/build-aarch64
root=$folder/root
packages=(libbz2-1.0 libfmt9 libfmt-dev libgtest-dev googletest libhwy1 libhwy-dev liblz4-1 liblz4-dev liblzo2-2
  libxxhash0 libxxhash-dev libzstd1 libzstd-dev zlib1g zlib1g-dev)

unpack_packages() {
  local apt=$folder/apt
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$folder/debs"
  : > "$apt/state/status"
  local options=(-q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State=$apt/state"
    -o "Dir::State::status=$apt/state/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  (cd "$folder/debs" && apt-get "${options[@]}" download "${packages[@]}")
  local deb
  for deb in "$folder"/debs/*.deb; do dpkg-deb -x "$deb" "$root.new"; done
  mv "$root.new" "$root"
}

[[ -d $root ]] || unpack_packages
export NEVE_AARCH64_ROOT=$root
cmake -S . -B "$folder/build" -G Ninja --toolchain cmake/aarch64.cmake -DCMAKE_BUILD_TYPE=Release -DNEVE_MPI=OFF >/dev/null
cmake --build "$folder/build" -j "${JOBS:-$(nproc)}"
# Emulated, a test takes some twenty times as long.
ctest --test-dir "$folder/build" --output-on-failure -j "${JOBS:-$(nproc)}" --timeout 3000

run=(qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$root/usr/lib/aarch64-linux-gnu:$root/lib/aarch64-linux-gnu")
build/bin/frame_hashes > "$folder/frames.here"
"${run[@]}" "$folder/build/bin/frame_hashes" > "$folder/frames.aarch64"
cmp "$folder/frames.here" "$folder/frames.aarch64"
echo "$(grep -c bytes "$folder/frames.here") frames are the same on $(uname -m) and aarch64"
