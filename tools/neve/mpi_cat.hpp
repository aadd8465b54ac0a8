// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace neve::cli {

// `neve mpi cat`: a subcommand, and what runs it to an exit code.
struct MpiCat {
  CLI::App* app = nullptr;
  std::function<int()> work;
};
MpiCat add_mpi_cat(CLI::App& mpi);

}  // namespace neve::cli
