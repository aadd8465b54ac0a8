// SPDX-License-Identifier: BSD-3-Clause
// A Verilated module with its clock.
#pragma once

#include <gtest/gtest.h>
#include <verilated.h>

#include <cstdint>
#include <memory>

namespace neve::rtl {

template <class Module>
class Clocked {
 public:
  explicit Clocked(uint64_t seed) : context_(std::make_unique<VerilatedContext>()) {
    // Registers and memories begin with any bits, as they do in a device.
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed % 100000 + 1));
    module_ = std::make_unique<Module>(context_.get());
    module_->clk = 0;
    module_->eval();
  }
  ~Clocked() {
    // A module takes itself out of the thread's context, which another module's may have become.
    Verilated::threadContextp(context_.get());
    module_->final();
  }
  Clocked(const Clocked&) = delete;
  Clocked& operator=(const Clocked&) = delete;

  Module* operator->() { return module_.get(); }
  Module& operator*() { return *module_; }
  // What inputs bring about within a cycle.
  void settle() {
    module_->eval();
    is_settled_ = true;
  }
  // The next rising edge; the clock has to be seen low before.
  void tick() {
    if (!is_settled_) module_->eval();
    module_->clk = 1;
    module_->eval();
    module_->clk = 0;
    is_settled_ = false;
    ++cycles_;
  }
  uint64_t cycles() const { return cycles_; }

 private:
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Module> module_;
  uint64_t cycles_ = 0;
  bool is_settled_ = false;
};

}  // namespace neve::rtl
