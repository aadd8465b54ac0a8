// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/verify_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "io/datafile/compare.hpp"
#include "io/hdf5/amr_file.hpp"
#include "io/hdf5/field_records.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "tools/neve/compare.hpp"

namespace neve::cli {
namespace {

// Datasets whose values are compared box by box.
std::set<std::string> variable_paths(const hdf5::CheckpointStorage& storage) {
  std::set<std::string> paths;
  for (const hdf5::VariableStorage& variable : storage.variables) {
    for (size_t l = 0; l < variable.levels.size(); ++l) {
      paths.insert(
          fmt::format("/{}/{}", hdf5::level_name(l), hdf5::DatasetNames(variable.variable.name).data));
    }
  }
  return paths;
}

// A table of bounds that a copy adds to a checkpoint, or takes over from an earlier copy and changes.
bool is_of_field_table(const std::string& difference) {
  const std::string path = difference.substr(0, difference.find_first_of(" :"));
  return path.ends_with(std::string("_") + hdf5::field_table_name);
}

// How Neve's own checkpoint keeps a variable, which may be another way in the copy; names, components and
// ghosts are compared with the variable.
bool is_of_storage(const std::string& difference) {
  return difference.starts_with(std::string("/") + hdf5::neve_name + "/" + hdf5::variables_name);
}

// The loosest bound that the copy records of a dataset of boxes; 0 where it records none.
Result<double> recorded_bound(hid_t copy, const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string base = hdf5::boxed_base(path.substr(slash + 1));
  if (base.empty() || slash == 0) return 0.0;
  const std::string place = path.substr(0, slash);
  const hdf5::Handle group(H5Gopen2(copy, place.c_str(), H5P_DEFAULT), H5Gclose);
  if (!group.valid()) return 0.0;
  NEVE_ASSIGN(const std::vector<hdf5::FieldRecord> records,
              hdf5::read_field_records(group.id(), place, hdf5::boxed_field_table(base)));
  double bound = 0;
  for (const hdf5::FieldRecord& record : records) bound = std::max(bound, record.bound_abs);
  return bound;
}

}  // namespace

Result<std::vector<std::string>> checkpoint_differences(const std::string& original,
                                                        const hdf5::CheckpointStorage& of_original,
                                                        const std::string& copy,
                                                        const hdf5::CheckpointStorage& of_copy,
                                                        const OpenOptions& options) {
  const auto is_chombo = [](const hdf5::CheckpointStorage& storage) {
    return storage.is.kind == hdf5::AmrFileKind::chombo_checkpoint;
  };
  const hdf5::QuietErrors quiet;
  if (!is_chombo(of_original) || !is_chombo(of_copy)) {
    auto changed = datafile::changed_group_attributes(original, copy, options);
    if (changed.ok()) std::erase_if(*changed, is_of_storage);
    return changed;
  }
  const std::set<std::string> variables = variable_paths(of_original);
  const Result<hdf5::Handle> copy_file = hdf5::open_file_to_read(copy);
  if (!copy_file.ok()) return copy_file.status().in(copy);
  std::vector<Comparison> sums;
  const auto compare = [&](const datafile::VariableComparison& variable, size_t number, const std::byte* a,
                           const std::byte* b, uint64_t count) {
    sums.resize(std::max(sums.size(), number + 1));
    const Result<double> bound = recorded_bound(copy_file->id(), variable.path);
    compare_values(*variable.dtype, a, b, count, {}, {bound.ok() ? *bound : 0, {}}, sums[number]);
  };
  NEVE_ASSIGN(datafile::FileComparison files,
              datafile::compare_data_files(
                  original, copy, options, compare, [](double) {},
                  [&](const std::string& path) { return variables.contains(path); }));
  std::vector<std::string> differences = std::move(files.differences);
  std::erase_if(differences, is_of_field_table);
  sums.resize(files.variables.size());
  for (size_t v = 0; v < files.variables.size(); ++v) {
    const datafile::VariableComparison& variable = files.variables[v];
    const bool is_same =
        variable.dtype ? sums[v].violations == 0 && sums[v].special_mismatches == 0 : variable.is_same;
    const std::string difference = variable.path + " holds other values";
    if (!is_same && !is_of_field_table(difference)) differences.push_back(difference);
  }
  return differences;
}

}  // namespace neve::cli
