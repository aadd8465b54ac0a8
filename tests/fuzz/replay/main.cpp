// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target over the files that it is given, and those of folders, once each: what libFuzzer's main
// does with a corpus, for compilers without libFuzzer. Ends with an error where there is no file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

void add_files(const fs::path& path, std::set<fs::path>& files) {
  if (!fs::is_directory(path)) {
    files.insert(path);
    return;
  }
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.insert(entry.path());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::set<fs::path> files;
  for (int i = 1; i < argc; ++i) add_files(argv[i], files);
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::fprintf(stderr, "%s: %zu bytes\n", path.c_str(), bytes.size());
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  std::fprintf(stderr, "%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
