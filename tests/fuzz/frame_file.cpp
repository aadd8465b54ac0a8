// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a frame file: its index, and its values in pieces through MPI on this process alone.
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

void read_pieces(const neve::mpi::FrameFileReader& reader) {
  constexpr uint64_t max_values = uint64_t{1} << 18;
  constexpr uint64_t pieces = 3;
  const neve::FrameFileIndex& index = reader.index();
  // A frame is decoded whole for any piece of it.
  for (const neve::FrameFileEntry& entry : index.entries) {
    if (entry.values > max_values) return;
  }
  const uint64_t values = std::min(index.values, max_values);
  const uint64_t piece = std::max<uint64_t>(values / pieces, 1);
  std::vector<std::byte> out(piece * neve::dtype_bytes(index.dtype));
  neve::mpi::Moved moved;
  for (uint64_t first = 0; first + piece <= values; first += piece) {
    require_code(reader.read(first, piece, out.data(), 1, moved), {Code::corrupt});
  }
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
  read_pieces(**reader);
  require_code((*reader)->close(), {});
  return 0;
}
