// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/write_pieces.hpp"
#include "parallel/file/space.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/mpi/generated.hpp"

namespace neve::mpi {
namespace {

using test::world_rank;
using test::world_size;

constexpr WriteOrder everything{.joins_datasets = true};

// Pieces of uneven sizes, dealt to the ranks in turn, with gaps between them, where other bytes lie already;
// some ranks may get none.
struct Layout {
  std::string expected;
  std::vector<std::string> mine;
  std::vector<Piece> pieces;
};

Layout make_layout(int count) {
  Layout layout;
  std::vector<uint64_t> addresses;
  for (int i = 0; i < count; ++i) {
    layout.expected.append(static_cast<size_t>(i % 3), '.');
    const std::string text(static_cast<size_t>(1 + 37 * i % 500), static_cast<char>('a' + i % 26));
    if (i % world_size() == world_rank()) {
      layout.mine.push_back(text);
      addresses.push_back(layout.expected.size());
    }
    layout.expected += text;
  }
  for (size_t i = layout.mine.size(); i-- > 0;) {  // not in the order of the file
    layout.pieces.push_back({addresses[i], one_run(std::as_bytes(std::span(layout.mine[i])))});
  }
  return layout;
}

class WritePieces : public testing::Test {
 protected:
  WritePieces() : comm_(Comm::duplicate(MPI_COMM_WORLD)), directory_(test::make_directory("pieces")) {}
  ~WritePieces() override { test::remove_directory(directory_); }
  // A file of its final size, as the skeleton leaves it, holding dots.
  void create(const std::string& path, uint64_t size_bytes, const Hints& hints = {}) {
    if (world_rank() == 0) {
      const Status status = create_file(path, hints);
      EXPECT_TRUE(status.ok()) << status.message();
      std::ofstream(path) << std::string(size_bytes, '.');
    }
    test::barrier();
  }

  Result<Comm> comm_;
  std::string directory_;
};

TEST_F(WritePieces, EveryByteIsWhereItBelongsInOneOrManyCalls) {
  for (uint64_t call_bytes : {default_call_bytes, uint64_t{1000}, uint64_t{77}}) {
    const Layout layout = make_layout(40);
    const std::string path = directory_ + "/pieces-" + std::to_string(call_bytes);
    create(path, layout.expected.size());
    const auto times = write_pieces(*comm_, path, {}, everything, 1, layout.pieces, call_bytes);
    ASSERT_TRUE(times.ok()) << times.status().message();
    EXPECT_TRUE(test::read_file(path) == layout.expected);
  }
}

TEST_F(WritePieces, FewerPiecesThanRanks) {
  const Layout layout = make_layout(1);
  create(directory_ + "/one", layout.expected.size());
  ASSERT_TRUE(write_pieces(*comm_, directory_ + "/one", {}, everything, 1, layout.pieces).ok());
  EXPECT_TRUE(test::read_file(directory_ + "/one") == layout.expected);
  const Layout none = make_layout(0);
  create(directory_ + "/none", 0);
  ASSERT_TRUE(write_pieces(*comm_, directory_ + "/none", {}, everything, 1, none.pieces).ok());
}

TEST_F(WritePieces, HintsArriveAndBadOnesAreNamed) {
  ::setenv("NEVE_MPI_HINTS", "cb_nodes=1;striping_unit=65536", 1);
  const Result<Hints> hints = merged_hints({{"cb_nodes", "4"}, {"cb_buffer_size", "1000000"}});
  ::setenv("NEVE_MPI_HINTS", "cb_nodes", 1);
  const Status malformed = merged_hints({}).status();
  ::unsetenv("NEVE_MPI_HINTS");
  ASSERT_TRUE(hints.ok());
  EXPECT_EQ(*hints, (Hints{{"cb_buffer_size", "1000000"}, {"cb_nodes", "1"}, {"striping_unit", "65536"}}));
  EXPECT_EQ(malformed.code(), Code::usage);

  const Layout layout = make_layout(20);
  create(directory_ + "/hints", layout.expected.size(), *hints);
  ASSERT_TRUE(write_pieces(*comm_, directory_ + "/hints", *hints, everything, 1, layout.pieces).ok());
  EXPECT_TRUE(test::read_file(directory_ + "/hints") == layout.expected);
}

TEST_F(WritePieces, AMissingFileIsOneErrorOnAllRanks) {
  const Status status = write_pieces(*comm_, directory_ + "/nothing", {}, everything, 1, {}).status();
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_NE(status.message().find(directory_ + "/nothing"), std::string::npos);
  EXPECT_TRUE(test::same_on_all_ranks(status.message()));
}

TEST_F(WritePieces, SpaceThatIsNotThereIsFoundBeforeTheWrite) {
  create(directory_ + "/large", 0);
  if (world_rank() == 0) {
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old_limit;
    getrlimit(RLIMIT_FSIZE, &old_limit);
    rlimit low = old_limit;
    low.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_FSIZE, &low);
    const Status status = reserve_space(directory_ + "/large", 2 << 20);
    EXPECT_TRUE(reserve_space(directory_ + "/large", 1 << 19).ok());
    setrlimit(RLIMIT_FSIZE, &old_limit);
    std::signal(SIGXFSZ, before);
    EXPECT_EQ(status.code(), Code::failure);
    EXPECT_NE(status.message().find("no room for 2097152 bytes"), std::string::npos) << status.message();
  }
}

// OMPIO overflows its buffers at some 240 bytes, ROMIO takes what precedes a colon for a kind of file system.
TEST_F(WritePieces, PathsThatMpiLibrariesCannotTakeAreWrittenAllTheSame) {
  const std::string deep = directory_ + "/" + std::string(200, 'd') + "/" + std::string(200, 'e');
  const std::string colon = directory_ + "/run:1";
  if (world_rank() == 0) {
    std::filesystem::create_directories(deep);
    std::filesystem::create_directories(colon);
  }
  test::barrier();
  for (const std::string& path : {deep + "/file", directory_ + "/" + std::string(255, 'f'), colon + "/a:b"}) {
    const Layout layout = make_layout(20);
    if (path.starts_with(deep)) {
      create(path, layout.expected.size());
    } else if (world_rank() == 0) {  // such names are only opened: what is made has a short one
      std::ofstream(path) << std::string(layout.expected.size(), '.');
    }
    test::barrier();
    const auto times = write_pieces(*comm_, path, {}, everything, 1, layout.pieces);
    ASSERT_TRUE(times.ok()) << times.status().message();
    EXPECT_TRUE(test::read_file(path) == layout.expected);
  }
  test::barrier();
  EXPECT_EQ(test::list_directory(deep), std::vector<std::string>{"file"});
  EXPECT_EQ(test::list_directory(colon), std::vector<std::string>{"a:b"});
}

}  // namespace
}  // namespace neve::mpi
