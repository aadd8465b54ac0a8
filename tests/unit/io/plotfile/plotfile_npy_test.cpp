// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "io/plotfile/npy.hpp"
#include "io/plotfile/open.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::plotfile {
namespace {

namespace fs = std::filesystem;

class Npy : public testing::Test {
 protected:
  // A file as NumPy's format document says, with this dictionary and these values.
  void put(const std::string& dictionary, const std::string& values, int version = 1) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    const size_t length_bytes = version == 1 ? 2 : 4;
    for (size_t i = 0; i < length_bytes; ++i)
      text += static_cast<char>((dictionary.size() >> (8 * i)) & 0xff);
    std::ofstream(path_, std::ios::binary) << text << dictionary << values;
  }

  const test::TempDir directory_;
  const std::string path_ = directory_ / "a.npy";
};

template <class T>
std::string bytes_of(const std::vector<T>& values, bool is_big_endian = false) {
  std::string text;
  for (T v : values) {
    char raw[sizeof(T)];
    std::memcpy(raw, &v, sizeof(T));
    if (is_big_endian) std::reverse(raw, raw + sizeof(T));
    text.append(raw, sizeof(T));
  }
  return text;
}

template <class T>
std::vector<T> values_of(const NpyArray& a) {
  std::vector<T> values(a.values.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), a.values.data(), a.values.size());
  return values;
}

TEST_F(Npy, ReadsCOrderOfEveryVersion) {
  for (int version : {1, 2, 3}) {
    put("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", bytes_of<float>({1, 2, 3, 4, 5, 6}),
        version);
    const auto a = read_npy(path_);
    ASSERT_TRUE(a.ok()) << a.status().message();
    EXPECT_EQ(a->dtype, DType::f32);
    EXPECT_EQ(a->shape, (std::vector<uint64_t>{2, 3}));
    EXPECT_EQ(values_of<float>(*a), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
}

TEST_F(Npy, ReadsBigEndianAndKeysInAnyOrder) {
  put("{\"shape\": (3L,), \"fortran_order\": False, \"descr\": \">f8\"}",
      bytes_of<double>({1.5, -2, 1e300}, true));
  const auto a = read_npy(path_);
  ASSERT_TRUE(a.ok()) << a.status().message();
  EXPECT_EQ(values_of<double>(*a), (std::vector<double>{1.5, -2, 1e300}));
}

TEST_F(Npy, TurnsFortranOrderIntoCOrder) {
  // a[i,j,k] = 100 i + 10 j + k of shape (2,3,4), first index fastest in the file.
  std::vector<float> stored, expected;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) stored.push_back(static_cast<float>(100 * i + 10 * j + k));
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) expected.push_back(static_cast<float>(100 * i + 10 * j + k));
    }
  }
  for (bool is_big : {false, true}) {
    put(std::string("{'descr': '") + (is_big ? ">" : "<") +
            "f4', 'fortran_order': True, 'shape': (2, 3, 4), }",
        bytes_of(stored, is_big));
    const auto a = read_npy(path_);
    ASSERT_TRUE(a.ok()) << a.status().message();
    EXPECT_EQ(values_of<float>(*a), expected);
  }
}

TEST_F(Npy, ReadsScalarsAndEmptyArrays) {
  for (const char* order : {"True", "False"}) {
    put(std::string("{'descr': '<f8', 'fortran_order': ") + order + ", 'shape': (), }",
        bytes_of<double>({7}));
    auto a = read_npy(path_);
    ASSERT_TRUE(a.ok()) << a.status().message();
    EXPECT_TRUE(a->shape.empty());
    EXPECT_EQ(values_of<double>(*a), (std::vector<double>{7}));
    put(std::string("{'descr': '<f8', 'fortran_order': ") + order + ", 'shape': (3, 0, 2), }", "");
    a = read_npy(path_);
    ASSERT_TRUE(a.ok()) << a.status().message();
    EXPECT_EQ(a->shape, (std::vector<uint64_t>{3, 0, 2}));
    EXPECT_TRUE(a->values.empty());
  }
}

TEST_F(Npy, WritesWhatItReads) {
  const std::vector<double> values{1, 2, 3, 4, 5, -0.0};
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{6}, {2, 3}, {1, 2, 1, 3, 1}, {6, 1}}) {
    ASSERT_TRUE(write_npy(path_, DType::f64, shape, std::as_bytes(std::span(values))).ok());
    const auto a = read_npy(path_);
    ASSERT_TRUE(a.ok()) << a.status().message();
    EXPECT_EQ(a->shape, shape);
    EXPECT_EQ(std::memcmp(a->values.data(), values.data(), a->values.size()), 0);
    EXPECT_EQ(read_npy_header(path_)->values_begin % 64, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()), 1)
      << "nothing left behind";
}

TEST_F(Npy, KeepsTheEarlierFileWhenItCannotWrite) {
  const std::vector<double> values{1, 2};
  EXPECT_EQ(write_npy(path_, DType::f64, std::vector<uint64_t>{3}, std::as_bytes(std::span(values))).code(),
            Code::usage);
  const Status status = write_npy(directory_ / "none/a.npy", DType::f64, std::vector<uint64_t>{2},
                                  std::as_bytes(std::span(values)));
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_NE(status.message().find("none/a.npy"), std::string::npos) << status.message();
}

TEST_F(Npy, RefusesWhatItCannotRead) {
  struct Fault {
    std::string dictionary;
    std::string values;
    int version;
    Code code;
    std::string words;
  };
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
  const std::string two = bytes_of<double>({1, 2});
  for (const Fault& f : std::vector<Fault>{
           {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", two, 1, Code::usage,
            "'|O' (Python objects)"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (16,), }", two, 1, Code::usage,
            "element type is '|b1'"},
           {"{'descr': '=i4', 'fortran_order': False, 'shape': (4,), }", two, 1, Code::usage,
            "element type is '=i4'"},
           {"{'descr': '', 'fortran_order': False, 'shape': (4,), }", two, 1, Code::usage,
            "element type is ''"},
           {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", two, 1, Code::usage,
            "records"},
           {good, two.substr(1), 1, Code::corrupt, "has 15 bytes of values; shape (2) of f64 needs 16"},
           {good, two + "x", 1, Code::corrupt, "has 17 bytes of values"},
           {good, two, 4, Code::corrupt, ".npy version is 4; 1 to 3"},
           {"{'descr': '<f8', 'shape': (2,), }", two, 1, Code::corrupt, "must all be there"},
           {"{'descr': '<f8', 'fortran_order': 0, 'shape': (2,), }", two, 1, Code::corrupt,
            "neither True nor False"},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", two, 1, Code::corrupt,
            "not a whole number"},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 ", two, 1, Code::corrupt, "')' of 'shape'"},
           {"{'descr': '<f8', 'extra': 1}", two, 1, Code::corrupt, "unknown key 'extra'"},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 16), }", two, 1,
            Code::corrupt, "more than 2^63"},
           {"", "", 1, Code::corrupt, "'{' is missing"}}) {
    put(f.dictionary, f.values, f.version);
    const Status status = read_npy(path_).status();
    EXPECT_EQ(status.code(), f.code) << f.dictionary << ": " << status.message();
    EXPECT_NE(status.message().find(f.words), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(path_), std::string::npos) << status.message();
  }
}

TEST_F(Npy, RefusesEveryTruncation) {
  put("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", bytes_of<double>({1, 2}));
  for (uintmax_t length = fs::file_size(path_); length-- > 0;) {
    fs::resize_file(path_, length);
    EXPECT_EQ(read_npy(path_).status().code(), Code::corrupt) << length;
  }
}

TEST_F(Npy, IsAPlotfileOfOneBox) {
  std::vector<float> values(2 * 3 * 4);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  ASSERT_TRUE(
      write_npy(path_, DType::f32, std::vector<uint64_t>{2, 3, 4}, std::as_bytes(std::span(values))).ok());
  auto opened = open_plotfile(path_);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const Hierarchy& h = (*opened)->hierarchy();
  EXPECT_EQ((*opened)->kind(), "NumPy array");
  EXPECT_EQ(h.dims, 3);
  EXPECT_EQ(h.components, (std::vector<std::string>{"data"}));
  EXPECT_EQ(h.levels.at(0).boxes.at(0), (Box{{0, 0, 0}, {3, 2, 1}})) << "the last index is x";
  std::vector<float> found(values.size());
  ASSERT_TRUE((*opened)->read_box(0, 0, 0, reinterpret_cast<std::byte*>(found.data())).ok());
  EXPECT_EQ(found, values);
  std::vector<float> part(5);
  const Result<bool> is_read =
      (*opened)->read_cells(0, 0, 0, 7, 5, reinterpret_cast<std::byte*>(part.data()));
  ASSERT_TRUE(is_read.ok() && *is_read);
  EXPECT_EQ(part, std::vector<float>(values.begin() + 7, values.begin() + 12));
  EXPECT_FALSE((*opened)->read_cells(0, 0, 0, 20, 5, reinterpret_cast<std::byte*>(part.data())).ok());
  EXPECT_EQ((*opened)->read_box(0, 0, 1, reinterpret_cast<std::byte*>(found.data())).code(), Code::usage);
}

TEST_F(Npy, OfFourDimensionsOrNoValuesIsNoPlotfile) {
  put("{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1), }", bytes_of<double>({1}));
  EXPECT_NE(open_plotfile(path_).status().message().find("4 dimensions; 1 to 3"), std::string::npos);
  put("{'descr': '<f8', 'fortran_order': False, 'shape': (3,0), }", "");
  EXPECT_NE(open_plotfile(path_).status().message().find("shape (3, 0)"), std::string::npos);
}

TEST_F(Npy, OfIntegersIsNoPlotfile) {
  put("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", bytes_of<int32_t>({1, 2}));
  const Status status = open_plotfile(path_).status();
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_NE(status.message().find("holds i32; f32 and f64 make a plotfile"), std::string::npos)
      << status.message();
}

TEST(NpyRealData, HasTheShapeItsReadmeSays) {
  const std::string path = std::string(NEVE_SHARED_DATA) + "/arrays/wpx_Ex.npy";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path << ": the reference data is not here";
  const auto a = read_npy(path);
  ASSERT_TRUE(a.ok()) << a.status().message();
  EXPECT_EQ(a->dtype, DType::f64);
  EXPECT_EQ(a->shape, (std::vector<uint64_t>{64, 65, 641}));
}

}  // namespace
}  // namespace neve::plotfile
