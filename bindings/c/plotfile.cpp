// SPDX-License-Identifier: BSD-3-Clause
// neve/plotfile.h.
#include "neve/plotfile.h"

#include <memory>
#include <string>

#include "bindings/c/hierarchy.hpp"
#include "bindings/c/last_error.hpp"
#include "bindings/c/report.hpp"
#include "neve/options.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/kept_comm.hpp"

struct neve_plotfile_series {
  neve::WriteOptions options;
};

namespace {

using neve::Status;
using neve::usage_error;
using neve::capi::check_live;
using neve::capi::reported;
using neve::capi::WantedReport;

Status check_path(const char* path) {
  return path != nullptr ? Status() : usage_error("the path to write is NULL");
}

// `read_options()`: those of the write, or what is wrong with them.
template <class ReadOptions>
Status write(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
             const ReadOptions& read_options, neve_report** report) {
  WantedReport wanted(report);
  const neve::Hierarchy none;
  neve::WriteOptions options;
  std::string target;
  // What is wrong on one rank must not leave the others waiting.
  const Status given = neve::mpi::guarded("neve", [&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    NEVE_TRY(check_path(path));
    target = path;
    NEVE_ASSIGN(options, read_options());
    for (int d = hierarchy->description.dims; d < neve::max_dims; ++d) {
      options.ghosts[static_cast<size_t>(d)] = 0;
    }
    wanted.make();
    return {};
  });
  neve::Span<const neve::LocalBox> owned;
  if (given.ok()) owned = hierarchy->owned;
  return wanted.take(neve::write_plotfile_if(comm, given, target, given.ok() ? hierarchy->description : none,
                                             owned, options));
}

neve::Result<neve::WriteOptions> parse(const char* options) {
  return neve::parse_write_options(options == nullptr ? "" : options);
}

Status check_live(const neve_plotfile_series* series) {
  return series != nullptr ? Status() : usage_error("series is NULL");
}

Status create_series(const char* options, neve_plotfile_series** out) {
  if (out == nullptr) return usage_error("series is NULL");
  *out = nullptr;
  auto made = std::make_unique<neve_plotfile_series>();
  NEVE_ASSIGN(made->options, parse(options));
  made->options.memory = std::make_shared<neve::SelectionMemory>();
  *out = made.release();
  return {};
}

Status write_amrex(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy) {
  const auto check = [&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    return check_path(path);
  };
  NEVE_TRY(neve::mpi::with_kept_comm(
      comm, "neve", [&](neve::mpi::KeptComm& kept) { return neve::mpi::agree(kept.comm(), check()); }));
  return neve::write_amrex_plotfile(comm, path, hierarchy->description, hierarchy->owned);
}

}  // namespace

int neve_write_plotfile(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
                        const char* options) {
  return reported([&] {
    return write(
        comm, path, hierarchy, [&] { return parse(options); }, nullptr);
  });
}

int neve_write_plotfile_report(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
                               const char* options, neve_report** report) {
  return reported([&] {
    return write(
        comm, path, hierarchy, [&] { return parse(options); }, report);
  });
}

int neve_plotfile_series_create(const char* options, neve_plotfile_series** series) {
  return reported([&] { return create_series(options, series); });
}

void neve_plotfile_series_free(neve_plotfile_series* series) { delete series; }

int neve_plotfile_series_set_hint(neve_plotfile_series* series, const char* key, const char* value) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(series));
    if (key == nullptr || value == nullptr) {
      return usage_error(key == nullptr ? "the key of a hint is NULL" : "the value of a hint is NULL");
    }
    series->options.mpi_hints.insert_or_assign(key, value);
    return {};
  });
}

int neve_plotfile_series_write(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
                               neve_plotfile_series* series, neve_report** report) {
  const auto options = [&]() -> neve::Result<neve::WriteOptions> {
    NEVE_TRY(check_live(series));
    return series->options;
  };
  return reported([&] { return write(comm, path, hierarchy, options, report); });
}

int neve_write_amrex_plotfile(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy) {
  return reported([&] { return write_amrex(comm, path, hierarchy); });
}

int neve_wait_for_writes(MPI_Comm comm) {
  return reported([&] { return neve::wait_for_writes(comm); });
}

const char* neve_mpi_last_error(void) { return neve_last_error(); }
