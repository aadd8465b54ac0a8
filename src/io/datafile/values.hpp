// SPDX-License-Identifier: BSD-3-Clause
// Values of any HDF5 type in memory: as many bytes as its type says, and what those point to.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// Whether values of the type lead to memory of their own (variable-length strings and sequences), or to
// objects of the file (references), at any depth.
struct TypeTraits {
  bool has_pointers = false;
  bool has_references = false;
};
TypeTraits type_traits(hid_t type);

// "f32", "i16", "u8", "f32 big-endian", "string", "compound", "vlen", "enum", "opaque", "reference", ...
std::string type_text(hid_t type);

class Values {
 public:
  // Room for all elements of `space`; `type` and `space` are copied.
  static Result<Values> of(hid_t type, hid_t space);
  Values(Values&&) noexcept = default;
  Values& operator=(Values&&) = delete;
  ~Values();

  void* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }
  size_t count() const { return count_; }
  hid_t type() const { return type_.id(); }
  hid_t space() const { return space_.id(); }

 private:
  Values() = default;
  hdf5::Handle type_, space_;
  std::vector<std::byte> bytes_;
  size_t count_ = 0;
  bool has_pointers_ = false;
};

// One file's objects by address, as references of its values lead to them.
struct ReferenceSpace {
  hid_t file = -1;
  const std::map<haddr_t, std::string>* path_of = nullptr;
};

// Makes references of `from` the same of `to`, where an object has the same path. One to an object that no
// path leads to (it was deleted) becomes the null reference and counts in `lost`.
Status translate_references(Values& values, const ReferenceSpace& from, const ReferenceSpace& to,
                            uint64_t& lost);

// Bit for bit, references by what they lead to.
bool equal_values(const Values& a, const ReferenceSpace& of_a, const Values& b, const ReferenceSpace& of_b);

}  // namespace neve::datafile
