// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace neve::files {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  if (number_ >= 0) ::close(number_);
  number_ = std::exchange(other.number_, -1);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Status Descriptor::close(const std::string& name) {
  if (::close(std::exchange(number_, -1)) != 0) return system_failure(name + ": closing");
  return {};
}

Status system_failure(const std::string& what) { return failure(what + ": " + std::strerror(errno)); }

}  // namespace neve::files
