// SPDX-License-Identifier: BSD-3-Clause
// Values people write on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"

namespace neve::cli {

// "8MiB", "64KiB", "1GiB", "65536": bytes.
Result<uint64_t> parse_bytes(const std::string& option, const std::string& text);

// "NAME:rel=1e-4", "NAME:lossless", "NAME:fill=-999", "NAME:codec=exact", "NAME:arrangement=cluster",
// "NAME:unit=16", "NAME:block=4", "NAME:merge-units", "NAME:method=rank", several joined by commas. The same
// NAME given twice adds up; the same setting given twice for it is a usage error.
Status parse_field_rule(const std::string& text, std::map<std::string, FieldRule>& rules);

// --arrangement, --unit, --block, --merge-units, --method and the weights as they were typed.
struct TuningArgs {
  std::string arrangement = "auto";
  int unit = 0, block = 0;
  bool merge_units = false;
  std::string method = "auto";
  double speed_weight = 0, ratio_weight = 1;
};
inline constexpr const char* tuning_options[] = {
    "--arrangement", "--unit", "--block", "--merge-units", "--method", "--speed-weight", "--ratio-weight"};
void add_tuning_options(CLI::App& command, TuningArgs& args);
Result<CodecTuning> parse_tuning(const TuningArgs& args);

// --stripe-count, --stripe-size, --aggregators and --buffer-size as they were typed.
struct LayoutArgs {
  int stripe_count = 0, aggregators = 0;
  std::string stripe_size, buffer_size;
};
void add_layout_options(CLI::App& command, LayoutArgs& args);
Result<FileLayout> parse_layout(const LayoutArgs& args);

// "auto" (none given, detect), "none" (do not detect), or a number.
struct FillChoice {
  bool detect = true;
  std::optional<double> value;
  std::optional<uint64_t> whole;  // two's complement, where the number is a whole one of 64 bits
};
Result<FillChoice> parse_fill(const std::string& text);

Result<double> parse_number(const std::string& what, const std::string& text);  // NaN and infinities too

Result<int> check_threads(int threads);

}  // namespace neve::cli
