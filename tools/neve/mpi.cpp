// SPDX-License-Identifier: BSD-3-Clause
// `neve mpi`: `run`, a program whose gathers and files become frames.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/options/slots.hpp"
#include "neve/types.hpp"
#include "parallel/transfer/said_values.hpp"
#include "tools/common/console.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/launch.hpp"
#include "tools/common/option_flags.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/mpi_cat.hpp"

namespace neve::cli {
namespace {

struct Args {
  OptionFlags flags;  // of the table of options
  std::vector<std::string> calls, files, layer, words;
  std::string min_bytes = "65536";
  bool always = false, report = false;
};

std::string joined(const std::vector<std::string>& words, char separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(1, separator)) + word;
  return text;
}

// Without a bound nothing is compressed: frame files are read, whatever their names are.
Status check_options(const CLI::App& command, const Args& args) {
  const bool compresses = args.flags.is_given("bound");
  const bool makes_files =
      args.calls.empty() || std::find(args.calls.begin(), args.calls.end(), "file") != args.calls.end();
  const std::string why_not = "without --bound: nothing is compressed";
  for (const options::Option& option : options::table()) {
    if (compresses || option.key == "threads" || !args.flags.is_given(option.key)) continue;
    return usage_error(fmt::format("--{} has no meaning {}", options::dashed(option.key), why_not));
  }
  return refuse_idle(command, {{"--calls", compresses, why_not},
                               {"--files", compresses, why_not},
                               {"--files", makes_files, "with --calls that are not file"},
                               {"--min-bytes", compresses, why_not},
                               {"--layer", compresses, why_not},
                               {"--always", compresses, why_not}});
}

// That the program would understand what it is told, and that none of it does nothing.
Status check_values(const Args& args) {
  options::ArraySlots slots;
  options::Slots of_values = slots.slots();
  of_values.bound_use = BoundUse::array;
  NEVE_TRY(args.flags.read(of_values));
  const ArrayOptions values = slots.take();
  NEVE_TRY(check_tuning(values.tuning));
  if (values.bound.mode != BoundMode::ratio) NEVE_TRY(check_bound(values.bound).in("--bound"));
  for (const std::string& call : args.calls) {
    if (values.bound.mode != BoundMode::ratio || call == "gather" || call == "file") continue;
    return usage_error(fmt::format("--bound is {}, which is for gathers and files; --calls holds {}",
                                   to_string(values.bound), call));
  }
  uint64_t min_bytes = 0;
  NEVE_TRY(mpi::read_min_bytes("--min-bytes", args.min_bytes, min_bytes));
  std::vector<uint64_t> layer;
  NEVE_TRY(mpi::read_layer("--layer", args.layer, layer));
  return refuse_idle_codec_options(args.flags.asked(), options::codec_uses(values));
}

Result<int> mpi_run(const CLI::App& command, const Args& args) {
  NEVE_TRY(check_options(command, args));
  NEVE_TRY(check_values(args));
  NEVE_ASSIGN(const std::string library, find_preload("libneve_pmpi.so", "NEVE_MPI_LIBRARY"));
  Variables variables = {{"LD_PRELOAD", library}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) variables.emplace_back(name, value);
  };
  for (const options::Option& option : options::table()) {
    add(options::variable_of(option).c_str(), args.flags.text(option.key));
  }
  if (args.flags.is_given("bound")) add("NEVE_MPI_MIN_BYTES", args.min_bytes);
  add("NEVE_MPI_CALLS", joined(args.calls, ','));
  add("NEVE_MPI_FILES", joined(args.files, ':'));
  add("NEVE_MPI_LAYER", joined(args.layer, ','));
  add("NEVE_MPI_ALWAYS", args.always ? "1" : "");
  add("NEVE_MPI_REPORT", args.report ? "1" : "");
  return run_to_end(with_variables(args.words, variables));
}

}  // namespace

Command add_mpi(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "mpi", "Compress the collective calls and MPI-IO files of unmodified programs, and read the files");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  neve mpi run --bound rel=1e-3 -- mpirun -n 4 ./simulation    its values move and lie as frames\n"
      "  neve mpi run -- mpirun -n 2 ./analysis                       reads frames that others wrote\n"
      "  neve mpi cat density.neve -o density.raw                     the file as it would have been "
      "written\n"
      "  neve mpi run --help");
  CLI::App* run = sub->add_subcommand("run",
                                      "Run an unmodified MPI program; its collective calls and files of "
                                      "floating-point values are compressed into frames");
  auto args = std::make_shared<Args>();
  static options::ArraySlots defaults;
  args->flags.add(*run, for_targets(options::transfer), defaults.slots());
  args->flags.describe("bound",
                       "abs=X, rel=X, lossless or ratio=X; without it nothing is compressed, and frame files "
                       "are read");
  run->get_option("--bound")->default_str("");
  run->add_option("--calls", args->calls,
                  "which calls are compressed: gather, allgather, alltoall, bcast, scatter, file (all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"gather", "allgather", "alltoall", "bcast", "scatter", "file"}));
  run->add_option(
         "--files", args->files,
         "only files that match this shell pattern; it is compared with the absolute path or, where it does "
         "not begin with /, also with its end from the name of a folder or file on; repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  run->add_option(
         "--min-bytes", args->min_bytes,
         "calls of fewer bytes from or to a rank are not compressed, and files not before a write of "
         "so many")
      ->type_name("N")
      ->capture_default_str();
  run->add_option("--layer", args->layer,
                  "size of the layers in which values of a line lie, slowest first: 256,256")
      ->type_name("N")
      ->delimiter(',')
      ->allow_extra_args(false);
  run->add_flag(
      "--always", args->always,
      "compress also where that is slower than MPI; without it, calls and files are compressed where "
      "measurements say that it pays");
  run->add_flag("--report", args->report, "print at the end what was compressed");
  run->add_option("command", args->words, "the program and its arguments, after --")->required();
  run->footer(
      "Files may be written by any views, types and calls; what is no float or double is kept as it is, in "
      "the\n"
      "same file. Calls and files that frames cannot serve are reported and passed to MPI unchanged. The "
      "exit\n"
      "code is the program's. docs/mpi.md lists the calls, and the variables for job scripts.\n"
      "Examples:\n"
      "  neve mpi run --bound rel=1e-3 -- mpirun -n 4 ./simulation\n"
      "  neve mpi run --bound abs=0.01 --calls file --files '*/density.*' -- mpirun -n 4 ./simulation\n"
      "  neve mpi run --bound ratio=10 --report -- mpirun -n 4 ./simulation\n"
      "  neve mpi run --bound rel=1e-3 --always -- mpirun -n 2 ./simulation    # smaller files where the "
      "disk "
      "is fast, too\n"
      "  neve mpi run -- mpirun -n 2 ./analysis            # reads what the simulation wrote");
  Command command{sub, {}, {}};
  const MpiCat cat = add_mpi_cat(*sub);
  command.local = [args, run, cat] {
    if (cat.app->parsed()) return cat.work();
    auto exit_code = mpi_run(*run, *args);
    if (exit_code.ok()) return *exit_code;
    say("mpi run", exit_code.status().message());
    return static_cast<int>(exit_code.status().code());
  };
  return command;
}

}  // namespace neve::cli
