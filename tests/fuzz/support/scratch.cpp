// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/support/scratch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tests/fuzz/support/codes.hpp"

namespace neve::fuzz {
namespace {

namespace fs = std::filesystem;

std::string make_folder() {
  const char* const asked = std::getenv("TMPDIR");
  std::error_code error;
  const fs::path memory = "/dev/shm";
  const fs::path parent =
      asked != nullptr ? fs::path(asked) : (fs::exists(memory, error) ? memory : fs::path("/tmp"));
  std::string name = (parent / "neve-fuzz-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) broken_promise("no scratch folder in " + parent.string());
  return name;
}

void remove_folder() {
  std::error_code error;
  fs::remove_all(scratch_folder(), error);
}

}  // namespace

const std::string& scratch_folder() {
  static const std::string folder = make_folder();
  [[maybe_unused]] static const int registered = std::atexit(remove_folder);
  return folder;
}

std::string scratch_file(const std::string& name, std::span<const std::byte> bytes) {
  const fs::path path = fs::path(scratch_folder()) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path.string();
}

void clear_scratch() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(scratch_folder(), error)) fs::remove_all(entry, error);
}

}  // namespace neve::fuzz
