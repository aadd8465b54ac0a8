// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/failure_message.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/status/guarded.hpp"

namespace neve::mpi {
namespace {

// A frame has its version, 1, where this has letters.
constexpr std::string_view magic = "NEVEFAIL";

}  // namespace

FailureMessage failure_message(const Status& status) noexcept {
  FailureMessage message;
  const auto add = [&](const void* data, size_t bytes) {
    const size_t fits = std::min(bytes, message.data.size() - message.bytes);
    std::memcpy(message.data.data() + message.bytes, data, fits);
    message.bytes += fits;
  };
  const auto code = static_cast<int32_t>(status.code());
  add(magic.data(), magic.size());
  add(&code, sizeof code);
  add(status.message().data(), status.message().size());
  return message;
}

std::optional<Status> read_failure(std::span<const std::byte> message) noexcept {
  int32_t code = 0;
  if (message.size() < magic.size() + sizeof code ||
      std::memcmp(message.data(), magic.data(), magic.size()) != 0) {
    return {};
  }
  std::memcpy(&code, message.data() + magic.size(), sizeof code);
  const auto text = message.subspan(magic.size() + sizeof code);
  return guarded("a failure elsewhere", [&] {
    return Status(static_cast<Code>(code),
                  std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  });
}

}  // namespace neve::mpi
