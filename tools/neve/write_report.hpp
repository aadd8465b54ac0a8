// SPDX-License-Identifier: BSD-3-Clause
// What a write took, as JSON and in words.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "neve/plotfile_writer.hpp"

namespace neve::cli {

// What the codecs made, without the headers of frames and the rest of the file.
uint64_t codec_bytes(const WriteReport& report);

nlohmann::ordered_json report_json(const WriteReport& report);
nlohmann::ordered_json phases_json(const WriteReport& report, double read_seconds);
uint64_t left_out_cells(const WriteReport& report);  // of all fields and levels
// "bound: rel=1e-3 (the default; choose with --bound)", a line; `besides` are other options that set bounds.
std::string bound_line(const std::string& bound, bool is_default, const std::string& besides = "");
// A line: what became of covered cells, and who sees it.
std::string covered_line(const WriteReport& report);
std::string report_table(const WriteReport& report);
// "plt.h5: 40 MiB -> 2 MiB, 20 times smaller (1.9 MiB of it made by codecs)".
std::string report_summary(const std::string& destination, const WriteReport& report);
std::string hints_line(const WriteReport& report);

}  // namespace neve::cli
