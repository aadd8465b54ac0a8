// SPDX-License-Identifier: BSD-3-Clause
// Which rules of a copy a variable follows; and what the options and rules say that changes nothing in any of
// the files at hand, which is refused by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/datafile/copy.hpp"
#include "io/datafile/grid.hpp"
#include "io/datafile/plan.hpp"
#include "io/datafile/setting_uses.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

class RuleUses {
 public:
  // `options` outlives it.
  explicit RuleUses(const CopyOptions& options);

  // What the rules say of the variable, whose `names` are the paths that lead to it. One that describes the
  // grid takes a bound only from a rule that names it; `plan.kept_as_grid` stays where that has kept a bound
  // away.
  void apply(const std::vector<std::string>& names, std::optional<GridReason> grid, VariablePlan& plan);

  // How the variable is coded; call once after what `apply` said is settled.
  void note(const VariablePlan& plan);

  // Usage error for a rule that matches no variable or whose bound no variable can have, and for a setting
  // that changes nothing. `where`: "the file".
  Status check(const std::string& where) const;

 private:
  // A rule that has matched nothing is a mistake, and so is a bound that no variable can have.
  struct Use {
    bool matched = false, bound_used = false;
    std::string grid_variable;  // one whose bound it would have been, had it named the variable; and why
  };

  Status check_rule(size_t rule, const std::string& where) const;

  const CopyOptions& options_;
  std::vector<Use> uses_;
  std::vector<size_t> matching_;  // the variable at hand
  SettingUses settings_;
};

// The paths that lead to a dataset: by hard links to it and to groups above it.
class DatasetNames {
 public:
  // There may be any number of them.
  static constexpr size_t most = 256;

  // Without rules nobody asks for other names than the first.
  DatasetNames(const Contents& contents, const std::vector<VariableRule>& rules);
  // `path` first; at most `most`.
  std::vector<std::string> of(const std::string& path) const;

 private:
  std::multimap<std::string, std::string> links_;  // from the path that a hard link leads to; "": the root
};

}  // namespace neve::datafile
