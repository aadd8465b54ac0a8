// SPDX-License-Identifier: BSD-3-Clause
// What the kernels' quantizer does not know: several missing values, and lattices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernels/kernels.hpp"
#include "core/kernels/portable.hpp"
#include "neve/frame.hpp"

namespace neve {

// Each value as the data's type holds it: what a reader compares with.
MissingValues as_held(DType dtype, MissingValues missing);

// Whether values may be missing because of their size.
bool has_limits(const MissingValues& missing);

// Whether a value within the component's bound of a valid one could be taken for a missing one: then only
// dual_quant looks at what each value decodes to.
bool may_become_missing(const ComponentSpec& spec);

template <class T>
class ValueRules {
 public:
  ValueRules(const ComponentSpec& spec, const Quantizer<T>& quantizer);

  // Comes back bit for bit, whatever the bound: NaN, infinities, -0, fill and missing values.
  bool is_special(T value) const {
    return portable::is_special(value, has_fill_, fill_bits_) || (has_more_ && is_missing(value));
  }
  // Whether is_special says more than portable::is_special with the fill value.
  bool has_more() const { return has_more_; }

  // Whether quantize is the kernels' alone.
  bool are_of_kernels() const { return !judges_all_ && !(sizeof(T) == 4 && is_lattice_); }
  // The kernels' quantize, and what is missing in it. `quantizer` as given to the constructor, with any
  // origin.
  void quantize(const T* values, size_t n, const Quantizer<T>& quantizer, int32_t* quant_codes,
                QuantizeStats<T>& stats) const;

 private:
  bool is_missing(T value) const;
  bool is_allowed(T value, T decoded, int64_t multiple) const;
  bool recover(T value, const Quantizer<T>& quantizer, int32_t& quant_code, QuantizeStats<T>& stats) const;

  bool has_fill_;
  portable::BitsOf<T> fill_bits_;
  T fill_;
  std::vector<T> missing_;
  T lowest_, highest_;
  bool is_mask_;
  bool has_zero_padding_;
  bool has_more_;
  bool is_lattice_;
  int64_t center_multiple_ = 0;  // the lattice's number of quantization code 0
  bool has_large_ = false;       // multiples at or above the lattice's limit may come
  bool judges_all_;  // every quantization code is looked at, not only those that the kernels reject
};

}  // namespace neve
