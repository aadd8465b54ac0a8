// SPDX-License-Identifier: BSD-3-Clause
// What a member's file holds, and its rows whatever its form.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/apps/ensemble/field_file.hpp"
#include "bench/apps/ensemble/letkf.hpp"
#include "bench/apps/ensemble/model.hpp"

namespace neve::ensemble {

inline constexpr std::array<const char*, analysed_variables> analysed_names = {"U", "V", "DZ", "QVAPOR"};
const std::vector<float>& analysed(const State& state, int variable);
std::vector<float>& analysed(State& state, int variable);

// A member's file, as WRF's hold them: state, diagnostics and what never changes. The analysed ones first.
std::vector<Field> fields_of(const Grid& g, const State& state, const Diagnostics& d, const Constants& c);

// Rows of a member's file at one output, whatever its form.
class MemberFile {
 public:
  static Result<MemberFile> open(const Grid& grid, const std::string& path, bool is_flat);

  // An analysed variable's rows, [layer][row][x]. Returns the bytes that were read.
  Result<uint64_t> read_rows(int variable, int first_row, int rows, float* out) const;

 private:
  explicit MemberFile(const Grid& grid) : grid_(grid) {}

  Grid grid_;
  std::optional<FieldFile> fields_;
  std::shared_ptr<plotfile::File> flat_;
};

}  // namespace neve::ensemble
