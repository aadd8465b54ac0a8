// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/blocks/failure_message.hpp"

#include <cstring>
#include <string>
#include <string_view>

namespace neve::mpi {
namespace {

// A frame has its version, 1, where this has letters.
constexpr std::string_view magic = "NEVEFAIL";

}  // namespace

Bytes failure_message(const Status& status) {
  const auto code = static_cast<int32_t>(status.code());
  Bytes message(magic.size() + sizeof code + status.message().size());
  std::memcpy(message.data(), magic.data(), magic.size());
  std::memcpy(message.data() + magic.size(), &code, sizeof code);
  std::memcpy(message.data() + magic.size() + sizeof code, status.message().data(), status.message().size());
  return message;
}

std::optional<Status> read_failure(std::span<const std::byte> message) {
  int32_t code = 0;
  if (message.size() < magic.size() + sizeof code ||
      std::memcmp(message.data(), magic.data(), magic.size()) != 0) {
    return {};
  }
  std::memcpy(&code, message.data() + magic.size(), sizeof code);
  const auto text = message.subspan(magic.size() + sizeof code);
  return Status(static_cast<Code>(code),
                std::string(reinterpret_cast<const char*>(text.data()), text.size()));
}

}  // namespace neve::mpi
