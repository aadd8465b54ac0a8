// SPDX-License-Identifier: BSD-3-Clause
// Children that run in this process's memory, by vfork or clone: whether there may be one that is calling
// now. Asking the kernel for the number of the process at each open would cost as much as all else that is
// done.
#pragma once

namespace neve::trace {

// Since a clone that shares memory, for ever; after vfork, in the thread that called it, until that thread
// knows itself to be the parent, which does not run before the child has left.
bool may_be_child_in_parents_memory();
void is_parent();

}  // namespace neve::trace
