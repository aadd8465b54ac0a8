// SPDX-License-Identifier: BSD-3-Clause
// The filter's parameters by name, as one text: abs = 0.001, effort = "max". It is the inside of an inline
// table of TOML, the form in which HDF5 is to give parameters to filters (docs/hdf5-versions.md). Needs
// no HDF5.
#pragma once

#include <string>
#include <string_view>

#include "io/hdf5/filter_parameters.hpp"

namespace neve::hdf5 {

// HDF5 plans to refuse longer ones.
inline constexpr size_t max_filter_text = 4096;

// What a user asks for: all but dtype and chunk shape, which the filter gets from the dataset. Without a
// bound, and without any text: lossless. `rel` with a range becomes the bound in the values' own units.
// Errors: usage, naming the key, the value found and what is allowed.
Result<FilterParameters> parse_filter_text(std::string_view text);

// Its inverse, of a dataset's parameters too: what is as it is without a word, or has no meaning beside the
// others, is left out.
std::string filter_text(const FilterParameters& parameters);

// The same of a user's words, or of a dataset's, which have more behind them. Errors: usage, also for words
// that ask for what cannot be kept (check_promises), so that the text can be given.
Result<std::string> words_text(std::span<const uint32_t> words);

}  // namespace neve::hdf5
