// SPDX-License-Identifier: BSD-3-Clause
// Attributes of any type: copied from object to object, and compared.
#pragma once

#include <hdf5.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/datafile/values.hpp"

namespace neve::datafile {

// The type to make in the target file of a type of the source file: the same, or its committed twin.
using TypeInTarget = std::function<Result<hdf5::Handle>(hid_t)>;

// In the order of their creation where the object tracks it. `place` names the object in messages. Objects
// that references lead to exist in the target already.
Status copy_attributes(hid_t source, hid_t target, const std::string& place, const ReferenceSpace& from,
                       const ReferenceSpace& to, const TypeInTarget& type_in_target,
                       uint64_t& lost_references);

// What differs, in words ("/temp: attribute units differs"); nothing when all is equal.
Result<std::vector<std::string>> compare_attributes(hid_t a, hid_t b, const std::string& place,
                                                    const ReferenceSpace& of_a, const ReferenceSpace& of_b);

// The same of the attributes that `a` has, wherever they stand: what `b` has beside them does not count.
Result<std::vector<std::string>> kept_attributes(hid_t a, hid_t b, const std::string& place,
                                                 const ReferenceSpace& of_a, const ReferenceSpace& of_b);

// The only value of a numeric attribute of one element; nothing for any other attribute.
std::optional<double> numeric_attribute(hid_t object, const std::string& name);

// All values of a numeric attribute, as f64; none for any other attribute.
std::vector<double> numeric_values(hid_t object, const std::string& name);

// The text of an attribute of strings of any kind, several of them with spaces in between; nothing for any
// other attribute.
std::optional<std::string> text_attribute(hid_t object, const std::string& name);

}  // namespace neve::datafile
