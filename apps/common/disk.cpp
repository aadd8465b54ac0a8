// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

namespace neve::apps {
namespace {

constexpr size_t block_bytes = size_t{8} << 20;

Status write_file(const std::string& path, const std::vector<uint64_t>& block, uint64_t bytes) {
  const auto problem = [&](const char* what) {
    return failure(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
  };
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return problem("cannot be made");
  Status status;
  for (uint64_t left = bytes; left > 0 && status.ok();) {
    const ssize_t written = ::write(file, block.data(), std::min<uint64_t>(left, block_bytes));
    if (written > 0) {
      left -= static_cast<uint64_t>(written);
    } else if (errno != EINTR) {
      status = problem("writing");
    }
  }
  if (status.ok() && ::fsync(file) != 0) status = problem("fsync");
  if (::close(file) != 0 && status.ok()) status = problem("closing");
  return status;
}

}  // namespace

Result<Seconds> write_to_disk(const mpi::Comm& comm, const std::string& folder, uint64_t bytes, int repeats) {
  const std::string path =
      (std::filesystem::path(folder) / fmt::format("neve_disk_{:06}", comm.rank())).string();
  std::vector<uint64_t> block;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("making of values", [&]() -> Status {
                        std::mt19937_64 random(static_cast<uint64_t>(comm.rank()));
                        block.resize(block_bytes / sizeof(uint64_t));
                        std::generate(block.begin(), block.end(), random);
                        return {};
                      })));
  const auto remove = [&] {
    std::error_code error;
    std::filesystem::remove(path, error);
    return mpi::agree(comm, error ? failure(path + ": " + error.message()) : Status());
  };
  Result<Seconds> seconds =
      timed(comm, repeats, remove, [&] { return mpi::agree(comm, write_file(path, block, bytes)); });
  const Status removed = remove();
  NEVE_TRY(seconds.status());
  NEVE_TRY(removed);
  return seconds;
}

}  // namespace neve::apps
