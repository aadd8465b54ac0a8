// SPDX-License-Identifier: BSD-3-Clause
// What a reader may read outside the file or folder that it is given.
#pragma once

#pragma GCC visibility push(default)
namespace neve {

struct OpenOptions {
  // A file can refer to others: HDF5 by external links, external storage and virtual datasets, a plotfile's
  // folder by symbolic links. Those in its own folder or below, symbolic links resolved, are read. Others are
  // a usage error that names them, unless this is set: a file of unknown origin must not decide which files
  // of its reader are read. A file's own folder is the one it really lies in, a plotfile directory's itself.
  bool follow_external = false;
};

}  // namespace neve
#pragma GCC visibility pop
