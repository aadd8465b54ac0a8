// SPDX-License-Identifier: BSD-3-Clause
// A variable of a checkpoint as a plotfile whose boxes have its ghosts in them, so that what reads, compares
// and describes plotfiles does so with checkpoints.
#pragma once

#include <string>

#include "neve/checkpoint_reader.hpp"
#include "neve/hierarchy.hpp"

namespace neve::cli {

class VariableSource : public PlotfileSource {
 public:
  // The checkpoint must outlive it.
  VariableSource(Checkpoint& checkpoint, int variable);
  const Hierarchy& hierarchy() const override { return hierarchy_; }
  Status read_box(int level, int box, int component, std::byte* out) override;
  uint64_t place(int level, int box) const override { return checkpoint_.place(variable_, level, box); }
  void expect_all() override { checkpoint_.expect_all(); }
  std::string kind() const override { return "Neve checkpoint"; }

 private:
  Checkpoint& checkpoint_;
  int variable_;
  Hierarchy hierarchy_;
};

// "thickness" where the variable is its only component, "velocity x" where it has several or another; of
// Chombo's one dataset "data" the component alone.
std::string variable_field_name(const Variable& variable, size_t component);

}  // namespace neve::cli
