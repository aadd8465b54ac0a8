// SPDX-License-Identifier: BSD-3-Clause
// The `neve-bench` command, which `neve bench` starts: mini-apps, benchmarks against peers, studies.
#include "bench/command/amr.hpp"
#include "bench/command/cartiso.hpp"
#include "bench/command/chombo.hpp"
#include "bench/command/disk.hpp"
#include "bench/command/ensemble.hpp"
#include "bench/command/layouts.hpp"
#include "bench/command/model.hpp"
#include "bench/command/mpi.hpp"
#include "bench/command/noise.hpp"
#include "bench/command/python_benches.hpp"
#include "bench/command/series.hpp"
#include "bench/command/struct.hpp"
#include "bench/command/unstruct.hpp"
#include "tools/common/run_commands.hpp"

int main(int argc, char** argv) {
  using namespace neve::cli;
  CLI::App app("Measure Neve against its peers, and mini-apps that write like simulations.", "neve bench");
  app.set_version_flag("--version", "neve-bench " NEVE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  neve bench codecs --only reference turbulence --json codecs.json\n"
      "  mpirun -n 4 neve bench struct --valid 0.65\n"
      "  neve bench NAME --help");
  std::vector<Command> commands = {
      add_bench_struct(app), add_bench_cartiso(app),  add_bench_amr(app),     add_bench_unstruct(app),
      add_bench_chombo(app), add_bench_ensemble(app), add_bench_layouts(app), add_bench_mpi(app),
      add_bench_disk(app),   add_bench_noise(app),    add_bench_model(app),   add_bench_series(app),
  };
  for (Command& command : add_python_benches(app)) commands.push_back(std::move(command));
  return run_commands(app, commands, argc, argv);
}
