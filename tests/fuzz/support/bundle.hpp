// SPDX-License-Identifier: BSD-3-Clause
// A folder of files as one input: "@@ PATH\n" and the file's bytes, up to the next line that begins so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace neve::fuzz {

struct BundledFile {
  std::string path;  // relative, plain names
  std::string_view bytes;
};

// Any bytes: what is no file is passed over. Keeps views of `bundle`.
std::vector<BundledFile> unbundle(std::string_view bundle);

void add_to_bundle(std::string& bundle, const std::string& path, std::string_view bytes);

}  // namespace neve::fuzz
