// SPDX-License-Identifier: BSD-3-Clause
#include "neve/filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "bindings/c/last_error.hpp"
#include "io/hdf5/filter_text.hpp"

namespace neve::capi {
namespace {

static_assert(NEVE_MAX_FILTER_WORDS >= hdf5::max_words);

Status parameters_of(const char* text, unsigned* words, size_t* count) {
  if (text == nullptr || words == nullptr || count == nullptr) {
    return usage_error("neve_filter_parameters: text, words or count is NULL");
  }
  NEVE_ASSIGN(const hdf5::FilterParameters parameters, hdf5::parse_filter_text(text));
  NEVE_TRY(hdf5::check_promises(parameters));
  const std::vector<uint32_t> made = hdf5::to_words(parameters);
  if (made.size() > *count) {
    return usage_error(
        fmt::format("neve_filter_parameters: room for {} words; {} are needed", *count, made.size()));
  }
  std::copy(made.begin(), made.end(), words);
  *count = made.size();
  return {};
}

Status text_of(const unsigned* words, size_t count, char* text, size_t* bytes) {
  if ((words == nullptr && count > 0) || bytes == nullptr) {
    return usage_error("neve_filter_text: words or bytes is NULL");
  }
  NEVE_ASSIGN(const std::string made, hdf5::words_text({words, count}));
  const size_t needed = made.size() + 1;
  if (text != nullptr) {
    if (*bytes < needed) {
      return usage_error(fmt::format("neve_filter_text: room for {} bytes; {} are needed", *bytes, needed));
    }
    std::copy_n(made.c_str(), needed, text);
  }
  *bytes = needed;
  return {};
}

}  // namespace
}  // namespace neve::capi

int neve_filter_id(void) { return neve::hdf5::neve_filter_id; }

int neve_filter_parameters(const char* text, unsigned* words, size_t* count) {
  return neve::capi::reported([&] { return neve::capi::parameters_of(text, words, count); });
}

int neve_filter_text(const unsigned* words, size_t count, char* text, size_t* bytes) {
  return neve::capi::reported([&] { return neve::capi::text_of(words, count, text, bytes); });
}
