// SPDX-License-Identifier: BSD-3-Clause
// Options by name, as people write them in job scripts, input files and parameter lists. Names and meanings
// are those of the `neve` command (see `neve convert --help` and `neve compress --help`). Case does not
// matter, and - and _ are the same. An option that can have no effect beside the others is refused.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "neve/choice.hpp"
#include "neve/frame.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"
#include "neve/write_options.hpp"

#pragma GCC visibility push(default)
namespace neve {

// What a caller has set by other means, which options given as text override.
struct OptionsSoFar {
  ArrayOptions values;
  std::set<std::string> given;  // which of them somebody asked for, by name: {"bound", "effort"}
  std::optional<DType> dtype;   // of the values to come, where it is known
};

// Options of `neve compress` for an array: {{"bound", "rel=1e-3"}, {"effort", "max"}}. A `fill` that is a
// whole number sets both `fill` and `integer_fill`; options_for decides between them. Errors: usage, naming
// the option, the value found and what is allowed.
Result<ArrayOptions> parse_array_options(const std::map<std::string, std::string>& options,
                                         OptionsSoFar before = {});

// The same as one text: "rel=1e-3;effort=max", where a bound needs no name.
Result<ArrayOptions> parse_array_options(std::string_view text, OptionsSoFar before = {});

// Those of a series of arrays, each a step of a variable (neve/series.hpp): beside an array's, how its method
// is chosen again: {{"candidates", "acomps"}, {"speed_weight", "1"}, {"delta", "0.1"}}.
struct SeriesOptions {
  ArrayOptions array;
  ChoiceRules rules;  // for the SelectionMemory
};
// `rules`: those set by other means. Errors: those of parse_array_options, and of check_choice_rules.
Result<SeriesOptions> parse_series_options(const std::map<std::string, std::string>& options,
                                           OptionsSoFar before = {}, const ChoiceRules& rules = {});
Result<SeriesOptions> parse_series_options(std::string_view text, OptionsSoFar before = {},
                                           const ChoiceRules& rules = {});
// What is chosen from, and by what rules: "candidates=acomps;speed_weight=1;ratio_weight=1;delta=0.1;
// speeds=typical", in one line. parse_series_options takes it, but for speeds without a weight.
std::string choice_text(const SeriesOptions& options);

// parse_array_options' for values of `dtype`, whose fill value is either a floating-point number or an
// integer. encode_array refuses one that is not a value of the type.
ArrayOptions options_for(DType dtype, ArrayOptions options);

// Options of `neve convert` for a plotfile, and rules for fields:
// "rel=1e-3;field:density=abs=1e-6;covered=keep". A rule is the text after the colon of the command's
// --field: "abs=1e-6,codec=context". The name of a field may stand in double quotes, where \" and \\ stand
// for
// '"' and '\'. `ghosts` is set for all three directions; a caller that knows the dimension clears the others.
// Two options that set the same thing are a usage error.
Result<WriteOptions> parse_write_options(std::string_view text);

// The same for a checkpoint, whose bound is lossless unless it is said. What comes of it: `compress`, `bound`
// and `codec` are those of the variables without a rule, `fields` the rules by variable, with a bound and a
// codec; write_checkpoint takes all else.
Result<WriteOptions> parse_checkpoint_options(std::string_view text);

}  // namespace neve
#pragma GCC visibility pop
