// SPDX-License-Identifier: BSD-3-Clause
// A checkpoint from a recipe (support/hdf5_recipe.hpp), of any kind that open_checkpoint knows: described,
// opened, and every box of every variable read.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/hdf5/checkpoint_source.hpp"
#include "neve/checkpoint_reader.hpp"
#include "tests/fuzz/support/codes.hpp"
#include "tests/fuzz/support/hdf5_recipe.hpp"
#include "tests/fuzz/support/scratch.hpp"

namespace {

using neve::Code;
using neve::fuzz::require_code;

void read_all_boxes(neve::Checkpoint& checkpoint) {
  constexpr uint64_t max_bytes = uint64_t{8} << 20;
  constexpr int max_reads = 2000;
  const neve::Hierarchy& h = checkpoint.hierarchy();
  uint64_t bytes = 0;
  int reads = 0;
  std::vector<std::byte> values;
  for (int v = 0; v < static_cast<int>(checkpoint.variables().size()); ++v) {
    const neve::Variable& variable = checkpoint.variables()[static_cast<size_t>(v)];
    for (int l = 0; l < static_cast<int>(h.levels.size()); ++l) {
      const auto& boxes = h.levels[static_cast<size_t>(l)].boxes;
      for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
        uint64_t box_bytes = neve::dtype_bytes(h.dtype);
        for (int d = 0; d < neve::max_dims; ++d) {
          const int64_t side = boxes[static_cast<size_t>(b)].size(d) + 2 * int64_t{variable.ghosts[d]};
          box_bytes = std::min(box_bytes * static_cast<uint64_t>(side), max_bytes + 1);
        }
        if (box_bytes > max_bytes) continue;
        if ((bytes += box_bytes) > max_bytes || ++reads > max_reads) return;
        values.resize(box_bytes);
        for (int c = 0; c < static_cast<int>(variable.components.size()) && c < 8; ++c) {
          require_code(checkpoint.read_box(v, l, b, c, values.data()), {Code::corrupt});
        }
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = neve::fuzz::scratch_folder() + "/checkpoint.h5";
  const auto recipe = neve::fuzz::parse_recipe(std::as_bytes(std::span(data, size)));
  if (!neve::fuzz::make_hdf5_file(recipe, path)) return 0;
  require_code(neve::hdf5::describe_checkpoint(path).status(), {Code::corrupt, Code::usage});
  auto checkpoint = neve::open_checkpoint(path);
  require_code(checkpoint.status(), {Code::corrupt, Code::usage, Code::plugin_missing});
  if (checkpoint.ok()) read_all_boxes(**checkpoint);
  return 0;
}
