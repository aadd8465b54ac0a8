// SPDX-License-Identifier: BSD-3-Clause
// `neve trace run`: a program with the trace library in its processes.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "neve/status.hpp"
#include "preload/trace/collect.hpp"
#include "preload/trace/json.hpp"
#include "preload/trace/parts_folder.hpp"
#include "preload/trace/settings.hpp"
#include "tools/common/console.hpp"
#include "tools/common/launch.hpp"
#include "tools/neve/trace.hpp"

namespace neve::cli {
namespace {

namespace fs = std::filesystem;

struct Args {
  std::string output = trace::default_output;
  std::vector<std::string> include, exclude, words;
  int memory_mib = 64, sizes = 65536;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ":") + word;
  return text;
}

Status put_together(const Args& args, const std::string& output, trace::PartsFolder& parts) {
  auto collected = trace::collect(output);
  if (!collected.ok() || collected->is_earlier) {
    parts.finish();
    return failure(
        "no process recorded anything: the program used no file that is traced (--include), or is linked "
        "statically, or clears its environment");
  }
  collected->trace.command = args.words;
  bool exists = false;
  if (const Status written =
          trace::write_trace_file(collected->trace, output, trace::Existing::replace, exists);
      !written.ok()) {
    return {written.code(), fmt::format("{}; what was recorded is in {}, and `neve trace report {}` reads it",
                                        written.message(), trace::parts_folder_of(output), output)};
  }
  std::error_code error;
  for (const std::string& name : collected->leftovers) fs::remove(name, error);
  parts.finish();
  for (const std::string& why : collected->unreadable) say("trace run", why);

  trace::Counters total;
  for (const auto& [path, file] : collected->trace.files) total.merge(file.total());
  total.merge(collected->trace.overflow);
  const auto writes = [&](trace::Level level) { return total.at(level, trace::Direction::write).calls(); };
  say("trace run",
      fmt::format(
          "trace of {} processes and {} files in {}: {} MPI-IO writes, {} POSIX writes, {} stdio writes",
          collected->trace.processes.size(), collected->trace.files.size(), output,
          writes(trace::Level::mpiio), writes(trace::Level::posix), writes(trace::Level::stdio)));
  return {};
}

Result<int> trace_run(const Args& args) {
  const std::string output = fs::absolute(args.output).lexically_normal().string();
  NEVE_ASSIGN(const std::string library, find_preload("libneve_trace.so", "NEVE_TRACE_LIBRARY"));
  NEVE_ASSIGN(trace::PartsFolder parts, trace::PartsFolder::begin(output));
  Variables variables = {{"LD_PRELOAD", library},
                         {trace::output_variable, output},
                         {trace::memory_variable, std::to_string(args.memory_mib)},
                         {trace::sizes_variable, std::to_string(args.sizes)}};
  if (!args.include.empty()) variables.emplace_back(trace::include_variable, joined(args.include));
  if (!args.exclude.empty()) variables.emplace_back(trace::exclude_variable, joined(args.exclude));
  const Result<int> ended = run_to_end(with_variables(args.words, variables));
  if (!ended.ok()) parts.finish();
  NEVE_ASSIGN(const int exit_code, ended);
  if (Status status = put_together(args, output, parts); !status.ok()) {
    // A program that failed is the more important news.
    if (exit_code == 0) return status;
    say("trace run", status.message());
  }
  return exit_code;
}

}  // namespace

TraceCommand add_trace_run(CLI::App& parent) {
  CLI::App* sub = parent.add_subcommand("run", "Run a program, MPI or not, and count its reads and writes");
  auto args = std::make_shared<Args>();
  sub->add_option("-o,--output", args->output, "the trace to write (neve-trace.json)");
  sub->add_option("--include", args->include,
                  "also count files that match this pattern, although they would be left out")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  sub->add_option("--exclude", args->exclude, "leave out files that match this pattern")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  sub->add_option("--memory", args->memory_mib, "most MiB of counts that a process keeps (64)")
      ->check(CLI::Range(1, 2048));
  sub->add_option("--sizes", args->sizes, "most different access sizes kept for a file (65536)")
      ->check(CLI::Range(16, 1 << 24));
  sub->add_option("command", args->words, "the program and its arguments, after --")->required();
  sub->footer(
      "Left out unless included: /proc, /sys, /dev (not /dev/shm), /etc, /usr, /bin, /sbin, /lib, /opt,\n"
      "/var, /run, libraries, Python's packages, the MPI library's own files. A pattern is a shell pattern.\n"
      "It is compared with the whole path or, where it does not begin with /, also with its end from the\n"
      "name of a folder or file on; * also matches /.\n"
      "The exit code is the program's; 1 if there is no trace, 2 for a wrong call.\n"
      "Examples:\n"
      "  neve trace run -o trace.json -- mpirun -n 4 ./simulation input\n"
      "  neve trace run --exclude '*.log' -- python3 analysis.py\n"
      "  neve trace run -o acb.json -- ./job.sh           # everything that the script starts\n"
      "  mpirun -n 4 -x LD_PRELOAD=/opt/neve/lib/neve/libneve_trace.so -x NEVE_TRACE_OUTPUT=$PWD/t.json "
      "./simulation");
  TraceCommand command{sub, {}};
  command.work = [args] {
    auto exit_code = trace_run(*args);
    if (exit_code.ok()) return *exit_code;
    say("trace run", exit_code.status().message());
    return static_cast<int>(exit_code.status().code());
  };
  return command;
}

}  // namespace neve::cli
