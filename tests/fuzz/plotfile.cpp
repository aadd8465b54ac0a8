// SPDX-License-Identifier: BSD-3-Clause
// An HDF5 plotfile of Neve, Chombo or AMReX from a recipe (support/hdf5_recipe.hpp): described, opened, and
// every box of it read.
#include <cstddef>
#include <cstdint>

#include "io/hdf5/plotfile_source.hpp"
#include "tests/fuzz/support/hdf5_recipe.hpp"
#include "tests/fuzz/support/read_plotfile.hpp"
#include "tests/fuzz/support/scratch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using neve::Code;
  const std::string path = neve::fuzz::scratch_folder() + "/plotfile.h5";
  const auto recipe = neve::fuzz::parse_recipe(std::as_bytes(std::span(data, size)));
  if (!neve::fuzz::make_hdf5_file(recipe, path)) return 0;
  const auto storage = neve::hdf5::describe_hdf5_plotfile(path);
  neve::fuzz::require_code(storage.status(), {Code::corrupt, Code::usage});
  auto source = neve::hdf5::open_hdf5_plotfile(path);
  neve::fuzz::require_code(source.status(), {Code::corrupt, Code::usage, Code::plugin_missing});
  if (source.ok()) neve::fuzz::read_all_boxes(**source, {Code::corrupt});
  return 0;
}
