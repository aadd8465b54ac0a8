// SPDX-License-Identifier: BSD-3-Clause
// `neve bench`: the codec table, the write table, the rate-distortion study, and the mini-apps.
#include "tools/neve/bench_amr.hpp"
#include "tools/neve/bench_cartiso.hpp"
#include "tools/neve/bench_chombo.hpp"
#include "tools/neve/bench_disk.hpp"
#include "tools/neve/bench_ensemble.hpp"
#include "tools/neve/bench_mpi.hpp"
#include "tools/neve/bench_noise.hpp"
#include "tools/neve/bench_struct.hpp"
#include "tools/neve/bench_unstruct.hpp"
#include "tools/neve/command.hpp"
#include "tools/neve/python.hpp"

#include <cstdlib>
#include <string>

namespace neve::cli {

Command add_bench(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "bench", "Measure codecs and writing against their peers; rate-distortion study of a file");
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  sub->require_subcommand(0, 1);
  Command command{sub, {}, {}};
  command.below.push_back(add_bench_chombo(*sub));
  command.below.push_back(add_bench_ensemble(*sub));
  command.below.push_back(add_bench_mpi(*sub));
  command.below.push_back(add_bench_noise(*sub));
  command.below.push_back(add_bench_disk(*sub));
  command.below.push_back(add_bench_struct(*sub));
  command.below.push_back(add_bench_cartiso(*sub));
  command.below.push_back(add_bench_amr(*sub));
  command.below.push_back(add_bench_unstruct(*sub));
  command.local = [sub] {
    std::string names;
    for (const CLI::App* own : sub->get_subcommands([](const CLI::App*) { return true; })) {
      names += (names.empty() ? "" : ",") + own->get_name();
    }
    setenv("NEVE_MINI_APPS", names.c_str(), 1);  // for its help
    return exec_module("neve.bench", sub->remaining());
  };
  return command;
}

}  // namespace neve::cli
