// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/workplace.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/files/descriptor.hpp"
#include "io/files/private_folder.hpp"
#include "io/files/remove_tree.hpp"
#include "parallel/comm/broadcast.hpp"

namespace neve::apps {
namespace {

namespace fs = std::filesystem;

Status taken_error(const fs::path& path) {
  return usage_error(
      fmt::format("{} exists, and an earlier run may have kept it; choose another folder, or move it away",
                  path.string()));
}

Status check_free(const std::string& folder, std::span<const std::string> names) {
  std::error_code error;
  std::vector<fs::path> taken;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string found = it->path().filename().string();
    if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return found.starts_with(name); })) {
      taken.push_back(it->path());
    }
  }
  if (error) return failure(folder + ": " + error.message());
  return taken.empty() ? Status() : taken_error(*std::min_element(taken.begin(), taken.end()));
}

// Takes no name that is taken.
Status move_to(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return taken_error(to);
  if (errno != EINVAL && errno != ENOSYS)
    return files::system_failure("renaming " + from.string() + " to " + to.string());
  std::error_code error;
  if (fs::exists(fs::symlink_status(to, error))) return taken_error(to);
  fs::rename(from, to, error);
  return error ? failure(to.string() + ": " + error.message()) : Status();
}

Status move_all(const std::string& from, const std::string& to) {
  std::error_code error;
  std::vector<fs::path> made;
  for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error))
    made.push_back(it->path());
  if (error) return failure(from + ": " + error.message());
  std::sort(made.begin(), made.end());
  for (const fs::path& path : made) {
    const fs::path place = fs::path(to) / path.filename();
    if (fs::exists(fs::symlink_status(place, error))) return taken_error(place);
  }
  for (size_t i = 0; i < made.size(); ++i) {
    Status moved = move_to(made[i], fs::path(to) / made[i].filename());
    if (moved.ok()) continue;
    // All or nothing: what has been moved goes back, and ends with the folder it came from.
    while (i-- > 0) fs::rename(fs::path(to) / made[i].filename(), made[i], error);
    return moved;
  }
  return {};
}

bool is_of_scratch(std::string_view name) { return name.starts_with(files::PrivateFolder::made_name); }

// While others still write into it: they find it no more.
void remove_scratch(const std::string& made) {
  ::rename(made.c_str(), (made + ".ended").c_str());
  files::remove_from_folder(fs::path(made).parent_path().c_str(), is_of_scratch);
}

}  // namespace

Result<Workplace> Workplace::begin(const mpi::Comm& comm, const std::string& folder, bool keep,
                                   std::span<const std::string> names) {
  Workplace place;
  place.keep_ = keep;
  place.folder_ = folder.empty() ? "." : folder;
  const Status made = mpi::guarded("open", [&]() -> Status {
    if (comm.rank() != 0) return {};
    if (keep) NEVE_TRY(check_free(place.folder_, names));
    NEVE_ASSIGN(files::ScratchFolder scratch,
                files::ScratchFolder::beside((fs::path(place.folder_) / "neve_bench").string()));
    place.path_ = scratch.path();
    NEVE_ASSIGN(place.signal_end_, SignalEnd::call([made = place.path_] { remove_scratch(made); }));
    place.scratch_.emplace(std::move(scratch));
    return {};
  });
  NEVE_TRY(mpi::agree(comm, made));
  NEVE_TRY(mpi::broadcast(comm, place.path_));
  return place;
}

Status Workplace::finish(const mpi::Comm& comm) {
  return mpi::agree(comm, mpi::guarded("keeping", [&]() -> Status {
                      return comm.rank() == 0 && keep_ ? move_all(path_, folder_) : Status();
                    }));
}

}  // namespace neve::apps
