// SPDX-License-Identifier: BSD-3-Clause
// Options that would do nothing are refused by name. Each command says in one list what has an effect where.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "neve/frame.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"
#include "tools/common/heeded_tuning.hpp"

namespace neve::cli {

struct OptionUse {
  const char* option;
  bool has_effect;
  std::string why_not;  // "without --bound", "for a checkpoint; it is allowed for ..."
};
// The first option that was given on the command line and has no effect is a usage error:
// "--effort has no meaning without --bound".
Status refuse_idle(const CLI::App& command, std::initializer_list<OptionUse> uses);
Status refuse_idle(const CLI::App& command, const std::vector<OptionUse>& uses);

// Those of a plotfile's or checkpoint's options; a field with a rule has its own.
std::vector<CodecUse> codec_uses(const WriteOptions& options);

// --codec, --effort and the tuning, typed or in a rule, that none of `uses` heeds; `uses.front()` is what
// holds without a rule. `of_variables`: rules are patterns of which several may meet in one variable, so each
// alone says too little to be refused, and integers among the variables take codec lossless whatever the
// bound says.
Status refuse_idle_codec_options(const CLI::App& command, const std::vector<CodecUse>& uses,
                                 bool of_variables = false);

}  // namespace neve::cli
