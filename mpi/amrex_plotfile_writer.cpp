// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "mpi/agree.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/fault.hpp"
#include "mpi/ownership.hpp"
#include "mpi/temporary.hpp"
#include "neve/plotfile_writer.hpp"
#include "plotfile/amrex_writer.hpp"
#include "plotfile/file.hpp"

namespace neve {
namespace {

namespace fs = std::filesystem;
using namespace mpi;

// A file of the new plotfile, opened for this process alone.
class NewFile {
 public:
  static Result<NewFile> create(const std::string& path) {
    NewFile file;
    file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor_ < 0) return failure(path + ": " + std::strerror(errno));
    file.path_ = path;
    return file;
  }
  NewFile(NewFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor() const { return descriptor_; }

  Status sync_and_close() {
    if (::fsync(descriptor_) != 0) return failure(path_ + ": sync: " + std::strerror(errno));
    if (::close(std::exchange(descriptor_, -1)) != 0)
      return failure(path_ + ": close: " + std::strerror(errno));
    return {};
  }

 private:
  NewFile() = default;
  int descriptor_ = -1;
  std::string path_;
};

Status write_text(const fs::path& path, const std::string& text) {
  NEVE_ASSIGN(NewFile file, NewFile::create(path.string()));
  NEVE_TRY(plotfile::write_fully(file.descriptor(), 0, std::as_bytes(std::span(text)), path.string()));
  return file.sync_and_close();
}

Status make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? failure(path.string() + ": " + error.message()) : Status();
}

// This rank's boxes, by level, then box: the order in which they lie in its files.
std::vector<LocalBox> sorted_boxes(std::span<const LocalBox> owned) {
  std::vector<LocalBox> sorted(owned.begin(), owned.end());
  std::sort(sorted.begin(), sorted.end(), [](const LocalBox& a, const LocalBox& b) {
    return std::pair(a.level, a.box) < std::pair(b.level, b.box);
  });
  return sorted;
}

using Places = std::vector<std::vector<plotfile::FabPlace>>;

Status write_fabs(const fs::path& root, const Hierarchy& hierarchy, std::span<const LocalBox> sorted,
                  const Places& places) {
  for (size_t i = 0; i < sorted.size();) {
    const int level = sorted[i].level;
    const std::string& name = places[static_cast<size_t>(level)][static_cast<size_t>(sorted[i].box)].file;
    const std::string path = (root / plotfile::level_directory(level) / name).string();
    NEVE_ASSIGN(NewFile file, NewFile::create(path));
    for (; i < sorted.size() && sorted[i].level == level; ++i) {
      const auto box = static_cast<size_t>(sorted[i].box);
      NEVE_TRY(plotfile::write_fab(file.descriptor(), path,
                                   places[static_cast<size_t>(level)][box].offset_bytes, hierarchy,
                                   hierarchy.levels[static_cast<size_t>(level)].boxes[box], sorted[i].data));
    }
    NEVE_TRY(file.sync_and_close());
  }
  return {};
}

// Minima, then maxima of a box's components.
std::vector<double> packed_extremes(const Hierarchy& hierarchy, std::span<const LocalBox> sorted, int level) {
  std::vector<double> packed;
  for (const LocalBox& local : sorted) {
    if (local.level != level) continue;
    const Box& box = hierarchy.levels[static_cast<size_t>(level)].boxes[static_cast<size_t>(local.box)];
    const plotfile::FabExtremes extremes = plotfile::fab_extremes(hierarchy, box, local.data);
    packed.insert(packed.end(), extremes.min.begin(), extremes.min.end());
    packed.insert(packed.end(), extremes.max.begin(), extremes.max.end());
  }
  return packed;
}

// Collective. Rank 0 gets the extremes of all boxes of a level, by box; the others get none.
Result<std::vector<plotfile::FabExtremes>> gather_extremes(const Comm& comm, const Hierarchy& hierarchy,
                                                           std::span<const LocalBox> sorted,
                                                           const std::vector<int>& owner, int level) {
  const bool is_root = comm.rank() == 0;
  const size_t components = hierarchy.components.size();
  const size_t per_box = 2 * components;
  std::vector<double> mine, all;
  std::vector<int> counts(static_cast<size_t>(comm.size()), 0), starts(counts.size(), 0);
  std::vector<plotfile::FabExtremes> extremes;
  const Status prepared = guarded("place", [&]() -> Status {
    if (owner.size() * per_box > static_cast<size_t>(std::numeric_limits<int>::max())) {
      return usage_error("level " + std::to_string(level) + " has " + std::to_string(owner.size()) +
                         " boxes of " + std::to_string(components) + " fields; too many for one Cell_H");
    }
    mine = packed_extremes(hierarchy, sorted, level);
    if (!is_root) return {};
    all.resize(owner.size() * per_box);
    extremes.resize(owner.size());
    for (const int rank : owner) counts[static_cast<size_t>(rank)] += static_cast<int>(per_box);
    for (size_t rank = 1; rank < counts.size(); ++rank) starts[rank] = starts[rank - 1] + counts[rank - 1];
    return {};
  });
  NEVE_TRY(agree(comm, prepared));
  NEVE_TRY(mpi_status(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(),
                                  counts.data(), starts.data(), MPI_DOUBLE, 0, comm.get()),
                      "gathering of the boxes' extremes"));
  for (size_t box = 0; box < extremes.size(); ++box) {
    int& next = starts[static_cast<size_t>(owner[box])];
    const auto first = all.begin() + next;
    const auto middle = first + static_cast<std::ptrdiff_t>(components);
    extremes[box].min.assign(first, middle);
    extremes[box].max.assign(middle, middle + static_cast<std::ptrdiff_t>(components));
    next += static_cast<int>(per_box);
  }
  return extremes;
}

Status write_side_files(const fs::path& root, const Hierarchy& hierarchy) {
  for (const auto& [name, text] : hierarchy.side_files) {
    NEVE_TRY(write_text(root / name, text));
  }
  return {};
}

}  // namespace

Status write_amrex_plotfile(MPI_Comm user_comm, const std::string& path, const Hierarchy& hierarchy,
                            std::span<const LocalBox> owned) {
  NEVE_ASSIGN(const Comm comm, Comm::duplicate(user_comm));
  const bool is_root = comm.rank() == 0;
  NEVE_TRY(check_same_everywhere(comm, hierarchy_key(hierarchy), "the hierarchy"));
  NEVE_TRY(check_same_everywhere(comm, path, "the path"));
  NEVE_TRY(check_hierarchy(hierarchy));
  NEVE_ASSIGN(const Ownership owners, find_owners(comm, hierarchy, owned));

  std::optional<Temporary> temporary;
  std::string root;
  const Status opened = guarded("open", [&]() -> Status {
    if (!is_root) return {};
    for (const auto& [name, text] : hierarchy.side_files) NEVE_TRY(plotfile::check_side_file_name(name));
    NEVE_ASSIGN(Temporary beside, Temporary::beside(path, Temporary::Kind::directory));
    root = beside.path();
    temporary.emplace(std::move(beside));
    for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
      NEVE_TRY(make_directories(fs::path(root) / plotfile::level_directory(static_cast<int>(level))));
    }
    return {};
  });
  NEVE_TRY(agree(comm, opened));
  NEVE_TRY(broadcast(comm, root));

  Places places;
  std::vector<LocalBox> sorted;
  const Status put = guarded("put", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::put, comm.rank()));
    places = plotfile::plan_fabs(hierarchy, owners);
    sorted = sorted_boxes(owned);
    NEVE_TRY(write_fabs(root, hierarchy, sorted, places));
    return injected_fault(Phase::sync, comm.rank());
  });
  NEVE_TRY(agree(comm, put));

  for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
    const int l = static_cast<int>(level);
    NEVE_ASSIGN(const auto extremes, gather_extremes(comm, hierarchy, sorted, owners[level], l));
    const Status written = guarded("put", [&]() -> Status {
      if (!is_root) return {};
      return write_text(fs::path(root) / plotfile::fab_array_header_path(l),
                        plotfile::fab_array_header_text(hierarchy, l, places[level], extremes));
    });
    NEVE_TRY(agree(comm, written));
  }

  NEVE_TRY(agree(comm, injected_fault(Phase::rename, comm.rank())));
  const Status renamed = guarded("rename", [&]() -> Status {
    if (!is_root) return {};
    NEVE_TRY(write_side_files(root, hierarchy));
    NEVE_TRY(write_text(fs::path(root) / "Header", plotfile::plotfile_header_text(hierarchy)));
    return temporary->commit();
  });
  return agree(comm, renamed);
}

}  // namespace neve
