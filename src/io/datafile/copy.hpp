// SPDX-License-Identifier: BSD-3-Clause
// A data file made again with its numbers in Neve's frames: every object, link, attribute and value is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/datafile/choice_log.hpp"
#include "neve/frame.hpp"
#include "neve/open_options.hpp"
#include "neve/selection_memory.hpp"
#include "neve/selection_report.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::datafile {

// What is to happen to the variables that a rule's pattern matches; what it leaves open, earlier rules or the
// options say.
struct VariableRule {
  // A shell pattern (*, ?, [a-z]). With a slash in it: of the whole path, where * stands for slashes too;
  // without: of the name alone, in any group.
  std::string pattern;
  // Of a variable that describes the grid it counts only where the pattern names it (names_variable).
  std::optional<Bound> bound;
  std::optional<Codec> codec;
  std::optional<CodecTuning> tuning;
  std::optional<double> fill;
  std::optional<Effort> effort;
  bool is_unchanged = false;  // copied as it is stored
};

// Whether a pattern names variables rather than describes them: its last part has no *, ? or [.
bool names_variable(const std::string& pattern);

struct CopyOptions {
  // Of floating point; integers keep every bit, and so do variables that describe the grid
  // (src/io/datafile/grid.hpp) unless a rule names them.
  Bound bound{BoundMode::lossless, 0};
  Codec codec = Codec::automatic;
  CodecTuning tuning;
  Effort effort = Effort::fast;
  std::optional<double> fill;       // instead of what the variables declare
  bool use_fill = true;             // false: no value means "nothing here"
  std::vector<VariableRule> rules;  // later ones win
  // A rule or setting that changes nothing in the file is an error, unless check_settings has looked for it
  // in all files of its series.
  bool are_settings_checked = false;
  // Most bytes of a chunk. Given: all variables are cut anew, earlier chunks kept whole. Else the chunks of
  // the source stay, and contiguous variables get chunks of at most default_chunk_bytes.
  std::optional<uint64_t> chunk_bytes;
  int threads = 1;
  // Of a series of copies, of which this is one step: variables that keep every bit, and whose method is
  // chosen, keep that from copy to copy. Such a copy starts over where it was interrupted. Null: each chunk
  // chooses for itself.
  SelectionMemory* memory = nullptr;
  ChoiceLog choice_log = ChoiceLog::none;  // what the copy holds of the choices made for it; with `memory`
  OpenOptions open;                        // of the source
  bool explain = false;                    // VariableReport::explanation
  bool resume = true;  // go on with an interrupted copy of the same source under the same options
  std::function<void(const std::string& phase, double fraction)> progress;
  std::function<void(const std::string& message)> say;
};
inline constexpr uint64_t default_chunk_bytes = uint64_t{4} << 20;

struct VariableReport {
  std::string path;
  std::vector<uint64_t> dims;
  std::string type;
  bool is_coded = false;  // by Neve
  std::string why_not;    // the reason where it is not
  // Where it is copied unchanged because frames would take as much or more: what those took that were tried,
  // at which point no more were.
  std::optional<uint64_t> frames_took;
  Bound asked;  // where it is coded
  // Why it keeps every bit although a bound was given: the text of a GridReason; empty where none was.
  std::string lossless_because;
  double bound_abs = 0;
  double max_abs_error = 0;                 // as measured by the encoder
  std::map<std::string, uint64_t> methods;  // chunks by codec, or "lossless METHOD"
  uint64_t raw_bytes = 0;
  uint64_t stored_before = 0, stored_now = 0;  // its values, without the file's own bookkeeping
  std::vector<uint64_t> chunk;
  uint64_t chunks = 0;                     // stored
  uint64_t unfiltered_chunks = 0;          // as they are, because a frame would be no smaller
  uint64_t resumed_chunks = 0;             // taken over from an interrupted copy
  double encode_seconds = 0;               // of all threads together
  std::optional<Explanation> explanation;  // with CopyOptions::explain, of all but resumed chunks
  // Of a checkpoint's boxes with a bound: what the file holds of each component.
  std::vector<ComponentReport> components;
};

// What the memory of a series has logged of a variable of one copy.
struct StepChoice {
  Choice choice;
  Effort effort = Effort::fast;
  CodecTuning tuning;    // of the variable: its candidates and weights
  bool is_coded = true;  // else the variable is copied as it is all the same
};

struct CopyReport {
  std::vector<VariableReport> variables;
  uint64_t source_bytes = 0, target_bytes = 0;  // of the files
  uint64_t lost_references = 0;                 // led to deleted objects already
  std::vector<StepChoice> choices;              // with CopyOptions::memory
  double seconds = 0;
};

// Whether each rule and codec setting changes something in one file at least of a series; of the files the
// structure alone is read, as far as needed. Errors: usage (it names the first that does not), and those of
// opening a file (failure, corrupt, usage).
Status check_settings(const std::vector<std::string>& files, const CopyOptions& options);

// `target` appears under its name when it is whole; what was there before stays until then. An interrupted
// copy leaves the folder `.NAME.neve-part`, from which the next one goes on. Errors: usage
// (a rule that matches nothing, source and target the same, a log of choices in a source whose copy is to
// have one), failure, corrupt, plugin_missing.
Result<CopyReport> copy_data_file(const std::string& source, const std::string& target,
                                  const CopyOptions& options);

}  // namespace neve::datafile
