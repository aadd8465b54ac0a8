// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "io/files/temporary_folder.hpp"
#include "io/files/write.hpp"
#include "io/plotfile/amrex_writer.hpp"
#include "io/plotfile/replaceable.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/broadcast.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/same_everywhere.hpp"
#include "parallel/write/names.hpp"
#include "parallel/write/ownership.hpp"

namespace neve {
namespace {

namespace fs = std::filesystem;
using namespace mpi;

// What is written to be durable before the plotfile has its name.
Status finish(files::Descriptor& file, const std::string& path) {
  NEVE_TRY(files::sync_file(file.number(), path));
  return file.close(path);
}

Status write_text(const fs::path& path, const std::string& text) {
  NEVE_ASSIGN(files::Descriptor file, files::create_file(path.string()));
  NEVE_TRY(files::write_fully(file.number(), 0, std::as_bytes(std::span(text)), path.string()));
  return finish(file, path.string());
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
    NEVE_ASSIGN(files::Descriptor file, files::create_file(path));
    for (; i < sorted.size() && sorted[i].level == level; ++i) {
      const auto box = static_cast<size_t>(sorted[i].box);
      NEVE_TRY(plotfile::write_fab(file.number(), path, places[static_cast<size_t>(level)][box].offset_bytes,
                                   hierarchy, hierarchy.levels[static_cast<size_t>(level)].boxes[box],
                                   sorted[i].data));
    }
    NEVE_TRY(finish(file, path));
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

// What rank 0 has of all boxes of a level: packed extremes, rank by rank.
struct Gathered {
  std::vector<double> packed;
  std::vector<int> counts, starts;  // of each rank, in values
};

// Collective.
Status gather_extremes(const Comm& comm, const Hierarchy& hierarchy, std::span<const LocalBox> sorted,
                       const std::vector<int>& owner, int level, Gathered& all) {
  const size_t components = hierarchy.components.size();
  const size_t per_box = 2 * components;
  std::vector<double> mine;
  const Status prepared = guarded("place", [&]() -> Status {
    if (owner.size() * per_box > static_cast<size_t>(std::numeric_limits<int>::max())) {
      return usage_error("level " + std::to_string(level) + " has " + std::to_string(owner.size()) +
                         " boxes of " + std::to_string(components) + " fields; too many for one Cell_H");
    }
    mine = packed_extremes(hierarchy, sorted, level);
    if (comm.rank() != 0) return {};
    all.packed.resize(owner.size() * per_box);
    all.counts.assign(static_cast<size_t>(comm.size()), 0);
    all.starts.assign(all.counts.size(), 0);
    for (const int rank : owner) all.counts[static_cast<size_t>(rank)] += static_cast<int>(per_box);
    for (size_t rank = 1; rank < all.counts.size(); ++rank) {
      all.starts[rank] = all.starts[rank - 1] + all.counts[rank - 1];
    }
    return {};
  });
  NEVE_TRY(agree(comm, prepared));
  return mpi_status(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.packed.data(),
                                all.counts.data(), all.starts.data(), MPI_DOUBLE, 0, comm.get()),
                    "gathering of the boxes' extremes");
}

// By box.
std::vector<plotfile::FabExtremes> extremes_of(const Gathered& all, const std::vector<int>& owner,
                                               size_t components) {
  std::vector<plotfile::FabExtremes> extremes(owner.size());
  std::vector<int> next = all.starts;
  for (size_t box = 0; box < extremes.size(); ++box) {
    int& at = next[static_cast<size_t>(owner[box])];
    const auto first = all.packed.begin() + at;
    const auto middle = first + static_cast<std::ptrdiff_t>(components);
    extremes[box].min.assign(first, middle);
    extremes[box].max.assign(middle, middle + static_cast<std::ptrdiff_t>(components));
    at += static_cast<int>(2 * components);
  }
  return extremes;
}

Status write_side_files(const fs::path& root, const Hierarchy& hierarchy) {
  for (const auto& [name, text] : hierarchy.side_files) {
    NEVE_TRY(write_text(root / name, text));
  }
  return {};
}

// On rank 0: a folder beside `path` with a folder for each level.
Result<files::TemporaryFolder> make_folders(const std::string& path, const Hierarchy& hierarchy) {
  for (const auto& [name, text] : hierarchy.side_files) NEVE_TRY(plotfile::check_side_file_name(name));
  NEVE_ASSIGN(
      files::TemporaryFolder beside,
      files::TemporaryFolder::beside(path, plotfile::parts_of_plotfile(plotfile::Replacement(hierarchy))));
  for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
    NEVE_TRY(make_directories(fs::path(beside.path()) / plotfile::level_directory(static_cast<int>(level))));
  }
  return beside;
}

// Collective: the text files that describe each level's boxes, by rank 0.
Status write_level_headers(const Comm& comm, const std::string& root, const Hierarchy& hierarchy,
                           const std::vector<LocalBox>& sorted, const Ownership& owners,
                           const Places& places) {
  for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
    const int l = static_cast<int>(level);
    Gathered gathered;
    NEVE_TRY(gather_extremes(comm, hierarchy, sorted, owners[level], l, gathered));
    const Status written = guarded("write", [&]() -> Status {
      if (comm.rank() != 0) return {};
      const auto extremes = extremes_of(gathered, owners[level], hierarchy.components.size());
      return write_text(fs::path(root) / plotfile::fab_array_header_path(l),
                        plotfile::fab_array_header_text(hierarchy, l, places[level], extremes));
    });
    NEVE_TRY(agree(comm, written));
  }
  return {};
}

Status write_whole(MPI_Comm user_comm, const std::string& path, const Hierarchy& hierarchy,
                   std::span<const LocalBox> owned) {
  NEVE_ASSIGN(const Comm comm, Comm::duplicate(user_comm));
  const bool is_root = comm.rank() == 0;
  NEVE_TRY(check_same_everywhere(
      comm, [&] { return hierarchy_key(hierarchy); }, "the hierarchy"));
  NEVE_TRY(check_same_everywhere(
      comm, [&] { return path; }, "the path"));
  const Status checked = guarded_alike(comm, "checking the hierarchy", [&]() -> Status {
    NEVE_TRY(check_hierarchy(hierarchy));
    return check_names(hierarchy);
  });
  NEVE_TRY(checked);
  NEVE_ASSIGN(const Ownership owners, find_owners(comm, hierarchy, owned));

  std::optional<files::TemporaryFolder> temporary;
  std::string root;
  const Status opened = guarded("open", [&]() -> Status {
    if (!is_root) return {};
    NEVE_ASSIGN(files::TemporaryFolder beside, make_folders(path, hierarchy));
    root = beside.path();
    temporary.emplace(std::move(beside));
    return {};
  });
  NEVE_TRY(agree(comm, opened));
  NEVE_TRY(broadcast(comm, root));

  Places places;
  std::vector<LocalBox> sorted;
  const Status written = guarded("write", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::write, comm.rank()));
    places = plotfile::plan_fabs(hierarchy, owners);
    sorted = sorted_boxes(owned);
    NEVE_TRY(write_fabs(root, hierarchy, sorted, places));
    return injected_fault(Phase::sync, comm.rank());
  });
  NEVE_TRY(agree(comm, written));

  NEVE_TRY(write_level_headers(comm, root, hierarchy, sorted, owners, places));
  NEVE_TRY(agree(comm, injected_fault(Phase::rename, comm.rank())));
  const Status renamed = guarded("rename", [&]() -> Status {
    if (!is_root) return {};
    NEVE_TRY(write_side_files(root, hierarchy));
    NEVE_TRY(write_text(fs::path(root) / "Header", plotfile::plotfile_header_text(hierarchy)));
    return temporary->commit();
  });
  return agree(comm, renamed);
}

}  // namespace

Status write_amrex_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                            Span<const LocalBox> owned) {
  return guarded(path, [&] { return write_whole(comm, path, hierarchy, owned); });
}

}  // namespace neve
