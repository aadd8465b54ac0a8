// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/variable_source.hpp"

#include "core/amr/grow.hpp"
#include "io/hdf5/layout_names.hpp"

namespace neve::cli {

VariableSource::VariableSource(Checkpoint& checkpoint, int variable)
    : checkpoint_(checkpoint), variable_(variable), hierarchy_(checkpoint.hierarchy()) {
  const Variable& of = checkpoint.variables()[static_cast<size_t>(variable)];
  hierarchy_.components = of.components;
  for (Level& level : hierarchy_.levels) amr::grow_boxes(level, of.ghosts);
}

Status VariableSource::read_box(int level, int box, int component, std::byte* out) {
  return checkpoint_.read_box(variable_, level, box, component, out);
}

std::string variable_field_name(const Variable& variable, size_t component) {
  const std::string& name = variable.components[component];
  if (variable.name == hdf5::plotfile_base) return name;
  return variable.components.size() == 1 && name == variable.name ? name : variable.name + " " + name;
}

}  // namespace neve::cli
