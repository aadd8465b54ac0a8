// SPDX-License-Identifier: BSD-3-Clause
// Plotfiles written here byte by byte, in every variant AMReX has, read back; and damaged ones refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "io/plotfile/amrex_reader.hpp"
#include "io/plotfile/open.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::plotfile {
namespace {

namespace fs = std::filesystem;

using test::TempDir;

// Replaces the first `what` in a file; the test is wrong when there is none.
void replace_in(const std::string& path, const std::string& what, const std::string& by) {
  std::string text = test::read_file(path);
  const size_t at = text.find(what);
  ASSERT_NE(at, std::string::npos) << what << " is not in " << path;
  test::write_file(path, text.replace(at, what.size(), by));
}

struct Variant {
  std::string name;
  int dims = 3;
  DType dtype = DType::f64;
  bool is_big_endian = false;
  IntVect ghosts{0, 0, 0};
  int version = 1;
  bool has_old_fab_header = false;
};

double value_at(int level, int component, int x, int y, int z) {
  return level * 100000 + component * 10000 + x + 10.5 * y - 100.25 * z;
}

std::string vect(const IntVect& v, int dims) {
  std::string text = "(";
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) text += (d ? "," : "") + std::to_string(v[d]);
  return text + ")";
}

std::string box_text(const Box& b, int dims) {
  return "(" + vect(b.lo, dims) + " " + vect(b.hi, dims) + " " + vect({0, 0, 0}, dims) + ")";
}

std::string real_format(const Variant& v) {
  if (v.dtype == DType::f32) {
    return v.is_big_endian ? "((8, (32 8 23 0 1 9 0 127)),(4, (1 2 3 4)))"
                           : "((8, (32 8 23 0 1 9 0 127)),(4, (4 3 2 1)))";
  }
  return v.is_big_endian ? "((8, (64 11 52 0 1 12 0 1023)),(8, (1 2 3 4 5 6 7 8)))"
                         : "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))";
}

template <class T>
void append(std::string& bytes, T value, bool is_big_endian) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  if (is_big_endian) std::reverse(raw, raw + sizeof(T));
  bytes.append(raw, sizeof(T));
}

Box in_dims(Box b, int dims) {
  for (size_t d = static_cast<size_t>(dims); d < 3; ++d) b.lo[d] = b.hi[d] = 0;
  return b;
}

Box grown(Box b, const IntVect& ghosts) {
  for (size_t d = 0; d < 3; ++d) b.lo[d] -= ghosts[d], b.hi[d] += ghosts[d];
  return b;
}

// Two levels with boxes of different sizes, each level in two files, the second file holding the boxes in
// reverse.
struct Levels {
  std::vector<Box> domains;
  std::vector<std::vector<Box>> boxes;
};

Levels levels_of(int dims) {
  Levels l;
  l.domains = {in_dims({{0, 0, 0}, {15, 7, 7}}, dims), in_dims({{0, 0, 0}, {31, 15, 15}}, dims)};
  l.boxes = {{in_dims({{0, 0, 0}, {4, 7, 7}}, dims), in_dims({{5, 0, 0}, {11, 7, 7}}, dims),
              in_dims({{12, 0, 0}, {15, 7, 7}}, dims)},
             {in_dims({{4, 2, 2}, {9, 9, 7}}, dims), in_dims({{10, 2, 2}, {11, 7, 9}}, dims),
              in_dims({{20, 0, 0}, {27, 3, 3}}, dims)}};
  return l;
}

constexpr int components = 2;

std::string fab(const Variant& v, int level, const Box& valid) {
  const Box stored = grown(valid, v.ghosts);
  std::string bytes;
  if (v.has_old_fab_header) {
    bytes = "FAB: 1 " + std::string(v.dtype == DType::f32 ? "0" : "1") + " IEEE " + box_text(stored, v.dims) +
            " 2\n";
  } else if (v.version == 1) {
    bytes = "FAB " + real_format(v) + box_text(stored, v.dims) + " 2\n";
  }
  for (int c = 0; c < components; ++c) {
    for (int z = stored.lo[2]; z <= stored.hi[2]; ++z) {
      for (int y = stored.lo[1]; y <= stored.hi[1]; ++y) {
        for (int x = stored.lo[0]; x <= stored.hi[0]; ++x) {
          // Ghosts hold what no cell holds.
          const bool is_valid = valid.contains({{x, y, z}, {x, y, z}});
          const double value = is_valid ? value_at(level, c, x, y, z) : -1e30;
          if (v.dtype == DType::f32) {
            append(bytes, static_cast<float>(value), v.is_big_endian);
          } else {
            append(bytes, value, v.is_big_endian);
          }
        }
      }
    }
  }
  return bytes;
}

void write_level(const std::string& path, const Variant& v, int level, const std::vector<Box>& boxes) {
  const std::string directory = path + "/Level_" + std::to_string(level) + "/";
  std::string files[2];
  std::vector<std::string> places(boxes.size());
  const auto put = [&](size_t i, int file) {
    places[i] =
        "FabOnDisk: Cell_D_0000" + std::to_string(file) + " " + std::to_string(files[file].size()) + "\n";
    files[file] += fab(v, level, boxes[i]);
  };
  put(0, 0);
  put(2, 1);
  put(1, 1);
  for (int f = 0; f < 2; ++f) test::write_file(directory + "Cell_D_0000" + std::to_string(f), files[f]);

  std::ostringstream h;
  h << v.version << "\n1\n" << components << "\n";
  const bool is_even = v.ghosts[1] == v.ghosts[0] && v.ghosts[2] == v.ghosts[0];
  h << (is_even ? std::to_string(v.ghosts[0]) : vect(v.ghosts, v.dims)) << "\n(" << boxes.size() << " 0\n";
  for (const Box& b : boxes) h << box_text(b, v.dims) << "\n";
  h << ")\n" << boxes.size() << "\n";
  for (const std::string& place : places) h << place;
  h << "\n";
  if (v.version == 1 || v.version == 3) {
    for (int table = 0; table < 2; ++table) {
      h << boxes.size() << "," << components << "\n";
      for (size_t i = 0; i < boxes.size(); ++i) h << "1.5e-01,-nan,\n";
      h << "\n";
    }
  } else if (v.version == 4) {
    h << "1.0e+00,-2.0e+00,\n3.0e+00,4.0e-400,\n";
  }
  if (v.version > 1) h << real_format(v) << "\n";
  test::write_file(directory + "Cell_H", h.str());
}

std::string write_variant(const TempDir& dir, const Variant& v) {
  const std::string path = dir / "plt";
  const Levels levels = levels_of(v.dims);
  std::ostringstream h;
  h << "HyperCLaw-V1.1\n2\ndensity\nmass fraction of H2\n" << v.dims << "\n0.125\n1\n";
  for (const char* end : {"0 ", "16 "}) {
    for (int d = 0; d < v.dims; ++d) h << end;
    h << "\n";
  }
  h << "2 \n"
    << box_text(levels.domains[0], v.dims) << " " << box_text(levels.domains[1], v.dims) << " \n7 14 \n";
  for (const char* dx : {"1 ", "0.5 "}) {
    for (int d = 0; d < v.dims; ++d) h << dx;
    h << "\n";
  }
  h << "0\n0\n";
  for (size_t l = 0; l < 2; ++l) {
    const double dx = l == 0 ? 1 : 0.5;
    h << l << " " << levels.boxes[l].size() << " 0.125\n" << 7 * (l + 1) << "\n";
    for (const Box& b : levels.boxes[l]) {
      for (size_t d = 0; d < static_cast<size_t>(v.dims); ++d)
        h << b.lo[d] * dx << " " << (b.hi[d] + 1) * dx << "\n";
    }
    h << "Level_" << l << "/Cell\n";
    write_level(path, v, static_cast<int>(l), levels.boxes[l]);
  }
  test::write_file(path + "/Header", h.str());
  test::write_file(path + "/job_info", "who: nobody\n");
  return path;
}

// One level of two boxes of four cells in one dimension, from cell `first` on.
std::string write_shifted(const TempDir& dir, int first, bool is_shifted, const std::string& prob_hi = "5") {
  const std::string path = dir / "shifted";
  std::ostringstream h, fabs;
  h << "HyperCLaw-V1.1\n1\na\n1\n0\n0\n-3\n"
    << prob_hi << "\n\n((" << first << ") (" << first + 7 << ") (0))\n0\n1\n0\n0\n";
  h << "0 2 0\n0\n";
  for (int begin : {0, 4}) {
    const int lo = -3 + begin + (is_shifted ? 0 : first);
    h << lo << " " << lo + 4 << "\n";
  }
  h << "Level_0/Cell\n";
  test::write_file(path + "/Header", h.str());
  Variant v;
  v.dims = 1;
  fabs << "2\n1\n1\n0\n(2 0\n((" << first << ") (" << first + 3 << ") (0))\n((" << first + 4 << ") ("
       << first + 7 << ") (0))\n)\n2\nFabOnDisk: D 0\nFabOnDisk: D 32\n\n"
       << real_format(v) << "\n";
  test::write_file(path + "/Level_0/Cell_H", fabs.str());
  test::write_file(path + "/Level_0/D", std::string(64, '\0'));
  return path;
}

class AmrexVariant : public testing::TestWithParam<Variant> {};

TEST_P(AmrexVariant, ReadsEveryValue) {
  const Variant& v = GetParam();
  const TempDir dir;
  auto opened = open_plotfile(write_variant(dir, v));
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  PlotfileSource& source = **opened;
  const Hierarchy& h = source.hierarchy();
  EXPECT_EQ(source.kind(), "AMReX plotfile");
  EXPECT_EQ(h.dims, v.dims);
  EXPECT_EQ(h.dtype, v.dtype);
  EXPECT_EQ(h.components, (std::vector<std::string>{"density", "mass fraction of H2"}));
  EXPECT_EQ(h.time, 0.125);
  EXPECT_EQ(h.source_ghosts, v.ghosts);
  for (const int level : {0, 1}) EXPECT_EQ(source.stored_ghosts(level), v.ghosts);
  EXPECT_EQ(h.side_files, (std::map<std::string, std::string>{{"job_info", "who: nobody\n"}}));
  const Levels levels = levels_of(v.dims);
  ASSERT_EQ(h.levels.size(), 2u);
  EXPECT_EQ(h.levels[0].ref_ratio, (IntVect{2, v.dims > 1 ? 2 : 1, v.dims > 2 ? 2 : 1}));
  EXPECT_EQ(h.levels[1].ref_ratio, (IntVect{1, 1, 1}));
  EXPECT_EQ(h.levels[1].step, 14);
  EXPECT_EQ(h.levels[1].dx[0], 0.5);
  for (int l = 0; l < 2; ++l) {
    const Level& level = h.levels[static_cast<size_t>(l)];
    EXPECT_EQ(level.domain, levels.domains[static_cast<size_t>(l)]);
    ASSERT_EQ(level.boxes, levels.boxes[static_cast<size_t>(l)]);
    for (int i = 0; i < 3; ++i) {
      const Box& b = level.boxes[static_cast<size_t>(i)];
      for (int c = 0; c < components; ++c) {
        std::vector<std::byte> out(static_cast<size_t>(b.cells()) * dtype_bytes(v.dtype));
        const Status status = source.read_box(l, i, c, out.data());
        ASSERT_TRUE(status.ok()) << status.message();
        size_t at = 0;
        for (int z = b.lo[2]; z <= b.hi[2]; ++z) {
          for (int y = b.lo[1]; y <= b.hi[1]; ++y) {
            for (int x = b.lo[0]; x <= b.hi[0]; ++x, ++at) {
              const double expected = value_at(l, c, x, y, z);
              const double found = v.dtype == DType::f32 ? reinterpret_cast<float*>(out.data())[at]
                                                         : reinterpret_cast<double*>(out.data())[at];
              ASSERT_EQ(found, expected)
                  << "level " << l << " box " << i << " component " << c << " at " << at;
            }
          }
        }
      }
    }
  }
}

TEST_P(AmrexVariant, ReadsSeveralComponentsAndParts) {
  const Variant& v = GetParam();
  const TempDir dir;
  const std::string path = write_variant(dir, v);
  auto one_by_one = open_plotfile(path), opened = open_plotfile(path);
  ASSERT_TRUE(one_by_one.ok() && opened.ok());
  const Hierarchy& h = (*opened)->hierarchy();
  const size_t value_bytes = dtype_bytes(v.dtype);
  for (int l = 0; l < 2; ++l) {
    for (int i = 0; i < 3; ++i) {
      const auto cells =
          static_cast<size_t>(h.levels[static_cast<size_t>(l)].boxes[static_cast<size_t>(i)].cells());
      std::vector<std::byte> expected(components * cells * value_bytes), found(expected.size());
      for (int c = 0; c < components; ++c) {
        ASSERT_TRUE((*one_by_one)
                        ->read_box(l, i, c, expected.data() + static_cast<size_t>(c) * cells * value_bytes)
                        .ok());
      }
      // The first read of a box takes its header along, a later one does not.
      for (int time = 0; time < 2; ++time) {
        const Status status = (*opened)->read_components(l, i, 0, components, found.data());
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(found, expected) << "level " << l << " box " << i;
      }
      const size_t first = 1, count = cells - 1;
      std::vector<std::byte> part(count * value_bytes);
      const Result<bool> is_read = (*opened)->read_cells(l, i, 1, static_cast<int64_t>(first),
                                                         static_cast<int64_t>(count), part.data());
      ASSERT_TRUE(is_read.ok()) << is_read.status().message();
      EXPECT_EQ(*is_read, v.ghosts == (IntVect{0, 0, 0}));
      if (!*is_read) continue;
      const auto begin = expected.begin() + static_cast<ptrdiff_t>((cells + first) * value_bytes);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), begin)) << "level " << l << " box " << i;
      EXPECT_EQ((*opened)->read_cells(l, i, 1, 3, static_cast<int64_t>(cells), part.data()).status().code(),
                Code::usage);
    }
    // Box 1 lies behind box 2 in the second file.
    EXPECT_LT((*opened)->place(l, 0), (*opened)->place(l, 2));
    EXPECT_LT((*opened)->place(l, 2), (*opened)->place(l, 1));
  }
}

TEST_P(AmrexVariant, StatesTheRangesThatItsHeadersGive) {
  const Variant& v = GetParam();
  const TempDir dir;
  auto opened = open_plotfile(write_variant(dir, v));
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const auto first = (*opened)->stated_range(0, 0), second = (*opened)->stated_range(0, 1);
  const double as_stored = v.dtype == DType::f32 ? static_cast<double>(0.15F) : 0.15;
  if (v.version == 2) {
    EXPECT_FALSE(first || second);
  } else if (v.version == 4) {
    EXPECT_EQ(first, std::pair(1.0, 3.0));
    EXPECT_EQ(second, std::pair(-2.0, 0.0));
  } else {
    EXPECT_EQ(first, std::pair(as_stored, as_stored));
    EXPECT_FALSE(second);  // NaN in all boxes
  }
}

TEST(Amrex, StatesNoRangeWhoseSmallestIsAboveItsLargest) {
  const TempDir dir;
  const std::string path = write_variant(dir, {"", 3, DType::f64, false, {0, 0, 0}, 4, false});
  replace_in(path + "/Level_0/Cell_H", "1.0e+00,-2.0e+00,", "9.0e+00,-2.0e+00,");
  auto opened = open_plotfile(path);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_FALSE((*opened)->stated_range(0, 0));
  EXPECT_EQ((*opened)->stated_range(0, 1), std::pair(-2.0, 0.0));
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (int dims : {1, 2, 3}) {
    for (DType dtype : {DType::f32, DType::f64}) {
      for (bool is_big : {false, true}) {
        for (int version : {1, 2, 3, 4}) {
          const bool has_ghosts = (dims + version) % 2 == 1;
          Variant v{"", dims, dtype, is_big, {0, 0, 0}, version, false};
          for (size_t d = 0; has_ghosts && d < static_cast<size_t>(dims); ++d) v.ghosts[d] = 2;
          v.name = "d" + std::to_string(dims) + (dtype == DType::f32 ? "_f32" : "_f64") +
                   (is_big ? "_big" : "_little") + "_v" + std::to_string(version) +
                   (has_ghosts ? "_ghosts" : "");
          all.push_back(v);
        }
      }
    }
  }
  all.push_back({"uneven_ghosts", 3, DType::f64, false, {3, 0, 1}, 1, false});
  all.push_back({"old_fab_f32", 3, DType::f32, true, {0, 0, 0}, 1, true});
  all.push_back({"old_fab_f64", 2, DType::f64, true, {1, 1, 0}, 1, true});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, AmrexVariant, testing::ValuesIn(variants()),
                         [](const testing::TestParamInfo<Variant>& i) { return i.param.name; });

struct Damage {
  const char* name;
  std::function<void(const std::string& path)> inflict;
  Code code;
  std::vector<std::string> words;  // all of them in the message
  bool is_seen_at_open = true;     // else when box 0 of level 0 is read
};

class AmrexDamage : public testing::TestWithParam<Damage> {};

TEST_P(AmrexDamage, IsRefusedByName) {
  const TempDir dir;
  const std::string path = write_variant(dir, {});
  GetParam().inflict(path);
  auto opened = open_amrex_plotfile(path);
  Status status = opened.status();
  if (!GetParam().is_seen_at_open) {
    ASSERT_TRUE(opened.ok()) << status.message();
    std::vector<double> out(1000);
    for (int i : {0, 1, 2}) {
      if (status.ok()) status = (*opened)->read_box(0, i, 1, reinterpret_cast<std::byte*>(out.data()));
    }
  }
  EXPECT_EQ(status.code(), GetParam().code) << status.message();
  for (const std::string& word : GetParam().words) {
    EXPECT_NE(status.message().find(word), std::string::npos)
        << "no '" << word << "' in: " << status.message();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, AmrexDamage,
    testing::Values(
        Damage{"no_header", [](const std::string& p) { fs::remove(p + "/Header"); }, Code::failure, {"plt is a directory without a file Header"}},
        Damage{"no_cell_h", [](const std::string& p) { fs::remove(p + "/Level_1/Cell_H"); }, Code::failure, {"Level_1/Cell_H"}},
        Damage{"no_data_file", [](const std::string& p) { fs::remove(p + "/Level_1/Cell_D_00001"); }, Code::failure,
               {"Level_1/Cell_D_00001"}},
        Damage{"directory_for_data",
               [](const std::string& p) {
                 fs::remove(p + "/Level_0/Cell_D_00000");
                 fs::create_directory(p + "/Level_0/Cell_D_00000");
               },
               Code::failure, {"Level_0/Cell_D_00000"}},
        Damage{"empty_header", [](const std::string& p) { test::write_file(p + "/Header", ""); }, Code::corrupt, {"Header, line 1"}},
        Damage{"binary_header", [](const std::string& p) { test::write_file(p + "/Header", std::string(500, '\xfe')); }, Code::corrupt,
               {"Header", "number of components", "the file ends here"}},
        Damage{"absurd_components", [](const std::string& p) { replace_in(p + "/Header", "\n2\ndensity", "\n2000000000\ndensity"); },
               Code::corrupt, {"number of components is '2000000000'"}},
        Damage{"negative_components", [](const std::string& p) { replace_in(p + "/Header", "\n2\ndensity", "\n-2\ndensity"); },
               Code::corrupt, {"number of components is '-2'"}},
        Damage{"dims", [](const std::string& p) { replace_in(p + "/Header", "\n3\n", "\n4\n"); }, Code::corrupt,
               {"number of dimensions is '4'", "1 to 3"}},
        Damage{"levels", [](const std::string& p) { replace_in(p + "/Header", "\n0.125\n1\n", "\n0.125\n2\n"); }, Code::corrupt,
               {"Header, line", "refinement ratio of level 1"}},
        Damage{"ratio", [](const std::string& p) { replace_in(p + "/Header", "\n2 \n((", "\n4 \n(("); }, Code::corrupt,
               {"refined by 2 in direction 0; the ratio in the file is 4"}},
        Damage{"domain", [](const std::string& p) { replace_in(p + "/Header", "(31,15,15)", "(31,15,14)"); }, Code::corrupt,
               {"((0,0,0) (31,15,14) (0,0,0))", "direction 2"}},
        Damage{"nodal_domain", [](const std::string& p) { replace_in(p + "/Header", "(15,7,7) (0,0,0)", "(15,7,7) (1,0,0)"); },
               Code::usage, {"index type (1,0,0)", "cell-centred"}},
        Damage{"nodal_boxes", [](const std::string& p) { replace_in(p + "/Level_0/Cell_H", "(4,7,7) (0,0,0)", "(4,7,7) (1,1,1)"); },
               Code::usage, {"Cell_H", "box 0", "index type (1,1,1)"}},
        Damage{"absurd_box_count", [](const std::string& p) { replace_in(p + "/Header", "\n0 3 0.125", "\n0 999999999 0.125"); },
               Code::corrupt, {"number of boxes of level 0 is '999999999'"}},
        Damage{"absurd_cell_h_count", [](const std::string& p) { replace_in(p + "/Level_0/Cell_H", "(3 0\n", "(99999999999999 0\n"); },
               Code::corrupt, {"Level_0/Cell_H", "number of boxes is '99999999999999'"}},
        Damage{"box_counts_differ",
               [](const std::string& p) {
                 replace_in(p + "/Header", "\n0 3 0.125", "\n0 2 0.125");
                 replace_in(p + "/Header", "12 16\n0 8\n0 8\n", "");
               },
               Code::corrupt, {"lists 3 boxes", "lists 2 for level 0"}},
        Damage{"box_moved", [](const std::string& p) { replace_in(p + "/Header", "5 12\n", "6 13\n"); }, Code::corrupt,
               {"box 1 of level 0 lies at 6..13 in direction 0", "((5,0,0) (11,7,7) (0,0,0))", "5..12"}},
        Damage{"nan_region", [](const std::string& p) { replace_in(p + "/Header", "5 12\n", "nan 12\n"); }, Code::corrupt, {"box 1"}},
        Damage{"boxes_overlap",
               [](const std::string& p) {
                 replace_in(p + "/Level_0/Cell_H", "((5,0,0)", "((4,0,0)");
                 replace_in(p + "/Header", "5 12\n", "4 12\n");
               },
               Code::corrupt, {"boxes 0 and 1 of level 0 overlap"}},
        Damage{"path_outside", [](const std::string& p) { replace_in(p + "/Header", "Level_1/Cell", "Level_1/../../Cell"); },
               Code::corrupt, {"path of level 1 is 'Level_1/../../Cell'"}},
        Damage{"file_outside", [](const std::string& p) { replace_in(p + "/Level_1/Cell_H", "Cell_D_00000", "/etc/passwd"); },
               Code::corrupt, {"file of box 0 is '/etc/passwd'"}},
        Damage{"cell_h_version", [](const std::string& p) { replace_in(p + "/Level_0/Cell_H", "1\n1\n", "5\n1\n"); }, Code::corrupt,
               {"version is '5'", "1 to 4"}},
        Damage{"cell_h_components", [](const std::string& p) { replace_in(p + "/Level_0/Cell_H", "1\n1\n2\n", "1\n1\n3\n"); },
               Code::corrupt, {"columns of the minima is '2"}},
        Damage{"ghosts", [](const std::string& p) { replace_in(p + "/Level_0/Cell_H", "2\n0\n(3", "2\n1\n(3"); }, Code::corrupt,
               {"FAB box is ((0,0,0) (4,7,7) (0,0,0))", "((-1,-1,-1) (5,8,8) (0,0,0))"}},
        Damage{"negative_offset", [](const std::string& p) { replace_in(p + "/Level_0/Cell_H", "Cell_D_00000 0", "Cell_D_00000 -1"); },
               Code::corrupt, {"offset of box 0 is '-1'"}},
        Damage{"offset_past_end",
               [](const std::string& p) { replace_in(p + "/Level_0/Cell_H", "Cell_D_00001 0", "Cell_D_00001 9999999"); }, Code::corrupt,
               {"Level_0/Cell_D_00001 has", "box 2", "from byte 9999999"}},
        Damage{"wrong_offset",
               [](const std::string& p) { replace_in(p + "/Level_0/Cell_H", "Cell_D_00001 0", "Cell_D_00001 8"); }, Code::corrupt,
               {"Level_0/Cell_D_00001 at byte 8", "(box 2)"}, false},
        Damage{"truncated_data",
               [](const std::string& p) {
                 const std::string file = p + "/Level_1/Cell_D_00001";
                 fs::resize_file(file, fs::file_size(file) - 200);
               },
               Code::corrupt, {"Level_1/Cell_D_00001 has", "box 1"}},
        Damage{"data_cut_by_one_byte",
               [](const std::string& p) {
                 const std::string file = p + "/Level_0/Cell_D_00001";
                 fs::resize_file(file, fs::file_size(file) - 1);
               },
               Code::corrupt, {"Level_0/Cell_D_00001 has", "are needed"}, false},
        Damage{"empty_data", [](const std::string& p) { test::write_file(p + "/Level_0/Cell_D_00000", ""); }, Code::corrupt,
               {"Level_0/Cell_D_00000"}},
        Damage{"no_fab_word", [](const std::string& p) { replace_in(p + "/Level_0/Cell_D_00000", "FAB", "BAF"); }, Code::corrupt,
               {"Level_0/Cell_D_00000 at byte 0", "FAB"}},
        Damage{"fab_box", [](const std::string& p) { replace_in(p + "/Level_0/Cell_D_00000", "(4,7,7)", "(4,7,6)"); },
               Code::corrupt, {"FAB box is ((0,0,0) (4,7,6) (0,0,0))", "((0,0,0) (4,7,7) (0,0,0))"}},
        Damage{"fab_components", [](const std::string& p) { replace_in(p + "/Level_0/Cell_D_00000", ") 2\n", ") 9\n"); },
               Code::corrupt, {"FAB has 9 components", "it has 2"}},
        Damage{"fab_box_of_another_file", [](const std::string& p) { replace_in(p + "/Level_0/Cell_D_00001", "(15,7,7)", "(15,7,8)"); },
               Code::corrupt, {"Cell_D_00001", "FAB box is ((12,0,0) (15,7,8) (0,0,0))"}, false},
        Damage{"fab_order",
               [](const std::string& p) { replace_in(p + "/Level_0/Cell_D_00000", "(8 7 6 5 4 3 2 1)", "(2 1 4 3 6 5 8 7)"); },
               Code::corrupt, {"byte order is (2 1 4 3 6 5 8 7)"}},
        Damage{"fab_cray", [](const std::string& p) { replace_in(p + "/Level_0/Cell_D_00000", "64 11 52 0 1 12 0 1023", "64 15 48 0 1 16 1 16384"); },
               Code::corrupt, {"real number format is (64 15 48 0 1 16 1 16384)"}},
        Damage{"fab_mixed_order",
               [](const std::string& p) { replace_in(p + "/Level_0/Cell_D_00001", "(8 7 6 5 4 3 2 1)", "(1 2 3 4 5 6 7 8)"); },
               Code::corrupt, {"another real format"}, false},
        Damage{"fab_ascii",
               [](const std::string& p) {
                 replace_in(p + "/Level_0/Cell_D_00000", "FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))", "FAB: 0 0 IEEE ");
               },
               Code::usage, {"FAB format is 0"}}),
    [](const testing::TestParamInfo<Damage>& i) { return std::string(i.param.name); });

// Any text header cut anywhere is an error or, past its last needed byte, the same plotfile; never a crash.
TEST(AmrexReader, SurvivesEveryTruncationOfItsHeaders) {
  const TempDir dir;
  const std::string path = write_variant(dir, {});
  for (const char* file : {"/Header", "/Level_0/Cell_H"}) {
    const std::string whole = test::read_file(path + file);
    int refused = 0;
    for (size_t length = 0; length < whole.size(); ++length) {
      test::write_file(path + file, whole.substr(0, length));
      const auto opened = open_amrex_plotfile(path);
      if (opened.ok()) continue;
      ++refused;
      EXPECT_NE(opened.status().message().find(path), std::string::npos) << opened.status().message();
    }
    EXPECT_GT(refused, static_cast<int>(whole.size()) - 30) << file;
    test::write_file(path + file, whole);
  }
  EXPECT_TRUE(open_amrex_plotfile(path).ok());
}

TEST(AmrexReader, RefusesIndicesOutOfRange) {
  const TempDir dir;
  auto opened = open_amrex_plotfile(write_variant(dir, {}));
  ASSERT_TRUE(opened.ok());
  std::vector<std::byte> out(8000);
  const int wrong[][3] = {{-1, 0, 0}, {2, 0, 0}, {0, 3, 0}, {0, -1, 0}, {0, 0, 2}, {0, 0, -1}};
  for (const auto& [level, box, component] : wrong) {
    EXPECT_EQ((*opened)->read_box(level, box, component, out.data()).code(), Code::usage);
    EXPECT_EQ((*opened)->read_components(level, box, component, 1, out.data()).code(), Code::usage);
  }
}

// AMReX's readers take the first of several components of a name, and what stands between blanks.
TEST(AmrexReader, TellsComponentsOfOneNameApart) {
  const TempDir dir;
  const std::string path = write_variant(dir, {});
  replace_in(path + "/Header", "mass fraction of H2", " density ");
  auto opened = open_amrex_plotfile(path);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ((*opened)->hierarchy().components, (std::vector<std::string>{"density", "density_2"}));
  EXPECT_EQ((*opened)->remarks(), std::vector<std::string>{"component 1 is called 'density', as an earlier "
                                                           "one; it becomes 'density_2'"});
}

// Header's ratio is one number; codes write that of any direction.
TEST(AmrexReader, TakesRatiosFromTheDomains) {
  const TempDir dir;
  const std::string path = write_variant(dir, {});
  replace_in(path + "/Header", "(15,7,7)", "(31,7,7)");
  replace_in(path + "/Header", "1 1 1 ", "0.5 1 1 ");
  replace_in(path + "/Header", "0 5\n", "0 2.5\n");
  replace_in(path + "/Header", "5 12\n", "2.5 6\n");
  replace_in(path + "/Header", "12 16\n", "6 8\n");
  auto opened = open_amrex_plotfile(path);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ((*opened)->hierarchy().levels[0].ref_ratio, (IntVect{1, 2, 2}));
}

// With a domain that begins elsewhere than at 0, prob_lo is where cell 0 lies to one of AMReX's writers, and
// where the domain begins to the other.
TEST(AmrexReader, TakesBoxesShiftedByTheDomainOrNot) {
  for (const int first : {0, -8, 100}) {
    for (const bool is_shifted : {false, true}) {
      const TempDir dir;
      const std::string path = write_shifted(dir, first, is_shifted);
      auto opened = open_amrex_plotfile(path);
      ASSERT_TRUE(opened.ok()) << opened.status().message();
      EXPECT_EQ((*opened)->hierarchy().levels[0].domain.lo[0], first);
      EXPECT_EQ((*opened)->hierarchy().prob_lo[0], -3.0);
      // Of the first kind alone a copy would lie elsewhere, which is said.
      EXPECT_EQ((*opened)->remarks().size(), first != 0 && !is_shifted ? 1U : 0U);
    }
  }
  const TempDir dir;
  const std::string path = write_shifted(dir, 100, true);
  replace_in(path + "/Header", "-3 1\n", "7 11\n");
  EXPECT_EQ(open_amrex_plotfile(path).status().code(), Code::corrupt);
}

TEST(AmrexReader, RefusesDomainsThatEndBeforeTheyBegin) {
  for (const char* prob_hi : {"-4", "-3"}) {
    const TempDir dir;
    const std::string path = write_shifted(dir, 0, true, prob_hi);
    const Status status = open_amrex_plotfile(path).status();
    EXPECT_EQ(status.code(), Code::corrupt);
    EXPECT_NE(status.message().find(std::string("the domain ends at ") + prob_hi + " in direction 0"),
              std::string::npos)
        << status.message();
  }
}

TEST(AmrexReader, SaysWhatItLeavesBehind) {
  const TempDir dir;
  const std::string path = write_variant(dir, {});
  test::write_file(path + "/particles/Header", "Version_Two\n");
  test::write_file(path + "/blob", std::string("a\0b", 3));
  test::write_file(path + "/notes", "text");
  auto opened = open_amrex_plotfile(path + "/");
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->left_behind(), (std::vector<std::string>{"blob", "particles"}));
  EXPECT_EQ((*opened)->hierarchy().side_files.count("notes"), 1u);
  EXPECT_EQ((*opened)->hierarchy().side_files.size(), 2u);
}

TEST(DetectKind, GoesByContent) {
  const TempDir dir;
  test::write_file(dir / "a", std::string("\x93NUMPY\x01\x00", 8));
  test::write_file(dir / "b", "\x89HDF\r\n\x1a\n");
  test::write_file(dir / "c", std::string(1024, ' ') + "\x89HDF\r\n\x1a\n");
  test::write_file(dir / "d.npy", "text");
  test::write_file(dir / "e/other", "text");
  EXPECT_EQ(*detect_kind(dir / "a"), FileKind::npy);
  EXPECT_EQ(*detect_kind(dir / "b"), FileKind::hdf5);
  EXPECT_EQ(*detect_kind(dir / "c"), FileKind::hdf5);
  EXPECT_EQ(*detect_kind(dir / "d.npy"), FileKind::unknown);
  EXPECT_EQ(*detect_kind(write_variant(dir, {})), FileKind::amrex_plotfile);
  EXPECT_EQ(detect_kind(dir / "e").status().code(), Code::failure);
  EXPECT_EQ(detect_kind(dir / "nothing").status().code(), Code::failure);
  EXPECT_EQ(open_plotfile(dir / "b").status().code(), Code::usage);
  EXPECT_NE(open_plotfile(dir / "d.npy").status().message().find("neither"), std::string::npos);
}

}  // namespace
}  // namespace neve::plotfile
