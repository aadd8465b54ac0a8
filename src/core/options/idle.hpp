// SPDX-License-Identifier: BSD-3-Clause
// Options of codecs that would do nothing beside the others are refused by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/options/option.hpp"
#include "neve/status.hpp"
#include "neve/write_options.hpp"

namespace neve::options {

// Who asks, for messages and for what was said rather than left as it is.
struct Asked {
  std::function<bool(std::string_view key)> is_given;
  std::function<std::string(std::string_view key)> name_of = {};  // "--unit"; null: the key itself
  std::string named(std::string_view key) const { return name_of ? name_of(key) : std::string(key); }
};

CodecUse use_of(std::string who, Codec codec, Effort effort, const Bound& bound, const CodecTuning& tuning);
std::vector<CodecUse> codec_uses(const ArrayOptions& options);
// Those of a plotfile's or checkpoint's options; a field with a rule has its own. The first is what holds
// without a rule.
std::vector<CodecUse> codec_uses(const WriteOptions& options, const std::string& rule_prefix);

// Usage error for the bound, the codec, the effort and the tuning, of all or in a rule, that change nothing
// in any of `uses`. `of_variables`: rules are patterns of which several may meet in one variable, so each
// alone says too little to be refused, and integers among the variables take codec lossless whatever the
// bound says.
Status refuse_idle_codec_options(const Asked& asked, const std::vector<CodecUse>& uses,
                                 bool of_variables = false);

// Usage error for rules of a series' choices that change nothing in `use`. `may_be_of_integers`: these take
// codec lossless whatever the bound says.
Status refuse_idle_choices(const Asked& asked, const CodecUse& use, bool may_be_of_integers = false);

// Those of a plotfile, and beside them what depends on its strategy and on the codecs of all its fields.
Status refuse_idle_of_plotfile(const Asked& asked, const WriteOptions& options,
                               const std::string& rule_prefix);

// What of a file's layout its strategy does not use: without collective writes no rank writes for another.
Status refuse_idle_layout(const Asked& asked, const WriteOptions& options);

// The settings of one rule that has a codec: usage error for the first that changes nothing under any bound
// and effort that the rule leaves open.
Status refuse_idle_settings(Codec codec, const std::optional<Bound>& bound,
                            const std::optional<Effort>& effort, const CodecTuning& tuning);

// The rows whose value in `tuning` is not what it is by itself.
std::vector<const Option*> changed_rows(CodecTuning tuning);
// Whether the row changes anything in the use.
inline bool is_used(const Option& row, const CodecUse& use) {
  return row.is_used == nullptr || row.is_used(use);
}

}  // namespace neve::options
