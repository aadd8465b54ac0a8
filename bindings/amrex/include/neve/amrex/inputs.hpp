// SPDX-License-Identifier: BSD-3-Clause
// What a run's input file says about its files, under "neve.": neve.bound = rel 1e-4, neve.field.density =
// abs 1e-6.
#pragma once

#include <AMReX_ParmParse.H>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "neve/amrex/agree.hpp"
#include "neve/options.hpp"
#include "neve/status.hpp"

namespace neve::amrex {

// The input file's options. What it does not say stands as here.
struct RunInputs {
  WriteOptions options;      // of plotfiles
  bool are_said = false;     // whether the file has anything under "neve."
  bool says_behind = false;  // whether it says how plotfiles are written behind the run's back, none included
  int every = 1;             // plotfiles whose step on level 0 is no multiple of it are not written
  int verbose = 1;           // 1: a line on standard output for each file, and a table at the end of the run
  std::string log;           // a file, to which a line of JSON is added for each file; empty: none
  int plotfiles = 1;         // 0: AMReX's own, but for calls to which the code passes options
  // Of neve::amrex::Amr alone (amr.hpp).
  int checkpoints = 1;  // 0: AMReX's own
  int old_data = -1;    // 1, 0: checkpoints have the states' values of the step before or not; -1: as the
                        // code asks AMReX
  Bound checkpoint_bound{BoundMode::lossless, 0};
};

// Options of a call: those that the code gives, or the input file's.
struct CallOptions {
  CallOptions() = default;
  CallOptions(WriteOptions options) : given(std::move(options)) {}  // NOLINT: implicit by design

  std::optional<WriteOptions> given;
};

namespace detail {

inline constexpr const char* inputs_prefix = "neve";

// The words behind the '=', as AMReX reads them: `rel 1e-3` and "rel=1e-3" are the same.
inline Result<std::string> value_of_words(const std::vector<std::string>& words) {
  std::string value;
  for (const std::string& word : words) value += (value.empty() ? "" : "=") + word;
  if (words.size() > 2)
    return usage_error(
        "has " + std::to_string(words.size()) +
        " values; allowed are one, and two for a bound, as in rel 1e-3; quotes make one of all");
  if (value.find(';') != std::string::npos) return usage_error("has a ';', which no value has");
  return value;
}

// As set_of_run knows them.
inline constexpr const char* options_of_run =
    "every, log, verbose, plotfiles, checkpoints, checkpoint_bound, old_data";

// Of a key: - and _ are the same.
inline std::string with_underscores(std::string key) {
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

// A bound as neve.bound takes it.
inline Result<Bound> bound_of(const std::string& value) {
  NEVE_ASSIGN(const WriteOptions options, parse_write_options("bound=" + value));
  return options.bound;
}

// Whether `key` is an option of the run itself, which then is set.
inline Result<bool> set_of_run(const std::string& key, const std::string& value, RunInputs& run) {
  const auto read_whole = [&](int least, int most, int& number) -> Status {
    const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_read = fault == std::errc() && end == value.data() + value.size();
    if (is_read && number >= least && number <= most) return {};
    return usage_error("is '" + value + "'; allowed: " + std::to_string(least) + " to " +
                       std::to_string(most));
  };
  if (key == "every") {
    NEVE_TRY(read_whole(1, std::numeric_limits<int>::max(), run.every));
  } else if (key == "verbose") {
    NEVE_TRY(read_whole(0, 1, run.verbose));
  } else if (key == "plotfiles") {
    NEVE_TRY(read_whole(0, 1, run.plotfiles));
  } else if (key == "checkpoints") {
    NEVE_TRY(read_whole(0, 1, run.checkpoints));
  } else if (key == "old_data") {
    NEVE_TRY(read_whole(0, 1, run.old_data));
  } else if (key == "checkpoint_bound") {
    NEVE_ASSIGN(run.checkpoint_bound, bound_of(value));
  } else if (key == "log") {
    run.log = value;
  } else {
    return false;
  }
  return true;
}

// An option as parse_write_options takes it.
inline std::string option_text(const std::string& key, const std::string& value) {
  const std::string of_field = "field.";
  if (key.compare(0, of_field.size(), of_field) != 0) return key + "=" + value;
  std::string name;
  for (const char c : key.substr(of_field.size())) {
    if (c == '"' || c == '\\') name += '\\';
    name += c;
  }
  return "field:\"" + name + "\"=" + value;
}

// An option without which another would be refused.
inline std::string needed_by(const std::string& key) {
  if (key == "stage_size") return "stage=.;";
  return key == "chunk_values" ? "strategy=amrex-1d;" : "";
}

// One entry; `text` gets what is of parse_write_options.
inline Status read_entry(const std::string& entry, RunInputs& run, std::string& text) {
  const std::string key = entry.substr(std::string(inputs_prefix).size() + 1);
  std::vector<std::string> words;
  ::amrex::ParmParse().queryarr(entry.c_str(), words);
  NEVE_ASSIGN(const std::string value, value_of_words(words));
  run.are_said = true;
  NEVE_ASSIGN(const bool is_of_run, set_of_run(with_underscores(key), value, run));
  if (is_of_run) return {};
  const std::string option = option_text(key, value);
  // So that an error has its name.
  const Status alone = parse_write_options(needed_by(with_underscores(key)) + option).status();
  if (!alone.ok() && alone.message().find("unknown option") != std::string::npos) {
    return usage_error(alone.message() + "; of a run: " + options_of_run);
  }
  NEVE_TRY(alone);
  run.says_behind = run.says_behind || with_underscores(key) == "behind" || with_underscores(key) == "stage";
  text += option + ";";
  return {};
}

// Of checkpoints, whose fields have bounds of their own: of what the input file says the effort, the threads,
// and how files are written.
inline WriteOptions checkpoint_options(const RunInputs& inputs) {
  WriteOptions options;
  options.encode = inputs.options.encode;
  options.fill = inputs.options.fill;
  options.detect_fill = inputs.options.detect_fill;
  options.strategy = inputs.options.strategy;
  options.aggregate_boxes = inputs.options.aggregate_boxes;
  options.chunk_bytes = inputs.options.chunk_bytes;
  options.layout = inputs.options.layout;
  options.mpi_hints = inputs.options.mpi_hints;
  return options;
}

}  // namespace detail

// Not collective: every rank has the same input file. Errors: usage, naming the entry, what it says and what
// is allowed. A field's name is known to be right when a file with that field is written.
inline Result<RunInputs> TryReadInputs() {
  RunInputs run;
  std::string text;
  for (const std::string& entry : ::amrex::ParmParse::getEntries(detail::inputs_prefix)) {
    const Status read = detail::caught([&] { return detail::read_entry(entry, run, text); });
    if (!read.ok()) return usage_error("input file: " + entry + ": " + read.message());
  }
  Result<WriteOptions> options = parse_write_options(text);
  if (!options.ok()) return usage_error("input file: " + options.status().message());
  run.options = std::move(*options);
  for (size_t d = AMREX_SPACEDIM; d < run.options.ghosts.size(); ++d) run.options.ghosts[d] = 0;
  return run;
}

// Ends the run through amrex::Abort where the input file has an unknown or wrong option under "neve.". To be
// called when AMReX is initialized, so that a run does not find out at its first plotfile.
inline RunInputs ReadInputs() { return detail::value_or_abort("ReadInputs", TryReadInputs()); }

}  // namespace neve::amrex
