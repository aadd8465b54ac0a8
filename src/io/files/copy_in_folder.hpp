// SPDX-License-Identifier: BSD-3-Clause
// Copies that become files of a folder, each under the name of its source.
#pragma once

#include <string>

#include "neve/status.hpp"

namespace neve::files {

// check_is_another of such a copy. A usage error also where a link has the copy's name: what it leads to may
// be another source, or anybody's.
Status check_is_another_in_folder(const std::string& source, const std::string& copy);

}  // namespace neve::files
