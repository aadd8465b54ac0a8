// SPDX-License-Identifier: BSD-3-Clause
// A netCDF-4 or other HDF5 data file from a recipe (support/hdf5_recipe.hpp): described, copied under options
// that the last byte chooses, and compared with its copy, which must hold all that it held.
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "io/datafile/compare.hpp"
#include "io/datafile/copy.hpp"
#include "io/datafile/describe.hpp"
#include "tests/fuzz/support/codes.hpp"
#include "tests/fuzz/support/hdf5_recipe.hpp"
#include "tests/fuzz/support/scratch.hpp"

namespace {

using neve::Code;
using neve::fuzz::broken_promise;
using neve::fuzz::require_code;

constexpr std::initializer_list<Code> refusals = {Code::corrupt, Code::usage, Code::plugin_missing};
// A copy reads and writes every value and every chunk, so files that claim more are not copied here.
constexpr uint64_t max_raw_bytes = uint64_t{16} << 20;
constexpr uint64_t max_chunks = 4096;

neve::datafile::CopyOptions options_of(uint8_t choice) {
  neve::datafile::CopyOptions options;
  constexpr uint8_t bounded = 1, rechunked = 2, fill_is_a_value = 4, balanced = 8;
  if ((choice & bounded) != 0) options.bound = {neve::BoundMode::rel, 1e-3};
  if ((choice & rechunked) != 0) options.chunk_bytes = uint64_t{64} << 10;
  options.use_fill = (choice & fill_is_a_value) == 0;
  if ((choice & balanced) != 0) options.effort = neve::Effort::balanced;
  options.resume = false;
  options.progress = [](const std::string&, double) {};
  options.say = [](const std::string&) {};
  return options;
}

// Small enough to be copied.
bool describe(const std::string& path) {
  const auto description = neve::datafile::describe_data_file(path);
  require_code(description.status(), refusals);
  if (!description.ok()) return false;
  uint64_t bytes = 0, chunks = 0;
  for (const neve::datafile::Variable& variable : description->variables) {
    const uint64_t of_variable = variable.raw_bytes();
    if (of_variable > max_raw_bytes || (bytes += of_variable) > max_raw_bytes) return false;
    // A chunk is held whole, whatever the dataset holds of it.
    uint64_t chunk_bytes = variable.element_bytes;
    for (const uint64_t side : variable.chunk) {
      if (side == 0 || chunk_bytes > max_raw_bytes / side) return false;
      chunk_bytes *= side;
    }
    if (variable.chunk.empty()) continue;
    chunks += neve::datafile::ChunkGrid{variable.dims, variable.chunk}.count();
    if (chunks > max_chunks) return false;
  }
  return true;
}

void compare(const std::string& source, const std::string& target, bool is_lossless) {
  bool differs = false;
  const auto compared = neve::datafile::compare_data_files(
      source, target, {},
      [&](const neve::datafile::VariableComparison& variable, size_t, const std::byte* a, const std::byte* b,
          uint64_t count) { differs |= std::memcmp(a, b, count * neve::dtype_bytes(*variable.dtype)) != 0; },
      [](double) {});
  if (!compared.ok()) broken_promise("the copy cannot be compared: " + compared.status().message());
  if (!compared->differences.empty()) broken_promise("the copy differs: " + compared->differences.front());
  for (const auto& variable : compared->variables) {
    if (!variable.is_same) broken_promise("the copy has other values of " + variable.path);
  }
  if (is_lossless && differs) broken_promise("a lossless copy has other values");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string source = neve::fuzz::scratch_folder() + "/source.nc";
  const std::string target = neve::fuzz::scratch_folder() + "/target.nc";
  std::error_code error;
  std::filesystem::remove(target, error);
  const auto recipe = neve::fuzz::parse_recipe(std::as_bytes(std::span(data, size).first(size - 1)));
  if (!neve::fuzz::make_hdf5_file(recipe, source) || !describe(source)) return 0;
  const auto options = options_of(data[size - 1]);
  const auto report = neve::datafile::copy_data_file(source, target, options);
  require_code(report.status(), refusals);
  if (!report.ok()) {
    if (std::filesystem::exists(target, error)) broken_promise("a refused copy left its file");
    return 0;
  }
  compare(source, target, options.bound.mode == neve::BoundMode::lossless);
  return 0;
}
