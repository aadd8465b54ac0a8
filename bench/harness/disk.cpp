// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/disk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "io/files/temporary_folder.hpp"
#include "io/files/write.hpp"

namespace neve::apps {
namespace {

constexpr size_t block_bytes = size_t{8} << 20;

Status write_file(const std::string& path, const std::vector<uint64_t>& block, uint64_t bytes) {
  NEVE_ASSIGN(files::Descriptor file, files::create_file(path));
  const auto whole = std::as_bytes(std::span(block));
  for (uint64_t done = 0; done < bytes;) {
    const auto part = whole.first(std::min<uint64_t>(bytes - done, whole.size()));
    NEVE_TRY(files::write_fully(file.number(), static_cast<int64_t>(done), part, path));
    done += part.size();
  }
  NEVE_TRY(files::sync_file(file.number(), path));
  return file.close(path);
}

}  // namespace

Result<Seconds> write_to_disk(const mpi::Comm& comm, const std::string& folder, uint64_t bytes, int repeats) {
  // Of this rank alone: the folder may be another one on each machine.
  std::string path;
  std::optional<files::ScratchFolder> scratch;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("open", [&]() -> Status {
                        const auto name =
                            std::filesystem::path(folder) / fmt::format("neve_disk_{:06}", comm.rank());
                        NEVE_ASSIGN(files::ScratchFolder own, files::ScratchFolder::beside(name.string()));
                        path = own.path() + "/values";
                        scratch.emplace(std::move(own));
                        return {};
                      })));
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
  scratch.reset();
  MPI_Barrier(comm.get());  // all ranks have cleared away when any goes on
  NEVE_TRY(seconds.status());
  NEVE_TRY(removed);
  return seconds;
}

}  // namespace neve::apps
