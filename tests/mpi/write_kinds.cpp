// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/write_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "neve/checkpoint.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/transfer.h"
#include "tests/mpi/c_status.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::test {
namespace {

using Phases = std::vector<std::string>;

Hierarchy hierarchy_of(int version) {
  Hierarchy hierarchy = make_hierarchy({.levels = 2});
  hierarchy.time = version;
  return hierarchy;
}

// `write`, and what it leaves behind.
Status waited_for(const Status& write) {
  const Status waited = wait_for_writes(MPI_COMM_WORLD);
  return write.ok() ? waited : write;
}

Status write_plot(const std::string& path, int version, const std::string& strategy, bool compresses,
                  Behind behind = Behind::none, const std::string& stage = {}) {
  const Hierarchy hierarchy = hierarchy_of(version);
  const OwnedBoxes owned(hierarchy, distribute_boxes(hierarchy, world_size()), world_rank());
  WriteOptions options;
  options.stage = stage;
  options.strategy = strategy;
  options.compress = compresses;
  options.covered = Covered::keep;
  options.behind = behind;
  const Status written = write_plotfile(MPI_COMM_WORLD, path, hierarchy, owned.boxes(), options).status();
  return behind == Behind::none ? written : waited_for(written);
}

Status write_folder(const std::string& path, int version) {
  const Hierarchy hierarchy = hierarchy_of(version);
  const OwnedBoxes owned(hierarchy, distribute_boxes(hierarchy, world_size()), world_rank());
  return write_amrex_plotfile(MPI_COMM_WORLD, path, hierarchy, owned.boxes());
}

Status write_state(const std::string& path, int version, const std::string& strategy, bool compresses,
                   Behind behind = Behind::none, const std::string& stage = {}) {
  const Hierarchy hierarchy = hierarchy_of(version);
  const OwnedBoxes owned(hierarchy, distribute_boxes(hierarchy, world_size()), world_rank());
  Variable variable;
  variable.name = "state";
  variable.components = hierarchy.components;
  variable.compress = compresses;
  if (compresses) variable.bound = {BoundMode::rel, 1e-3};
  WriteOptions options;
  options.stage = stage;
  options.strategy = strategy;
  options.behind = behind;
  const std::vector<std::vector<LocalBox>> boxes = {owned.boxes()};
  const Status written =
      write_checkpoint(MPI_COMM_WORLD, path, hierarchy, std::span(&variable, 1), boxes, options).status();
  return behind == Behind::none ? written : waited_for(written);
}

// The same of values that are read meanwhile.
Status write_read_plot(const std::string& path, int version, const std::string& strategy, bool compresses) {
  GeneratedSource source(hierarchy_of(version));
  WriteOptions options;
  options.strategy = strategy;
  options.compress = compresses;
  return write_plotfile(MPI_COMM_WORLD, path, source.hierarchy(), source, options).status();
}

Status write_read_folder(const std::string& path, int version) {
  GeneratedSource source(hierarchy_of(version));
  return write_amrex_plotfile(MPI_COMM_WORLD, path, source);
}

Status write_read_state(const std::string& path, int version) {
  GeneratedSource source(hierarchy_of(version));
  Variable variable;
  variable.name = "state";
  variable.components = source.hierarchy().components;
  variable.bound = {BoundMode::rel, 1e-3};
  PlotfileSource* const sources[] = {&source};
  return write_checkpoint(MPI_COMM_WORLD, path, source.hierarchy(), std::span(&variable, 1), sources, {})
      .status();
}

// Several blocks of each rank, and frames of more than a page.
constexpr uint64_t count = 12000;
std::vector<double> values_of(int version) {
  std::vector<double> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t noise = i * 2654435761u % 4294967296u;
    values[i] =
        version + std::sin(0.01 * static_cast<double>(i)) + 0.2 * static_cast<double>(noise) / 4294967296.0;
  }
  return values;
}
neve_mpi_options small_blocks() {
  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
  options.block_bytes = 32768;
  return options;
}

Status write_frames(const std::string& path, int version, int mode, bool is_collective) {
  const std::vector<double> values = values_of(version);
  const neve_mpi_options options = small_blocks();
  neve_mpi_file* file = nullptr;
  NEVE_TRY(status_of(neve_mpi_file_open(MPI_COMM_WORLD, path.c_str(), mode, &file)));
  const uint64_t first = static_cast<uint64_t>(world_rank()) * count;
  const auto write = is_collective ? neve_mpi_file_write_at_all : neve_mpi_file_write_at;
  const Status written =
      status_of(write(file, first, values.data(), count, MPI_DOUBLE, "rel=1e-3", &options));
  const Status closed = status_of(neve_mpi_file_close(&file));
  // A write of one rank fails on that rank alone; closing says so on all.
  return is_collective && !written.ok() ? written : closed;
}

Status gather_values(int version) {
  const std::vector<double> values = values_of(version);
  std::vector<double> all(count * static_cast<size_t>(world_size()));
  const neve_mpi_options options = small_blocks();
  return status_of(
      neve_mpi_gather(values.data(), count, MPI_DOUBLE, all.data(), 0, MPI_COMM_WORLD, "rel=1e-3", &options));
}

Status move_values(const char* name, int version) {
  const std::string_view call = name;
  std::vector<double> all(count * static_cast<size_t>(world_size()));
  std::vector<double> values = values_of(version), sent;
  for (int rank = 0; rank < world_size(); ++rank) sent.insert(sent.end(), values.begin(), values.end());
  const neve_mpi_options options = small_blocks();
  const MPI_Comm comm = MPI_COMM_WORLD;
  const char* const bound = "rel=1e-3";
  if (call == "allgather") {
    return status_of(neve_mpi_allgather(values.data(), count, MPI_DOUBLE, all.data(), comm, bound, &options));
  }
  if (call == "alltoall") {
    return status_of(neve_mpi_alltoall(sent.data(), count, MPI_DOUBLE, all.data(), comm, bound, &options));
  }
  if (call == "scatter") {
    return status_of(neve_mpi_scatter(sent.data(), count, MPI_DOUBLE, all.data(), 0, comm, bound, &options));
  }
  return status_of(neve_mpi_bcast(values.data(), count, MPI_DOUBLE, 0, comm, bound, &options));
}

std::function<Phases(int, int)> always(Phases phases) {
  return [phases = std::move(phases)](int, int) { return phases; };
}

std::vector<WriteKind> make_kinds() {
  const Phases compressed = {"range", "plan", "encode", "place", "skeleton", "write", "sync", "rename"};
  const Phases plain = {"plan", "place", "skeleton", "write", "sync", "rename"};
  std::vector<WriteKind> kinds;
  for (const char* strategy :
       {"skeleton", "filtered", "aggregated", "collective", "independent", "amrex-1d"}) {
    kinds.push_back(
        {std::string("plot_") + strategy, always(compressed),
         [=](const std::string& path, int version) { return write_plot(path, version, strategy, true); }});
  }
  for (const bool is_staged : {false, true}) {
    for (const Behind behind : {Behind::encode, Behind::copy}) {
      const std::string name = std::string(is_staged ? "_staged_" : "_behind_") + behind_name(behind);
      const std::string stage = is_staged ? std::filesystem::temp_directory_path().string() : "";
      const auto phases = [=](int rank, int) {  // the others have nothing to do when it gets its name
        Phases of_rank = compressed;
        if (is_staged) of_rank.insert(std::ranges::find(of_rank, "write"), "drain");
        if (rank != 0) of_rank.pop_back();
        return of_rank;
      };
      kinds.push_back({"plot" + name, phases, [=](const std::string& path, int version) {
                         return write_plot(path, version, "skeleton", true, behind, stage);
                       }});
      kinds.push_back({"checkpoint" + name, phases, [=](const std::string& path, int version) {
                         return write_state(path, version, "skeleton", true, behind, stage);
                       }});
    }
  }
  for (const char* strategy : {"skeleton", "aggregated", "collective", "independent"}) {
    kinds.push_back(
        {std::string("plain_") + strategy, always(plain),
         [=](const std::string& path, int version) { return write_plot(path, version, strategy, false); }});
    kinds.push_back(
        {std::string("checkpoint_") + strategy, always(compressed),
         [=](const std::string& path, int version) { return write_state(path, version, strategy, true); }});
    kinds.push_back(
        {std::string("plain_checkpoint_") + strategy,
         always({"place", "skeleton", "write", "sync", "rename"}),
         [=](const std::string& path, int version) { return write_state(path, version, strategy, false); }});
  }
  for (const char* strategy : {"skeleton", "independent"}) {
    kinds.push_back(
        {std::string("read_plot_") + strategy, always(compressed), [=](const std::string& path, int version) {
           return write_read_plot(path, version, strategy, true);
         }});
    kinds.push_back(
        {std::string("read_plain_") + strategy, always(plain), [=](const std::string& path, int version) {
           return write_read_plot(path, version, strategy, false);
         }});
  }
  kinds.push_back({"read_checkpoint", always(compressed), write_read_state});
  kinds.push_back({"read_amrex_folder", always({"write", "sync", "rename"}), write_read_folder});
  kinds.push_back({"amrex_folder", always({"write", "sync", "rename"}), write_folder});
  kinds.push_back({"frames_of_all", always(compressed), [](const std::string& path, int version) {
                     return write_frames(path, version, NEVE_MPI_FILE_CREATE, true);
                   }});
  kinds.push_back({"frames_of_single_ranks",
                   always({"encode", "place", "write", "skeleton", "sync", "rename"}),
                   [](const std::string& path, int version) {
                     return write_frames(path, version, NEVE_MPI_FILE_CREATE, false);
                   }});
  kinds.push_back({"frames_added", always({"range", "plan", "encode", "place", "write", "skeleton", "sync"}),
                   [](const std::string& path, int version) {
                     const bool is_there = std::filesystem::exists(path);
                     barrier();
                     return write_frames(path, version,
                                         is_there ? NEVE_MPI_FILE_UPDATE : NEVE_MPI_FILE_CREATE, true);
                   },
                   true, true});
  kinds.push_back(
      {"gather",
       [](int rank, int) {  // root encodes nothing
         return rank == 0 ? Phases{"range", "plan", "send"} : Phases{"range", "plan", "encode", "send"};
       },
       [](const std::string&, int version) { return gather_values(version); }, false});
  for (const char* name : {"allgather", "alltoall", "bcast", "scatter"}) {
    const bool is_of_root = name == std::string_view("bcast") || name == std::string_view("scatter");
    const auto phases = [=](int rank,
                            int ranks) {  // a rank alone encodes nothing, nor do those that only receive
      const bool encodes = ranks > 1 && (!is_of_root || rank == 0);
      return encodes ? Phases{"range", "plan", "encode", "send"} : Phases{"range", "plan"};
    };
    kinds.push_back(
        {name, phases, [=](const std::string&, int version) { return move_values(name, version); }, false});
  }
  return kinds;
}

}  // namespace

const std::vector<WriteKind>& write_kinds() {
  static const std::vector<WriteKind> kinds = make_kinds();
  return kinds;
}

std::string contents(const std::string& path) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(path)) return read_file(path);
  if (!fs::is_directory(path)) return {};
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += name + '\n' + read_file(name);
  return all;
}

bool is_kept(const WriteKind& kind, const std::string& before, const std::string& now) {
  return kind.adds_to_file ? now.starts_with(before) : now == before;
}

}  // namespace neve::test
