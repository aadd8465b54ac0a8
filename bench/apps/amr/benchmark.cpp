// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/amr/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>

#include "bench/apps/amr/vtkhdf.hpp"
#include "bench/harness/check_range.hpp"
#include "bench/harness/timed.hpp"
#include "bench/harness/workplace.hpp"
#include "core/amr/load_balance.hpp"
#include "core/catalog/strategies.hpp"
#include "neve/plotfile_reader.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::amr_app {
namespace {

using apps::check_range;
using apps::timed;
using mpi::Comm;
using mpi::mpi_status;

Status check_case(const Case& c) {
  for (int blocks : c.mesh.blocks) NEVE_TRY(check_range("blocks", blocks, 1, 1024));
  NEVE_TRY(check_range("block-cells", c.mesh.block_cells, 2, 256));
  if (c.mesh.block_cells % 2 != 0) {
    return usage_error(fmt::format("block-cells is {}; even numbers are allowed", c.mesh.block_cells));
  }
  NEVE_TRY(check_range("levels", c.mesh.levels, 1, 10));
  NEVE_TRY(check_range("components", c.mesh.components, 1, 100));
  NEVE_TRY(check_range("steps", c.steps, 1, 1e6));
  NEVE_TRY(check_range("threshold", c.mesh.threshold, 0, 2));
  if (c.methods.empty()) return usage_error("no method is given; at least one is needed");
  if (!c.stage.empty() && std::ranges::none_of(c.methods, may_be_staged)) {
    return usage_error(
        "stage has no meaning with these methods; it is allowed with skeleton and amrex-1d and a codec: "
        "skeleton:auto");
  }
  return check_bound(c.bound);
}

std::string stem_of(const Method& method) {
  std::string stem = "neve_amr_" + method.name;
  std::replace(stem.begin(), stem.end(), ':', '-');
  return stem;
}

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options) : comm_(std::move(comm)), options_(options) {}

  Result<BenchmarkResult> run() {
    result_.methods.resize(options_.methods.size());
    result_.staged.resize(options_.methods.size());
    for (int step = options_.first_step; step < options_.first_step + options_.steps; ++step) {
      NEVE_TRY(run_step(step));
    }
    return result_;
  }

 private:
  struct Held {
    std::vector<std::vector<float>> values;
    std::vector<LocalBox> boxes;
  };

  Status run_step(int step) {
    std::unique_ptr<Mesh> mesh;
    Held held;
    std::vector<std::vector<int>> owner;
    NEVE_ASSIGN(const double seconds, timed(comm_, [&]() -> Status {
                  NEVE_ASSIGN(Mesh made, Mesh::make(comm_, options_.mesh, step));
                  mesh = std::make_unique<Mesh>(std::move(made));
                  return mpi::agree(comm_, mpi::guarded("making of values", [&]() -> Status {
                                      NEVE_ASSIGN(owner, distribute_boxes(mesh->hierarchy(), comm_.size(),
                                                                          {options_.distribution, {}}));
                                      make_boxes(*mesh, owner, held);
                                      return {};
                                    }));
                }));
    result_.make_seconds += seconds;
    describe(mesh->hierarchy(), owner);
    for (size_t w = 0; w < options_.methods.size(); ++w) {
      NEVE_TRY(store(*mesh, held, owner, options_.methods[w], step, result_.methods[w], result_.staged[w]));
    }
    return {};
  }

  void make_boxes(const Mesh& mesh, const std::vector<std::vector<int>>& owner, Held& held) const {
    const Hierarchy& h = mesh.hierarchy();
    for (size_t level = 0; level < h.levels.size(); ++level) {
      for (size_t b = 0; b < h.levels[level].boxes.size(); ++b) {
        if (owner[level][b] != comm_.rank()) continue;
        const Box& box = h.levels[level].boxes[b];
        const auto cells = static_cast<size_t>(box.cells());
        std::vector<float>& values = held.values.emplace_back(cells * h.components.size());
        for (size_t c = 0; c < h.components.size(); ++c) {
          mesh.fill(static_cast<int>(level), static_cast<int>(b), static_cast<int>(c),
                    values.data() + c * cells);
        }
        LocalBox local;
        local.level = static_cast<int>(level);
        local.box = static_cast<int>(b);
        local.data.data = values.data();
        local.data.component_stride = box.cells();
        local.data.stride[1] = box.size(0);
        local.data.stride[2] = box.size(0) * box.size(1);
        held.boxes.push_back(local);
      }
    }
  }

  void describe(const Hierarchy& h, const std::vector<std::vector<int>>& owner) {
    StepResult step;
    for (const Level& level : h.levels) step.blocks.push_back(level.boxes.size());
    step.max_over_mean = amr::balance_of_all(amr::cell_loads(h), owner, comm_.size()).max_over_mean();
    std::vector<IntVect> finest;
    for (const Box& box : h.levels.back().boxes) finest.push_back(box.lo);
    std::sort(finest.begin(), finest.end());
    if (!result_.steps.empty()) {
      std::vector<IntVect> added;
      std::set_difference(finest.begin(), finest.end(), finest_before_.begin(), finest_before_.end(),
                          std::back_inserter(added));
      step.changed = h.levels.size() == levels_before_
                         ? static_cast<double>(added.size()) / static_cast<double>(finest.size())
                         : 1;
    }
    finest_before_ = std::move(finest);
    levels_before_ = h.levels.size();
    result_.steps.push_back(std::move(step));
  }

  Status store(const Mesh& mesh, const Held& held, const std::vector<std::vector<int>>& owner,
               const Method& method, int step, apps::StoreResult& into,
               std::optional<BenchmarkResult::Staged>& staged) const {
    const std::string file = fmt::format("{}_{:06}.h5", stem_of(method), step);
    const std::string path = (std::filesystem::path(options_.store.folder) / file).string();
    WriteOptions write;
    write.compress = method.compress;
    write.strategy = method.strategy;
    write.codec = method.codec;
    write.encode.effort = options_.effort;
    write.bound = options_.bound;
    if (method.compress && method.strategy != "amrex-1d") write.covered = options_.covered;
    if (method.codec == Codec::lossless || method.codec == Codec::exact)
      write.bound = {BoundMode::lossless, 0};
    if (may_be_staged(method)) write.stage = options_.stage;
    WriteReport report;
    std::vector<double> compressing;
    double begin_seconds = 0;
    const auto prepare = [&]() -> Status {
      NEVE_TRY(wait_for_writes(comm_.get()));
      return apps::remove_file(comm_, path);
    };
    NEVE_ASSIGN(const apps::Seconds seconds, timed(comm_, options_.store.repeats, prepare, [&]() -> Status {
                  begin_seconds = MPI_Wtime();
                  NEVE_ASSIGN(report, write_plotfile(comm_.get(), path, mesh.hierarchy(), held.boxes, write));
                  compressing.push_back(report.encode_seconds);
                  return {};
                }));
    if (!write.stage.empty()) NEVE_TRY(wait_for_stage(path, begin_seconds, report, staged));
    into.name = method.name;
    into.container = method.strategy;
    into.compression = method.compress ? codec_name(method.codec) : "none";
    into.write += seconds;
    if (options_.store.phases) {
      into.compress_seconds = into.compress_seconds.value_or(0) + apps::median_of(compressing);
    }
    into.raw_bytes += report.raw_bytes;
    into.file_bytes += report.file_bytes;
    ++into.files;
    if (options_.store.verify) NEVE_TRY(verify(mesh, owner, method, path, report, into));
    if (!options_.store.keep) return apps::remove_file(comm_, path);
    return mpi::agree(comm_, mpi::guarded("VTKHDF", [&]() -> Status {
                        if (comm_.rank() != 0) return {};
                        const std::string beside =
                            std::filesystem::path(path).replace_extension(".vtkhdf").string();
                        return write_vtkhdf(beside, path, mesh.hierarchy());
                      }));
  }

  // Collective. What is known of a staged file only when it has its name.
  Status wait_for_stage(const std::string& path, double begin_seconds, WriteReport& report,
                        std::optional<BenchmarkResult::Staged>& staged) const {
    NEVE_TRY(wait_for_writes(comm_.get()));
    double seconds = MPI_Wtime() - begin_seconds;
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_.get()),
                        "merging of times"));
    std::error_code error;
    report.file_bytes = std::filesystem::file_size(path, error);
    NEVE_TRY(mpi::agree(comm_, error ? failure(path + ": " + error.message()) : Status()));
    if (!staged) staged.emplace();
    staged->published_seconds += seconds;
    staged->bytes += report.staged_bytes;
    return {};
  }

  // Every rank reads boxes that another wrote, where there is another, and computes them anew.
  Status verify(const Mesh& mesh, const std::vector<std::vector<int>>& owner, const Method& method,
                const std::string& path, const WriteReport& report, apps::StoreResult& into) const {
    const Hierarchy& h = mesh.hierarchy();
    std::vector<std::vector<float>> got;
    // A component at a time, as frames hold them: a reader remembers the section it decoded last.
    const auto each = [&](auto&& work) -> Status {
      for (size_t level = 0; level < h.levels.size(); ++level) {
        for (size_t c = 0; c < h.components.size(); ++c) {
          for (size_t b = 0; b < h.levels[level].boxes.size(); ++b) {
            if ((owner[level][b] + 1) % comm_.size() != comm_.rank()) continue;
            NEVE_TRY(work(level, b, c, static_cast<size_t>(h.levels[level].boxes[b].cells())));
          }
        }
      }
      return {};
    };
    const auto forget = [&] {
      got.clear();
      return Status();
    };
    NEVE_ASSIGN(const apps::Seconds seconds, timed(comm_, options_.store.repeats, forget, [&] {
                  return mpi::agree(comm_, mpi::guarded("reading", [&]() -> Status {
                                      NEVE_ASSIGN(const auto source, open_plotfile(path));
                                      NEVE_TRY(check_same(source->hierarchy(), h, path));
                                      return each([&](size_t level, size_t b, size_t c, size_t cells) {
                                        got.emplace_back(cells);
                                        return source->read_box(
                                            static_cast<int>(level), static_cast<int>(b), static_cast<int>(c),
                                            reinterpret_cast<std::byte*>(got.back().data()));
                                      });
                                    }));
                }));
    into.read += seconds;
    std::array<uint64_t, 2> counts = {0, 0};
    double largest = 0;
    size_t next = 0;
    std::vector<float> wanted;
    NEVE_TRY(each([&](size_t level, size_t b, size_t c, size_t cells) {
      wanted.resize(cells);
      mesh.fill(static_cast<int>(level), static_cast<int>(b), static_cast<int>(c), wanted.data());
      const double bound = method.compress ? report.levels[level].fields[c].bound_abs : 0;
      const std::vector<float>& found = got[next++];
      for (size_t i = 0; i < cells; ++i) {
        if (std::memcmp(&wanted[i], &found[i], sizeof(float)) == 0) continue;
        const double error = std::abs(static_cast<double>(wanted[i]) - static_cast<double>(found[i]));
        largest = std::max(largest, error);
        if (bound == 0 || !(error <= bound)) ++counts[1];
      }
      counts[0] += cells;
      return Status();
    }));
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_UINT64_T, MPI_SUM, comm_.get()),
                        "merging of what was verified"));
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, comm_.get()),
                        "merging of errors"));
    into.verified_values += counts[0];
    into.wrong_values += counts[1];
    into.max_abs_error = std::max(into.max_abs_error, largest);
    return {};
  }

  static Status check_same(const Hierarchy& found, const Hierarchy& wanted, const std::string& path) {
    bool same = found.levels.size() == wanted.levels.size() && found.components == wanted.components;
    for (size_t l = 0; same && l < wanted.levels.size(); ++l) {
      same = found.levels[l].boxes == wanted.levels[l].boxes;
    }
    return same ? Status() : corrupt(path + ": not the mesh that was written");
  }

  Comm comm_;
  const Case& options_;
  std::vector<IntVect> finest_before_;
  size_t levels_before_ = 0;
  BenchmarkResult result_;
};

}  // namespace

Result<Method> parse_method(const std::string& name) {
  Method method;
  method.name = name;
  const size_t colon = name.find(':');
  method.strategy = name.substr(0, colon);
  if (std::none_of(strategy_rows.begin(), strategy_rows.end(),
                   [&](const StrategyRow& row) { return row.name == method.strategy; })) {
    return usage_error(
        fmt::format("method '{}': unknown strategy '{}'; allowed: {}, with a codec behind a colon: "
                    "skeleton:auto",
                    name, method.strategy, joined(strategy_rows)));
  }
  if (colon == std::string::npos) return method;
  method.compress = true;
  NEVE_ASSIGN(method.codec, parse_codec(name.substr(colon + 1)));
  return method;
}

bool may_be_staged(const Method& method) {
  WriteOptions options;
  options.compress = method.compress;
  options.strategy = method.strategy;
  options.stage = ".";
  return check_behind(options).ok();
}

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  NEVE_TRY(apps::check_options(options.store));
  std::vector<std::string> names;
  for (const Method& method : options.methods) names.push_back(stem_of(method) + "_");
  return apps::run_in_own_folder<Benchmark>(comm, options, names,
                                            [](Case& of) -> apps::StoreOptions& { return of.store; });
}

}  // namespace neve::amr_app
