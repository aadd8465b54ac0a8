// SPDX-License-Identifier: BSD-3-Clause
// `neve decompress`: a compressed array back into .npy.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/array_file.hpp"
#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "neve/frame.hpp"

namespace neve::cli {
namespace {

struct Args {
  std::string input, output;
  int threads = 1;
};

Status decompress(const Args& args) {
  NEVE_ASSIGN(const int threads, check_threads(args.threads));
  NEVE_ASSIGN(const std::vector<std::byte> bytes, read_file(args.input));
  auto frame = Frame::parse(bytes);
  if (!frame.ok()) return frame.status().in(args.input);
  auto array = decode_array(*frame, threads);
  if (!array.ok()) return array.status().in(args.input);
  NEVE_TRY(plotfile::write_npy(args.output, array->dtype, array->shape, array->values));
  std::cout << fmt::format("{}: {}\n", args.output, human_bytes(array->values.size())) << std::flush;
  return {};
}

}  // namespace

Command add_decompress(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("decompress", "A compressed array back into .npy");
  auto args = std::make_shared<Args>();
  sub->add_option("IN", args->input, "what neve compress or neve.compress made")->required();
  sub->add_option("OUT", args->output, "the .npy array")->required();
  sub->add_option("--threads", args->threads, "threads")->capture_default_str();
  sub->footer(
      "Under mpirun one rank does the work.\n"
      "Examples:\n"
      "  neve decompress field.neve field.npy");
  Command command{sub, {}, {}};
  command.parallel = [args](const Ranks& ranks) {
    return ranks.on_first("decompress", [&] { return decompress(*args); });
  };
  return command;
}

}  // namespace neve::cli
