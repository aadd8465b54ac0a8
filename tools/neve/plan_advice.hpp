// SPDX-License-Identifier: BSD-3-Clause
// What to choose, and the lines that ask for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/io_model/predict.hpp"
#include "tools/neve/plan_options.hpp"
#include "tools/neve/plan_rows.hpp"
#include "tools/neve/plan_subject.hpp"

namespace neve::cli::plan {

struct Advice {
  size_t best = 0;  // of Neve's rows that compress nothing
  std::optional<bool> compress;
  std::optional<double> break_even_megabytes;  // codec speed of a rank at which compression stops paying
  std::vector<std::string> caveats;
};

Advice advise(const Args& args, const std::vector<Row>& rows, const Subject& subject);

// The row to choose: the compressed one, which is the last, where compression pays.
inline const Row& chosen_row(const Advice& advice, const std::vector<Row>& rows) {
  return advice.compress.value_or(false) ? rows.back() : rows[advice.best];
}

// "lfs setstripe -c 8 -S 16M DIR", and what it is for.
struct PasteLine {
  std::string use, line;
};
std::vector<PasteLine> paste_lines(const Args& args, const io_model::Striping& striping,
                                   const io_model::FileSystem& system, const Row& best);

}  // namespace neve::cli::plan
