// SPDX-License-Identifier: BSD-3-Clause
#include "alone/info.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

#include "alone/errors.hpp"

using namespace neve::alone;

int MPI_Info_create(MPI_Info* info) {
  return guarded([&] {
    *info = std::make_unique<Info>().release();
    return MPI_SUCCESS;
  });
}

int MPI_Info_free(MPI_Info* info) {
  delete *info;
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

int MPI_Info_set(MPI_Info info, const char* key, const char* value) {
  return guarded([&]() -> int {
    const size_t key_length = std::strlen(key), length = std::strlen(value);
    if (key_length == 0 || key_length >= MPI_MAX_INFO_KEY || length >= MPI_MAX_INFO_VAL) return bad_argument;
    info->values[key] = value;
    return MPI_SUCCESS;
  });
}

int MPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* is_there) {
  return guarded([&]() -> int {
    const auto found = info->values.find(key);
    *is_there = found != info->values.end() ? 1 : 0;
    if (*is_there == 0) return MPI_SUCCESS;
    const size_t copied = std::min(found->second.size(), static_cast<size_t>(std::max(length, 0)));
    std::memcpy(value, found->second.data(), copied);
    value[copied] = '\0';
    return MPI_SUCCESS;
  });
}

int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* length, int* is_there) {
  return guarded([&]() -> int {
    const auto found = info->values.find(key);
    *is_there = found != info->values.end() ? 1 : 0;
    if (*is_there != 0) *length = static_cast<int>(found->second.size());
    return MPI_SUCCESS;
  });
}

int MPI_Info_get_nkeys(MPI_Info info, int* count) {
  *count = static_cast<int>(info->values.size());
  return MPI_SUCCESS;
}

int MPI_Info_get_nthkey(MPI_Info info, int number, char* key) {
  if (number < 0 || static_cast<size_t>(number) >= info->values.size()) return bad_argument;
  const std::string& found = std::next(info->values.begin(), number)->first;
  std::memcpy(key, found.c_str(), found.size() + 1);
  return MPI_SUCCESS;
}
