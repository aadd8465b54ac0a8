// SPDX-License-Identifier: BSD-3-Clause
// `neve decompress`: a compressed array, or a frame file, back into .npy.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "io/files/target.hpp"
#include "neve/frame.hpp"
#include "tools/common/console.hpp"
#include "tools/common/options.hpp"
#include "tools/common/ranks.hpp"
#include "tools/neve/array_file.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/frame_file.hpp"

namespace neve::cli {
namespace {

struct Args {
  std::string input, output;
  OptionFlags flags;  // of the table of options
};

Result<plotfile::NpyArray> read_compressed(const std::string& path, int threads) {
  NEVE_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
  NEVE_TRY(check_is_compressed(
      bytes, path,
      "files made by neve compress, neve.compress, neve.StreamEncoder or neve/transfer.h; "
      "`neve convert` reads plotfiles, checkpoints and data files"));
  auto decoded = decode_compressed(bytes, threads);
  if (!decoded.ok()) return decoded.status().in(path);
  return std::move(decoded->array);
}

Status decompress(const Args& args) {
  int threads = 1;
  options::Slots slots;
  slots.threads = &threads;
  NEVE_TRY(args.flags.read(slots));
  NEVE_TRY(files::check_is_another(args.input, args.output));
  NEVE_ASSIGN(const bool is_frame_file, is_frame_file_at(args.input));
  auto array = is_frame_file ? read_frame_file(args.input, threads) : read_compressed(args.input, threads);
  NEVE_TRY(array.status());
  NEVE_TRY(plotfile::write_npy(args.output, array->dtype, array->shape, array->values));
  std::cout << fmt::format("{}: {}\n", args.output, human_bytes(array->values.size())) << std::flush;
  return {};
}

}  // namespace

Command add_decompress(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("decompress", "Decompress an array into a .npy file");
  auto args = std::make_shared<Args>();
  sub->add_option("IN", args->input, "a file made by neve compress, neve.compress or neve/transfer.h")
      ->required();
  sub->add_option("OUT", args->output, "the .npy array")->required();
  static int threads = 1;
  options::Slots defaults;
  defaults.threads = &threads;
  args->flags.add(
      *sub, [](const options::Option& option) { return option.key == "threads"; }, defaults);
  args->flags.describe("threads", "threads");
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
