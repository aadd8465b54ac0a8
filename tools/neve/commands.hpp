// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of `neve`, each in the file of its name.
#pragma once

#include "tools/common/command.hpp"

namespace neve::cli {

Command add_convert(CLI::App& app);
Command add_verify(CLI::App& app);
Command add_info(CLI::App& app);
Command add_compress(CLI::App& app);
Command add_decompress(CLI::App& app);
Command add_choices(CLI::App& app);
Command add_plot(CLI::App& app);
Command add_export(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_study(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_trace(CLI::App& app);
Command add_mpi(CLI::App& app);

}  // namespace neve::cli
