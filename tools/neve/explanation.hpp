// SPDX-License-Identifier: BSD-3-Clause
// --explain: every candidate's score, and why it lost or withdrew.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "neve/plotfile_writer.hpp"
#include "neve/selection_report.hpp"

namespace neve::cli {

nlohmann::ordered_json explanation_json(const Explanation& explanation);
// A heading and a table.
std::string explanation_text(const std::string& name, const Explanation& explanation);
// Those of all fields of a write, level by level; empty where nothing is explained.
std::string explanations_text(const WriteReport& report);

}  // namespace neve::cli
