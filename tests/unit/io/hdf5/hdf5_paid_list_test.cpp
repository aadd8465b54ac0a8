// SPDX-License-Identifier: BSD-3-Clause
// Lists of HDF5 files that claim more than their file pays for.
#include "io/hdf5/paid_list.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <string>
#include <vector>

#include "io/hdf5/field_records.hpp"
#include "io/hdf5/handle.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::hdf5 {
namespace {

// A file that is closed, so that its size is known, and opened again.
class SmallFile {
 public:
  explicit SmallFile(const char* name) : path_(dir_ / name) {
    file_ = Handle(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  }
  hid_t id() const { return file_.id(); }
  // A deflated list of zeros.
  void add_list(const char* name, hid_t type, hsize_t count) {
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk = count;
    H5Pset_chunk(creation.id(), 1, &chunk);
    H5Pset_deflate(creation.id(), 9);
    H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
    const Handle list(H5Dcreate2(file_.id(), name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                      H5Dclose);
    const std::vector<char> zeros(count * H5Tget_size(type));
    ASSERT_GE(H5Dwrite(list.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data()), 0);
  }
  void reopen() {
    file_ = Handle();
    file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  }
  Status check(const char* name, uint64_t count, uint64_t before = 0) const {
    const Handle list(H5Dopen2(file_.id(), name, H5P_DEFAULT), H5Dclose);
    return check_paid_for(list.id(), name, count, sizeof(int64_t), before);
  }

 private:
  test::TempDir dir_;
  std::string path_;
  Handle file_;
};

TEST(PaidList, AListThatUnpacksBeyondItsFileIsRefused) {
  SmallFile file("lists.h5");
  file.add_list("short", H5T_NATIVE_INT64, 1000);
  file.add_list("long", H5T_NATIVE_INT64, 1 << 20);
  file.reopen();
  EXPECT_TRUE(file.check("short", 1000).ok());
  const Status refused = file.check("long", 1 << 20);
  EXPECT_EQ(refused.code(), Code::corrupt);
  EXPECT_NE(refused.message().find("dataset long claims 1048576 elements"), std::string::npos)
      << refused.message();
}

TEST(PaidList, ListsOfAKindCountTogether) {
  SmallFile file("lists.h5");
  file.add_list("list", H5T_NATIVE_INT64, 1000);
  file.reopen();
  EXPECT_TRUE(file.check("list", 1000, 1000 * sizeof(int64_t)).ok());
  EXPECT_EQ(file.check("list", 1000, uint64_t{64} << 20).code(), Code::corrupt);
}

TEST(PaidList, RecordsWithEndlessNamesAreRefused) {
  constexpr size_t text_bytes = 65536;
  const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(text.id(), text_bytes);
  const char* const texts[] = {"name", "codec", "covered"};
  const char* const reals[] = {"bound_value", "bound_abs", "max_abs_error", "range_min", "range_max", "fill"};
  const char* const counts[] = {"cells", "left_out_cells", "special_cells", "exact_cells", "stored_bytes"};
  const char* const small[] = {"bound_mode", "has_fill"};
  const Handle row(H5Tcreate(H5T_COMPOUND, 3 * text_bytes + 11 * 8 + 2), H5Tclose);
  size_t at = 0;
  const auto add = [&](const char* name, hid_t type) {
    ASSERT_GE(H5Tinsert(row.id(), name, at, type), 0);
    at += H5Tget_size(type);
  };
  for (const char* name : texts) add(name, text.id());
  for (const char* name : reals) add(name, H5T_IEEE_F64LE);
  for (const char* name : counts) add(name, H5T_STD_U64LE);
  for (const char* name : small) add(name, H5T_STD_U8LE);
  SmallFile file("records.h5");
  file.add_list("neve_fields", row.id(), 100);
  file.reopen();
  const auto records = read_field_records(file.id(), "level_0", "neve_fields");
  ASSERT_FALSE(records.ok());
  EXPECT_EQ(records.status().code(), Code::corrupt);
  EXPECT_NE(records.status().message().find("neve_fields claims 100 elements"), std::string::npos)
      << records.status().message();
}

}  // namespace
}  // namespace neve::hdf5
