// SPDX-License-Identifier: BSD-3-Clause
#include "core/kernels/targets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cstdlib>

#include "neve/frame.hpp"

namespace neve {

namespace {

const Kernels* find_kernels(const std::string& name) {
  for (const Kernels* table : supported_kernels()) {
    if (name == table->name) return table;
  }
  return nullptr;
}

std::atomic<const Kernels*>& current() {
  // A name this machine cannot run leaves the best here, and check_simd_environment refuses it.
  static std::atomic<const Kernels*> table = [] {
    const char* forced = std::getenv("NEVE_SIMD");
    const Kernels* found = forced != nullptr ? find_kernels(forced) : nullptr;
    return found != nullptr ? found : supported_kernels().front();
  }();
  return table;
}

}  // namespace

const Kernels& kernels() { return *current().load(std::memory_order_relaxed); }

std::string simd_target() { return kernels().name; }

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const Kernels* table : supported_kernels()) names.emplace_back(table->name);
  return names;
}

Status check_simd_environment() {
  static const Status status = [] {
    const char* forced = std::getenv("NEVE_SIMD");
    if (forced == nullptr || find_kernels(forced) != nullptr) return Status();
    return usage_error(fmt::format("NEVE_SIMD=\"{}\" cannot run here; this machine has: {}", forced,
                                   fmt::join(simd_targets(), ", ")));
  }();
  return status;
}

Status set_simd_target(const std::string& name) {
  const Kernels* table = find_kernels(name);
  if (table == nullptr) {
    return usage_error(fmt::format("SIMD target \"{}\" cannot run here; this machine has: {}", name,
                                   fmt::join(simd_targets(), ", ")));
  }
  current().store(table);
  return {};
}

}  // namespace neve
