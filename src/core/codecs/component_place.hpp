// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace neve {

// What errors of a frame call a component, which has no name there: whoever knows one puts it in its place.
inline std::string component_place(size_t component) { return "component " + std::to_string(component); }

}  // namespace neve
