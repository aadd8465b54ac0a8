// SPDX-License-Identifier: BSD-3-Clause
#include "bench/command/python_benches.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "bench/command/groups.hpp"
#include "tools/common/console.hpp"
#include "tools/common/python.hpp"

namespace neve::cli {
namespace {

namespace fs = std::filesystem;

struct PythonBench {
  const char* name;
  const char* what;
};
constexpr PythonBench python_benches[] = {
    {"codecs", "Ratio, speed and errors of the array codecs, against their peers"},
    {"ceaz", "Codebooks, ratios, latency: the CEAZ paper's figures"},
    {"codebooks", "Train the offline codebooks of streams on real fields"},
    {"copy", "Size and time of a netCDF file compressed by nccopy and by neve convert"},
    {"filter", "The HDF5 filter where chunks are written in parts"},
    {"links", "Gathers and writes of frames through imitated links"},
    {"lossless", "Lossless methods on every variable of real files"},
    {"region", "Reading a part of a compressed file, compared with all of it"},
    {"write", "Writing and reading of AMR plotfiles"},
    {"xarray", "Means and slices of a plotfile by xarray with dask and by yt"},
    {"rd", "Rate-distortion study of one file"},
    {"study", "Mini-apps over outputs, layouts and ranks: from a deck to a report"},
};

// Of the checkout that this command was built in, or of an installation.
Result<std::string> find_package() {
  const fs::path own_folder = fs::path(own_path()).parent_path();
  const fs::path candidates[] = {own_folder.parent_path().parent_path() / "bench/python",
                                 own_folder.parent_path() / "share/neve/bench"};
  std::error_code error;
  for (const fs::path& folder : candidates) {
    if (fs::is_regular_file(folder / "neve_bench/__init__.py", error)) return folder.string();
  }
  return failure(fmt::format("no package neve_bench beside {}; looked for it in {} and {}", own_path(),
                             candidates[0].string(), candidates[1].string()));
}

}  // namespace

int exec_bench_module(const std::string& module, const std::vector<std::string>& arguments,
                      const std::string* input) {
  auto folder = find_package();
  if (!folder.ok()) {
    say("bench", folder.status().message());
    return static_cast<int>(folder.status().code());
  }
  const char* before = std::getenv("PYTHONPATH");
  setenv("PYTHONPATH", (before == nullptr ? *folder : *folder + ":" + before).c_str(), 1);
  const std::string whole = module.empty() ? "neve_bench" : "neve_bench." + module;
  return input == nullptr ? exec_module(whole, arguments) : exec_module(whole, arguments, *input);
}

std::vector<Command> add_python_benches(CLI::App& app) {
  std::vector<Command> commands;
  for (const PythonBench& bench : python_benches) {
    CLI::App* const sub = app.add_subcommand(bench.name, bench.what);
    sub->group(peer_tables);
    // Python declares the options, so that they are said in one place; its --help shows them.
    sub->prefix_command()->set_help_flag();
    Command command{sub, {}, {}};
    command.local = [sub] {
      std::vector<std::string> words = {sub->get_name()};
      for (const std::string& word : sub->remaining()) words.push_back(word);
      return exec_bench_module("", words);
    };
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace neve::cli
