// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/stamped_name.hpp"

#include <sys/random.h>

#include <cstdint>
#include <cstdio>

#include "io/files/descriptor.hpp"
#include "io/files/process.hpp"

namespace neve::files {
namespace {

constexpr size_t random_digits = 16;

Result<std::string> random_text() {
  uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    return system_failure("random numbers");
  }
  char text[random_digits + 1];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
  return std::string(text);
}

}  // namespace

Result<std::string> stamped_name(const std::string& stem) {
  NEVE_ASSIGN(const std::string random, random_text());
  return stem + process_name() + "-" + random;
}

bool is_left_behind(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem) || name.size() < stem.size() + random_digits + 1) return false;
  const std::string_view process = name.substr(stem.size(), name.size() - stem.size() - random_digits - 1);
  const std::string_view random = name.substr(name.size() - random_digits);
  return name[name.size() - random_digits - 1] == '-' &&
         random.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         is_of_ended_process(process);
}

}  // namespace neve::files
