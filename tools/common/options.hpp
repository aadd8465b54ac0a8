// SPDX-License-Identifier: BSD-3-Clause
// Values people write on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "neve/status.hpp"
#include "neve/write_options.hpp"
#include "tools/common/option_flags.hpp"

namespace neve::cli {

// "8MiB", "64KiB", "1GiB", "65536": bytes. Errors begin with `option`.
Result<uint64_t> parse_bytes(const std::string& option, const std::string& text);

Result<double> parse_number(const std::string& option, const std::string& text);  // NaN and infinities too

// "NAME:rel=1e-4,codec=context": settings of field NAME, which options::parse_rule reads. The same NAME given
// twice adds up; the same setting given twice for it is a usage error.
Status parse_field_rule(const std::string& text, std::map<std::string, FieldRule>& rules);

// --stripe-count, --stripe-size, --aggregators and --buffer-size.
class LayoutArgs {
 public:
  void add(CLI::App& command);
  // Of a file that is only planned: without --buffer-size, and what is not given is chosen.
  void add_planned(CLI::App& command);
  Result<FileLayout> read() const;

 private:
  OptionFlags flags_;
};

Result<int> check_threads(int threads);

}  // namespace neve::cli
