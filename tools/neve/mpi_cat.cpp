// SPDX-License-Identifier: BSD-3-Clause
// `neve mpi cat`: the bytes of the file that a frame file stands for.
#include "tools/neve/mpi_cat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "core/options/slots.hpp"
#include "core/status/guarded.hpp"
#include "io/files/temporary_file.hpp"
#include "io/files/write.hpp"
#include "tools/common/console.hpp"
#include "tools/common/option_flags.hpp"
#include "tools/neve/frame_file.hpp"

namespace neve::cli {
namespace {

struct Args {
  std::string input, output;
  OptionFlags flags;
};

// Bytes of the logical file at a time: a piece is decoded for each part that it reaches into.
constexpr uint64_t part_bytes = uint64_t{256} << 20;

template <class Put>
Status copy_bytes(const OpenFrameFile& file, int threads, const Put& put) {
  Bytes part;
  for (uint64_t at = 0; at < file.index().bytes; at += part.size()) {
    part.resize(std::min(part_bytes, file.index().bytes - at));
    NEVE_TRY(file.read(at, part, threads));
    NEVE_TRY(put(at, part));
  }
  return {};
}

Status write_to_file(const OpenFrameFile& file, const std::string& path, int threads) {
  NEVE_ASSIGN(files::TemporaryFile beside, files::TemporaryFile::beside(path));
  NEVE_ASSIGN(files::Descriptor out, files::create_file(beside.path()));
  NEVE_TRY(copy_bytes(file, threads, [&](uint64_t at, const Bytes& part) {
    return files::write_fully(out.number(), static_cast<int64_t>(at), part, path);
  }));
  NEVE_TRY(out.close(path));
  return beside.commit();
}

Status write_to_stdout(const OpenFrameFile& file, int threads) {
  NEVE_TRY(copy_bytes(file, threads, [&](uint64_t, const Bytes& part) {
    return std::fwrite(part.data(), 1, part.size(), stdout) == part.size()
               ? Status()
               : files::system_failure("standard output");
  }));
  return std::fflush(stdout) == 0 ? Status() : files::system_failure("standard output");
}

Status cat(const Args& args) {
  int threads = 1;
  options::Slots slots;
  slots.threads = &threads;
  NEVE_TRY(args.flags.read(slots));
  NEVE_ASSIGN(const OpenFrameFile file, OpenFrameFile::open(args.input));
  if (args.output.empty()) return write_to_stdout(file, threads);
  NEVE_TRY(files::check_is_another(args.input, args.output));
  return write_to_file(file, args.output, threads);
}

}  // namespace

MpiCat add_mpi_cat(CLI::App& mpi) {
  CLI::App* sub = mpi.add_subcommand(
      "cat", "Print a frame file as the bytes that its program would have written without frames");
  auto args = std::make_shared<Args>();
  sub->add_option("FILE", args->input, "a frame file, of neve mpi run or neve/transfer.h")->required();
  sub->add_option("-o,--output", args->output, "a file for the bytes (standard output)")->type_name("OUT");
  static int threads = 1;
  options::Slots defaults;
  defaults.threads = &threads;
  args->flags.add(
      *sub, [](const options::Option& option) { return option.key == "threads"; }, defaults);
  args->flags.describe("threads", "threads that decode");
  sub->footer(
      "Values are those that a program gets back: within the bound that they were written with. Bytes that\n"
      "nobody wrote are 0.\n"
      "Examples:\n"
      "  neve mpi cat density.neve -o density.raw\n"
      "  neve mpi cat density.neve | head -c 4096 > first.raw");
  return {sub, [args] {
            const Status status = guarded("mpi cat", [&] { return cat(*args); });
            if (status.ok()) return 0;
            say("mpi cat", status.message());
            return static_cast<int>(status.code());
          }};
}

}  // namespace neve::cli
