// SPDX-License-Identifier: BSD-3-Clause
// What `neve decompress` makes of a stream.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "io/plotfile/npy.hpp"
#include "neve/stream.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::rtl {

// The command gives an array of that shape, with the very values that decode_stream gives.
inline void expect_command_reads(const std::vector<std::byte>& stream, const std::vector<uint64_t>& shape) {
  const test::TempDir folder;
  const std::string path = folder / "field.nevs";
  const std::string back = folder / "back.npy";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(stream.data()), static_cast<std::streamsize>(stream.size()));
  const std::string command =
      fmt::format("{}/bin/neve decompress {} {} > /dev/null", NEVE_BUILD_DIR, path, back);
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const auto array = plotfile::read_npy(back);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->shape, shape);
  std::vector<std::byte> decoded(array->values.size());
  const Status s = decode_stream(stream, decoded.data(), decoded.size());
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(std::memcmp(array->values.data(), decoded.data(), decoded.size()), 0);
}

}  // namespace neve::rtl
