// SPDX-License-Identifier: BSD-3-Clause
// File systems that take no space beforehand, as NFS and some parallel ones: a full disk is found by the
// writes alone.
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <filesystem>

#include "tests/mpi/generated.hpp"
#include "tests/mpi/write_kinds.hpp"

namespace {
int refused_reservations = 0;
}  // namespace

// In the place of the system's, for all that this program calls.
extern "C" int fallocate(int, int, off_t, off_t) {
  ++refused_reservations;
  errno = EOPNOTSUPP;
  return -1;
}
// There seems to be room, until it is used: by others meanwhile, or by a quota that nobody tells of.
extern "C" int fstatvfs(int, struct statvfs* room) {
  *room = {};
  return 0;
}

namespace neve {
namespace {

using test::world_rank;
using test::WriteKind;

class Reservations : public testing::TestWithParam<WriteKind> {
 protected:
  Reservations() : directory_(test::make_directory("reservations")), mounted_(directory_ + "/mounted") {}
  ~Reservations() override {
    test::barrier();
    if (world_rank() == 0) ::umount2(mounted_.c_str(), MNT_DETACH);
    test::remove_directory(directory_);
  }
  bool mount(uint64_t bytes) {
    int is_mounted = 0;
    if (world_rank() == 0) {
      std::filesystem::create_directory(mounted_);
      const std::string options = "size=" + std::to_string(bytes);
      is_mounted = ::mount("neve-test", mounted_.c_str(), "tmpfs", 0, options.c_str()) == 0 ? 1 : 0;
    }
    MPI_Bcast(&is_mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_mounted != 0;
  }
  std::string directory_, mounted_;
};

std::vector<WriteKind> kinds() {
  std::vector<WriteKind> kinds = test::write_kinds();
  // Under filtered HDF5 writes, and what it does on a full disk is its own (docs/guarantees.md).
  std::erase_if(kinds,
                [](const WriteKind& kind) { return !kind.makes_file || kind.name == "plot_filtered"; });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Reservations, testing::ValuesIn(kinds()), [](const auto& param) {
  std::string name = param.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST_P(Reservations, AFullDiskIsFoundByTheWritesWhereThereAreNone) {
  const WriteKind& kind = GetParam();
  const std::string path = directory_ + "/file";
  const Status written = kind.write(path, 1);
  ASSERT_TRUE(written.ok()) << written.message();
  test::barrier();
  const uint64_t bytes = test::contents(path).size();
  const bool reserves = kind.name != "amrex_folder" && !kind.name.starts_with("frames");
  EXPECT_TRUE(!reserves || world_rank() != 0 || refused_reservations > 0);
  constexpr uint64_t page = 4096;
  ASSERT_GT(bytes, page);
  // At least a page: a size of 0 is none.
  if (!mount(std::max<uint64_t>(bytes / page * 3 / 4, 1) * page))
    GTEST_SKIP() << "mounting a small file system needs more rights";
  const Status status = kind.write(mounted_ + "/file", 1);
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_TRUE(test::same_on_all_ranks(status.message()));
  EXPECT_NE(status.message().find(mounted_), std::string::npos) << status.message();
  test::barrier();
  EXPECT_TRUE(test::list_directory(mounted_).empty());
}

}  // namespace
}  // namespace neve
