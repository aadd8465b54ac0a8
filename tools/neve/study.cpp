// SPDX-License-Identifier: BSD-3-Clause
// `neve study`: redoes a paper, which neve-bench does; a product without benchmarks does not have it.
#include "tools/neve/bench.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {
namespace {

struct Paper {
  const char* name;
  const char* what;
};
constexpr Paper papers[] = {
    {"acb", "ACB (CUG 2016): aggregated collective buffering for Chombo"},
    {"acomps", "ACOMPS (DRBSD-2 2017): adaptive lossless compression for climate simulations"},
    {"amric", "AMRIC (SC 2023): compressing adaptive meshes in situ"},
    {"miniio", "MiniIO: mini-apps and compression through I/O libraries"},
};

Command add_paper(CLI::App& study, const Paper& paper) {
  CLI::App* sub = study.add_subcommand(paper.name, paper.what);
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] {
    std::vector<std::string> words = {"study", sub->get_name()};
    for (const std::string& word : sub->remaining()) words.push_back(word);
    return exec_bench("study", words);
  };
  return command;
}

}  // namespace

Command add_study(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "study",
      "Redo a paper's tables and figures: ACB, ACOMPS, AMRIC, MiniIO (by neve-bench, if it is installed)");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  neve study acb\n"
      "  neve study acomps\n"
      "  neve study amric\n"
      "  neve study amric plt00196 plt00200 plt00204 --into mine\n"
      "  neve study miniio\n"
      "  neve study acb --help\n"
      "Studies of mini-apps: neve bench study --help");
  Command command{sub, {}, {}};
  for (const Paper& paper : papers) command.below.push_back(add_paper(*sub, paper));
  return command;
}

}  // namespace neve::cli
