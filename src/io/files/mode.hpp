// SPDX-License-Identifier: BSD-3-Clause
// Who may read and write what replaces something: whoever might what was there. Access control lists and
// extended attributes are not carried over.
#pragma once

#include <string>

#include "neve/status.hpp"

namespace neve::files {

// Gives `made`, a file, the mode, owner and group of the file `replaced`. Where the group is not this
// process's to give, the group of `made` gets no more than others have. Nothing where `replaced` is missing.
Status keep_mode(const std::string& made, const std::string& replaced);

// The same of a folder and all that is in it, each by its counterpart; what has none in a folder that has
// one gets no more than all files there had. The folders that replaced ones are keep all twelve bits.
Status keep_modes(const std::string& made, const std::string& replaced);

}  // namespace neve::files
