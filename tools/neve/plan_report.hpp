// SPDX-License-Identifier: BSD-3-Clause
// A plan, and what is printed of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/neve/plan_advice.hpp"
#include "tools/neve/plan_options.hpp"
#include "tools/neve/plan_rows.hpp"
#include "tools/neve/plan_subject.hpp"

namespace neve::cli::plan {

using Json = nlohmann::ordered_json;

struct Plan {
  Args args;
  Subject subject;
  io_model::FileSystem system;
  io_model::Striping striping;
  std::vector<Row> rows;
  Advice advice;
  uint64_t metadata_writes = 0;
};
Result<Plan> make_plan(const Args& args, const Source& source);

// What the numbers stand on.
std::vector<std::string> basis_of(const Plan& plan);

uint64_t mean_size(const io_model::SizeCounts& counts);
std::string seconds_text(double seconds);

std::string plan_text(const Plan& plan);
Json plan_json(const Plan& plan);

}  // namespace neve::cli::plan
