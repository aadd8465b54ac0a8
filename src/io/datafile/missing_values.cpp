// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/missing_values.hpp"

#include <algorithm>
#include <cmath>

#include "io/datafile/attributes.hpp"
#include "io/hdf5/handle.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;

// NC_FILL_FLOAT and NC_FILL_DOUBLE: what netCDF writes where nobody did, unless told otherwise. A reader
// takes it for missing where there is no _FillValue. No integer has it.
constexpr double netcdf_fill = 9.9692099683868690e+36;

std::optional<double> dataset_fill(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  double value = 0;
  if (H5Pfill_value_defined(creation.id(), &defined) < 0 || defined != H5D_FILL_VALUE_USER_DEFINED ||
      H5Pget_fill_value(creation.id(), H5T_NATIVE_DOUBLE, &value) < 0) {
    return {};
  }
  return value;
}

void add_limits(hid_t dataset, MissingValues& missing) {
  const auto at_least = [&](double limit) { missing.lowest = std::max(missing.lowest, limit); };
  const auto at_most = [&](double limit) { missing.highest = std::min(missing.highest, limit); };
  if (const auto limit = numeric_attribute(dataset, "valid_min"); limit && !std::isnan(*limit))
    at_least(*limit);
  if (const auto limit = numeric_attribute(dataset, "valid_max"); limit && !std::isnan(*limit))
    at_most(*limit);
  const std::vector<double> range = numeric_values(dataset, "valid_range");
  if (range.size() != 2) return;
  // A limit that is NaN is none: no value lies beyond it.
  if (!std::isnan(range[0])) at_least(range[0]);
  if (!std::isnan(range[1])) at_most(range[1]);
}

}  // namespace

DeclaredMissing declared_missing(hid_t dataset) {
  std::vector<double> fills = numeric_values(dataset, "_FillValue");
  const bool has_fill_value = !fills.empty();
  const std::vector<double> more = numeric_values(dataset, "missing_value");
  fills.insert(fills.end(), more.begin(), more.end());
  if (const auto fill = dataset_fill(dataset)) fills.push_back(*fill);
  DeclaredMissing found;
  add_limits(dataset, found.others);
  if (found.others.lowest > found.others.highest) {
    // Between such limits (real files have them, written before any value was known) nothing would be valid.
    found.others = {};
  }
  for (const double fill : fills) {
    if (std::isnan(fill)) {
      found.nan_is_missing = true;
      continue;
    }
    if (!found.fill) found.fill = fill;
    if (fill != *found.fill) found.others.fills.push_back(fill);
  }
  std::vector<double>& others = found.others.fills;
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  if (found.fill && *found.fill != netcdf_fill) {
    if (has_fill_value) {
      found.unlikely = netcdf_fill;
    } else {
      found.others.fills.push_back(netcdf_fill);
    }
  }
  found.others.is_mask = found.fill.has_value();
  return found;
}

}  // namespace neve::datafile
