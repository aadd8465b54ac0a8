// SPDX-License-Identifier: BSD-3-Clause
// `neve compress --stream`: one array into a stream of software, or into the one that the hardware engine
// makes.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/plotfile/npy.hpp"
#include "neve/frame.hpp"
#include "neve/stream.hpp"
#include "tools/common/idle_options.hpp"

namespace neve::cli {

inline constexpr uint32_t max_engine_lanes = 64;

// As it was typed.
struct StreamArgs {
  bool is_wanted = false;
  bool of_engine = false;
  uint32_t lanes = 1;
  std::string chunk = "32MiB", rule = "exact_cost";
  std::vector<double> chi{5.18, 9.69};
  // (Where nothing was typed software and engine differ.)
  std::optional<uint32_t> block, restart;
  int dims = 0;
};

void add_stream_options(CLI::App& sub, StreamArgs& args);
// Which of them mean something.
std::vector<OptionUse> stream_option_uses(const StreamArgs& args);

struct StreamFiles {
  std::string input, output;
  bool json = false;  // the report
};
// `common`: bound, fill and best_effort. Errors: usage, failure.
Status compress_stream(const StreamFiles& files, const ArrayOptions& common, const StreamArgs& args);

// --- of it, the engine's ----------------------------------------------------------------------------------

// What a report says of a stream.
struct StreamOutcome {
  std::vector<std::byte> bytes;
  double bound_abs = 0;
  double max_abs_error = 0;
  std::string parts_name;        // "chunks" or "rounds"
  nlohmann::ordered_json parts;  // of the JSON report
  std::string parts_text;        // a line each, or one for all
};
Result<StreamOutcome> encode_as_engine(const plotfile::NpyArray& array, const ArrayOptions& common,
                                       const StreamArgs& args);

}  // namespace neve::cli
