// SPDX-License-Identifier: BSD-3-Clause
// The options of `neve plan`, and which of them are allowed beside each other.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/io_model/mpi_io.hpp"
#include "core/io_model/predict.hpp"
#include "neve/plotfile_reader.hpp"
#include "neve/status.hpp"
#include "tools/common/options.hpp"

namespace neve::cli::plan {

// Of one rank, bound rel=1e-3, effort fast (bench/results/write.md).
inline constexpr double default_codec_megabytes = 700;

struct Args {
  std::string plotfile, chombo;
  bool ice = false;
  std::vector<std::string> boxes;
  int ranks = 0, box_cells = 0, components = 0, ghosts = -1, aggregate_boxes = 0;
  bool checkpoint = false;
  std::string distribution = "chombo";
  std::string mpi_io_name = "lustre";
  io_model::MpiIo mpi_io = io_model::MpiIo::lustre;  // of that name, once options are checked
  LayoutArgs layout_options;
  FileLayout layout;  // as given, once options are checked
  std::string system = "edison";
  int targets = 0, ranks_per_node = 0;
  std::optional<int> metadata_writes;
  double target_gigabytes = 0, node_gigabytes = 0;
  double request_ms = -1, lock_ms = -1, call_ms = -1, rank_us = -1;
  double ratio = 0, codec_megabytes = default_codec_megabytes;
  std::string chunk_size = "8MiB";
  OpenOptions open;
  bool bins = false, json = false;
  std::string sweep, plot;

  bool is_grid() const { return ice || !chombo.empty(); }
  bool is_striped() const { return mpi_io == io_model::MpiIo::lustre; }
};

void add_options(CLI::App& command, Args& args);

// Sets what is marked above, and refuses what has no effect, no meaning or no end.
Status check(const CLI::App& command, Args& args);

// That of the name given, with the numbers given over it.
Result<io_model::FileSystem> system_of(const Args& args);

}  // namespace neve::cli::plan
