// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "bench/apps/layouts/input.hpp"
#include "bench/apps/layouts/read_back.hpp"
#include "bench/apps/layouts/unit.hpp"
#include "bench/apps/layouts/write_way.hpp"
#include "bench/harness/check_range.hpp"
#include "bench/harness/output/output.hpp"
#include "bench/harness/timed.hpp"
#include "bench/harness/workplace.hpp"
#include "io/files/write.hpp"
#include "parallel/file/space.hpp"

namespace neve::layouts {
namespace {

using apps::check_range;
using mpi::Comm;

Status check_case(const Case& c) {
  NEVE_TRY(check_ways(c.ways));
  NEVE_TRY(check_bound({BoundMode::rel, c.rel}).in("--rel"));
  NEVE_TRY(check_range("copies", c.copies, 1, max_copies));
  return check_range("repeats", c.repeats, 1, max_repeats);
}

std::string file_name(const Way& way) {
  std::string name = fmt::format("neve_layouts_{}.h5", way.text);
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

// One write's, of the slowest rank.
struct Run {
  Seconds seconds;
  double call = 0;
};

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options, Input& input)
      : comm_(std::move(comm)), options_(options), input_(input) {}

  Result<BenchmarkResult> run() {
    NEVE_TRY(mpi::guarded_alike(comm_, "begin", [&]() -> Status {
      how_ = {{BoundMode::rel, options_.rel}, fitting_unit(input_.hierarchy)};
      result_.unit_cells = how_.unit_cells;
      result_.raw_bytes = input_.raw_bytes();
      for (const Way& way : options_.ways) result_.rows.emplace_back().way = way.text;
      runs_.resize(options_.ways.size());
      return {};
    }));
    // The ways take turns, so that a disturbance of the machine meets all of them.
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      for (size_t w = 0; w < options_.ways.size(); ++w) {
        tell(repeat, w);
        if (result_.rows[w].error.ok()) result_.rows[w].error = write(repeat, w);
        const bool is_kept = options_.keep && repeat + 1 == options_.repeats && result_.rows[w].error.ok();
        if (!is_kept) NEVE_TRY(apps::remove_file(comm_, path_of(w)));
      }
    }
    for (size_t w = 0; w < options_.ways.size(); ++w) {
      if (result_.rows[w].error.ok()) summarise(runs_[w], result_.rows[w]);
    }
    return result_;
  }

 private:
  void tell(int repeat, size_t way) const {
    if (comm_.rank() != 0 || !options_.progress) return;
    const size_t ways = options_.ways.size();
    const auto done = static_cast<double>(static_cast<size_t>(repeat) * ways + way);
    options_.progress(options_.ways[way].text,
                      done / (static_cast<double>(options_.repeats) * static_cast<double>(ways)));
  }

  std::string path_of(size_t way) const {
    return (std::filesystem::path(options_.folder) / file_name(options_.ways[way])).string();
  }

  // Collective.
  Status write(int repeat, size_t w) {
    const Way& way = options_.ways[w];
    const std::string path = path_of(w);
    if (way.is_written_by_hdf5()) NEVE_TRY(take_room(way, path));
    Written written;
    NEVE_ASSIGN(const double total, apps::timed(comm_, [&]() -> Status {
                  NEVE_ASSIGN(written, write_way(comm_, way, input_, how_, path));
                  return {};
                }));
    const Stages& stages = written.seconds;
    const double rest = std::max(0.0, total - stages.prepare - stages.encode - stages.sync);
    runs_[w].push_back(
        {{stages.prepare, stages.encode, rest, stages.sync, total}, way.is_behind ? stages.call : total});
    if (repeat > 0) return {};
    Row& row = result_.rows[w];
    row.datasets = written.datasets.size();
    row.filter_calls = written.filter_calls;
    NEVE_TRY(measure_file(path, written, row));
    return options_.verify ? verify(path, way, written, row) : Status();
  }

  // Collective. Whether there is room for the file, found out before all ranks are inside HDF5, which waits
  // for ever, or crashes, where it meets a full disk there. Frames may take a little more than their values,
  // and each small chunk takes a header and an entry of HDF5's index.
  Status take_room(const Way& way, const std::string& path) const {
    constexpr uint64_t structure_bytes = uint64_t{1} << 20, bytes_beside_chunk = 256;
    const uint64_t values = result_.raw_bytes / input_.value_bytes();
    const uint64_t chunks = way.chunk_elements == 0 ? 0 : values / way.chunk_elements;
    const uint64_t most_bytes =
        result_.raw_bytes + result_.raw_bytes / 8 + chunks * bytes_beside_chunk + structure_bytes;
    const Status mine = mpi::guarded("room", [&]() -> Status {
      if (comm_.rank() != 0) return {};
      NEVE_TRY(files::create_file(path).status());
      return mpi::reserve_space(path, most_bytes);
    });
    NEVE_TRY(mpi::agree(comm_, mine));
    return apps::remove_file(comm_, path);
  }

  // Collective. As rank 0 sees the file.
  Status measure_file(const std::string& path, const Written& written, Row& row) const {
    std::array<uint64_t, 2> bytes = {0, 0};
    NEVE_TRY(mpi::agree(comm_, mpi::guarded("size", [&]() -> Status {
                          if (comm_.rank() != 0) return {};
                          std::error_code error;
                          bytes[0] = std::filesystem::file_size(path, error);
                          if (error) return failure(path + ": " + error.message());
                          NEVE_ASSIGN(bytes[1], dataset_bytes(path, written));
                          return {};
                        })));
    NEVE_TRY(mpi::mpi_status(MPI_Bcast(bytes.data(), 2, MPI_UINT64_T, 0, comm_.get()), "sizes of a file"));
    row.stored_bytes = bytes[0];
    row.dataset_bytes = bytes[1];
    return {};
  }

  // Collective.
  Status verify(const std::string& path, const Way& way, const Written& written, Row& row) const {
    Compared mine;
    NEVE_TRY(mpi::agree(comm_, mpi::guarded("reading back", [&]() -> Status {
                          NEVE_ASSIGN(mine, read_back(path, way, input_, written));
                          return {};
                        })));
    std::array<uint64_t, 2> counts = {mine.values, mine.violations};
    NEVE_TRY(
        mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_UINT64_T, MPI_SUM, comm_.get()),
                        "merging of what was compared"));
    row.compared = counts[0];
    row.violations = counts[1];
    return {};
  }

  static void summarise(std::vector<Run> runs, Row& row) {
    std::sort(runs.begin(), runs.end(),
              [](const Run& a, const Run& b) { return a.seconds.total < b.seconds.total; });
    const Run& middle = runs[(runs.size() - 1) / 2];
    row.seconds = middle.seconds;
    row.call_seconds = middle.call;
    row.least_seconds = runs.front().seconds.total;
    row.most_seconds = runs.back().seconds.total;
  }

  Comm comm_;
  const Case& options_;
  Input& input_;
  WriteCase how_;
  std::vector<std::vector<Run>> runs_;  // by way
  BenchmarkResult result_;
};

}  // namespace

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  NEVE_ASSIGN(const Comm all, Comm::duplicate(comm));
  NEVE_ASSIGN(Input input, load(all, options.file, options.fields, options.copies));
  std::vector<std::string> names;
  for (const Way& way : options.ways) names.push_back(file_name(way));
  return apps::in_own_folder(all, options.folder, options.keep, names,
                             [&](const std::string& path) -> Result<BenchmarkResult> {
                               Case placed = options;
                               placed.folder = path;
                               NEVE_ASSIGN(Comm own, Comm::duplicate(comm));
                               return Benchmark(std::move(own), placed, input).run();
                             });
}

}  // namespace neve::layouts
