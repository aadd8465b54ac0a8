// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "io/files/temporary_folder.hpp"
#include "io/files/write.hpp"
#include "io/plotfile/amrex_writer.hpp"
#include "io/plotfile/replaceable.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/broadcast.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/kept_comm.hpp"
#include "parallel/comm/same_everywhere.hpp"
#include "parallel/write/box_pieces.hpp"
#include "parallel/write/names.hpp"
#include "parallel/write/ownership.hpp"
#include "parallel/write/read_ahead.hpp"

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

using Places = std::vector<std::vector<plotfile::FabPlace>>;
using ShowFraction = std::function<void(double fraction)>;
using BoxExtremes = std::vector<plotfile::FabExtremes>;  // of this rank's boxes

// This rank's files, of which each level has one.
class FabFiles {
 public:
  FabFiles(const fs::path& root, const Hierarchy& hierarchy, const Places& places)
      : root_(root), hierarchy_(hierarchy), places_(places), files_(hierarchy.levels.size()) {}

  struct Fab {
    const Box& box;
    int fd;
    const std::string& path;
    int64_t offset_bytes;
  };
  // Where a box belongs; its file is made when it is asked for first.
  Result<Fab> fab(const LocalBox& local) {
    const auto level = static_cast<size_t>(local.level);
    const auto box = static_cast<size_t>(local.box);
    LevelFile& file = files_[level];
    if (!file.opened.is_open()) {
      file.path = (root_ / plotfile::level_directory(local.level) / places_[level][box].file).string();
      NEVE_ASSIGN(file.opened, files::create_file(file.path));
    }
    return Fab{hierarchy_.levels[level].boxes[box], file.opened.number(), file.path,
               places_[level][box].offset_bytes};
  }

  Status finish_all() {
    for (LevelFile& file : files_) {
      if (file.opened.is_open()) NEVE_TRY(finish(file.opened, file.path));
    }
    return {};
  }

 private:
  struct LevelFile {
    files::Descriptor opened;
    std::string path;
  };
  fs::path root_;
  const Hierarchy& hierarchy_;
  const Places& places_;
  std::vector<LevelFile> files_;
};

// By level, then box, so that files are written from their begin to their end.
Status write_fabs(FabFiles& files, const Hierarchy& hierarchy, const LocalValues& owned,
                  BoxExtremes& extremes) {
  std::vector<size_t> order(owned.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(owned[a].level, owned[a].box) < std::pair(owned[b].level, owned[b].box);
  });
  for (const size_t i : order) {
    NEVE_ASSIGN(const FabFiles::Fab fab, files.fab(owned[i]));
    NEVE_TRY(plotfile::write_fab(fab.fd, fab.path, fab.offset_bytes, hierarchy, fab.box, owned[i].data));
    extremes[i] = plotfile::fab_extremes(hierarchy, fab.box, owned[i].data);
  }
  return {};
}

// Of values that are read: in the order in which they are, each to its place.
Status write_read_fabs(FabFiles& files, const Hierarchy& hierarchy, const LocalValues& owned,
                       BoxExtremes& extremes, const ShowFraction& show) {
  const BoxPieces pieces(owned, hierarchy, false);
  const auto write = [&](const BoxStretch& stretch, const std::byte* values) -> Status {
    NEVE_ASSIGN(const FabFiles::Fab fab, files.fab(owned[stretch.local]));
    return plotfile::write_fab_run(fab.fd, fab.path, fab.offset_bytes, hierarchy, fab.box,
                                   stretch.first_element, stretch.elements, values);
  };
  const auto note_extremes = [&](const BoxRun& run, const std::byte* values) -> Status {
    plotfile::merge_extremes(hierarchy, run.component, run.cells, values, extremes[run.local]);
    return {};
  };
  PiecewiseWork work;
  work.pieces = pieces.count();
  work.piece_bytes = pieces.most_bytes();
  work.phase = "write";
  if (show) {
    work.done = [&](size_t done) { show(static_cast<double>(done) / static_cast<double>(pieces.count())); };
  }
  work.read = [&](size_t piece, std::byte* out) { return pieces.read(piece, out); };
  work.work = [&](size_t piece, std::byte* values) -> Status {
    NEVE_TRY(pieces.for_each_run(piece, values, note_extremes));
    return pieces.for_each_stretch(piece, values, write);
  };
  return run_reading_ahead(work);
}

// Minima, then maxima of a box's components, of this rank's boxes of a level by number.
std::vector<double> packed_extremes(const LocalValues& owned, const BoxExtremes& extremes, int level) {
  std::vector<size_t> of_level;
  for (size_t i = 0; i < owned.size(); ++i) {
    if (owned[i].level == level) of_level.push_back(i);
  }
  std::sort(of_level.begin(), of_level.end(),
            [&](size_t a, size_t b) { return owned[a].box < owned[b].box; });
  std::vector<double> packed;
  for (const size_t i : of_level) {
    packed.insert(packed.end(), extremes[i].min.begin(), extremes[i].min.end());
    packed.insert(packed.end(), extremes[i].max.begin(), extremes[i].max.end());
  }
  return packed;
}

// What rank 0 has of all boxes of a level: packed extremes, rank by rank.
struct Gathered {
  std::vector<double> packed;
  std::vector<int> counts, starts;  // of each rank, in values
};

// Collective.
Status gather_extremes(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                       const BoxExtremes& extremes, const std::vector<int>& owner, int level, Gathered& all) {
  const size_t components = hierarchy.components.size();
  const size_t per_box = 2 * components;
  std::vector<double> mine;
  const Status prepared = guarded("place", [&]() -> Status {
    if (owner.size() * per_box > static_cast<size_t>(std::numeric_limits<int>::max())) {
      return usage_error("level " + std::to_string(level) + " has " + std::to_string(owner.size()) +
                         " boxes of " + std::to_string(components) + " fields; too many for one Cell_H");
    }
    mine = packed_extremes(owned, extremes, level);
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
BoxExtremes extremes_of(const Gathered& all, const std::vector<int>& owner, size_t components) {
  BoxExtremes extremes(owner.size());
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
                           const LocalValues& owned, const BoxExtremes& extremes, const Ownership& owners,
                           const Places& places) {
  for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
    const int l = static_cast<int>(level);
    Gathered gathered;
    NEVE_TRY(gather_extremes(comm, hierarchy, owned, extremes, owners[level], l, gathered));
    const Status written = guarded("write", [&]() -> Status {
      if (comm.rank() != 0) return {};
      const BoxExtremes of_boxes = extremes_of(gathered, owners[level], hierarchy.components.size());
      return write_text(fs::path(root) / plotfile::fab_array_header_path(l),
                        plotfile::fab_array_header_text(hierarchy, l, places[level], of_boxes));
    });
    NEVE_TRY(agree(comm, written));
  }
  return {};
}

Status write_whole(const Comm& comm, const std::string& path, const Hierarchy& hierarchy,
                   const LocalValues& owned, const ShowFraction& show) {
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
  BoxExtremes extremes;
  const Status written = guarded("write", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::write, comm.rank()));
    places = plotfile::plan_fabs(hierarchy, owners);
    extremes.resize(owned.size());
    FabFiles files(root, hierarchy, places);
    NEVE_TRY(owned.are_in_memory() ? write_fabs(files, hierarchy, owned, extremes)
                                   : write_read_fabs(files, hierarchy, owned, extremes, show));
    NEVE_TRY(files.finish_all());
    return injected_fault(Phase::sync, comm.rank());
  });
  NEVE_TRY(agree(comm, written));

  NEVE_TRY(write_level_headers(comm, root, hierarchy, owned, extremes, owners, places));
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
  return with_kept_comm(comm, path, [&](KeptComm& kept) {
    const std::span<const LocalBox> boxes(owned.data(), owned.size());
    return write_whole(kept.comm(), path, hierarchy, boxes, {});
  });
}

Status write_amrex_plotfile(MPI_Comm comm, const std::string& path, PlotfileSource& values,
                            const std::function<void(double fraction)>& progress) {
  return with_kept_comm(comm, path, [&](KeptComm& kept) -> Status {
    const Comm& own = kept.comm();
    const Hierarchy& hierarchy = values.hierarchy();
    const ShowFraction silent;
    std::vector<LocalBox> boxes;
    std::optional<LocalValues> owned;
    NEVE_TRY(agree(own, guarded("read", [&]() -> Status {
                     boxes = boxes_without_data(distribute_boxes(hierarchy, own.size()), own.rank());
                     owned.emplace(boxes, hierarchy, values);
                     values.expect_all();
                     return {};
                   })));
    return write_whole(own, path, hierarchy, *owned, own.rank() == 0 ? progress : silent);
  });
}

}  // namespace neve
