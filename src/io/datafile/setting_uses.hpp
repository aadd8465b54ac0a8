// SPDX-License-Identifier: BSD-3-Clause
// What the options and the rules of a copy say of codecs, but which changes nothing in the file at hand, is
// refused by name.
#pragma once

#include <optional>
#include <vector>

#include "core/options/idle.hpp"
#include "io/datafile/copy.hpp"
#include "io/datafile/plan.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

class SettingUses {
 public:
  explicit SettingUses(const CopyOptions& options);

  // Values that all of `rules` match. `use`: how they are coded; nothing where a rule leaves them as they
  // are, which earlier rules may have wanted otherwise.
  void note(const std::optional<options::CodecUse>& use, const std::vector<size_t>& rules);
  // Whether the variable is coded or left as it is by a rule.
  void note_variable(const VariablePlan& plan);
  // Usage error for a codec's setting that changes nothing in what was noted, and for options of codecs and
  // chunks where rules leave all that could be coded as it is.
  Status check() const;

 private:
  using Rows = std::vector<const options::Option*>;
  static void drop_used(Rows& rows, options::CodecUse use, const CodecTuning& tuning);

  const CopyOptions& options_;
  std::vector<Rows> unused_by_rules_;
  Rows unused_;  // of what holds without a rule
  bool is_any_coded_ = false, is_any_left_ = false;
};

}  // namespace neve::datafile
