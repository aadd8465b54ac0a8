// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a frame file: its index, and parts of the logical file through MPI on this process alone.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "parallel/transfer/frame_file_reader.hpp"
#include "tests/fuzz/support/codes.hpp"
#include "tests/fuzz/support/scratch.hpp"

// LeakSanitizer's, where it is linked: its check at the end of a process, and what is not to be found by it.
extern "C" {
__attribute__((weak)) void __lsan_do_leak_check();
__attribute__((weak)) void __lsan_disable();
__attribute__((weak)) void __lsan_enable();
}

namespace {

using neve::Code;
using neve::fuzz::require_code;

// Without a daemon beside it; its errors come back as codes.
bool start_mpi() {
  ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  ::setenv("OMPI_MCA_btl", "self", 0);
  // Modules that MPI tries and unloads leave memory behind.
  if (__lsan_disable != nullptr) __lsan_disable();
  MPI_Init(nullptr, nullptr);
  if (__lsan_enable != nullptr) __lsan_enable();
  std::atexit([] {
    // Before MPI unloads its modules, whose names tell what it keeps (leaks.txt).
    if (__lsan_do_leak_check != nullptr) __lsan_do_leak_check();
    MPI_Finalize();
  });
  return true;
}

// Bytes in a row, and a box of rows with gaps between them.
void read_parts(const neve::mpi::FrameFileReader& reader) {
  constexpr uint64_t max_bytes = uint64_t{1} << 21;
  constexpr uint64_t parts = 3;
  const neve::FrameFileIndex& index = reader.index();
  // A piece is decoded whole for any part of it.
  for (const neve::FramePiece& piece : index.pieces) {
    if (piece.kind != neve::PieceKind::zeros && piece.place.bytes() > max_bytes) return;
  }
  const uint64_t bytes = std::min(index.bytes, max_bytes);
  const uint64_t part = std::max<uint64_t>(bytes / parts, 1);
  std::vector<std::byte> out(part);
  neve::mpi::Moved moved;
  for (uint64_t at = 0; at + part <= bytes; at += part) {
    require_code(reader.read(at, part, out.data(), 1, moved), {Code::corrupt});
  }
  if (part < 64) return;
  neve::FileBox rows{bytes % 5, 3, 2, {}};
  rows.directions[0] = {4, part / 8};
  rows.directions[1] = {2, 4};
  require_code(reader.read({&rows, 1}, out.data(), 1, moved), {Code::corrupt});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  [[maybe_unused]] static const bool started = start_mpi();
  const std::string path = neve::fuzz::scratch_file("values.nevefile", std::as_bytes(std::span(data, size)));
  uint64_t file_bytes = 0;
  const auto index = neve::mpi::read_index(path, file_bytes);
  require_code(index.status(), {Code::corrupt});
  if (!index.ok()) return 0;
  auto reader = neve::mpi::FrameFileReader::open(MPI_COMM_SELF, path);
  require_code(reader.status(), {Code::corrupt});
  if (!reader.ok()) return 0;
  read_parts(**reader);
  require_code((*reader)->close(), {});
  return 0;
}
