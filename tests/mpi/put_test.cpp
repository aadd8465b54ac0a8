// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/put.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "mpi/temporary.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::mpi {
namespace {

using test::world_rank;
using test::world_size;

constexpr PutOrder everything{.joins_datasets = true};

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

class Put : public testing::Test {
 protected:
  Put() : comm_(Comm::duplicate(MPI_COMM_WORLD)), directory_(test::make_directory("put")) {}
  ~Put() override { test::remove_directory(directory_); }
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

TEST_F(Put, EveryByteIsWhereItBelongsInOneOrManyCalls) {
  for (uint64_t call_bytes : {default_call_bytes, uint64_t{1000}, uint64_t{77}}) {
    const Layout layout = make_layout(40);
    const std::string path = directory_ + "/pieces-" + std::to_string(call_bytes);
    create(path, layout.expected.size());
    const auto times = put_pieces(*comm_, path, {}, everything, 1, layout.pieces, call_bytes);
    ASSERT_TRUE(times.ok()) << times.status().message();
    EXPECT_TRUE(test::read_file(path) == layout.expected);
  }
}

TEST_F(Put, FewerPiecesThanRanks) {
  const Layout layout = make_layout(1);
  create(directory_ + "/one", layout.expected.size());
  ASSERT_TRUE(put_pieces(*comm_, directory_ + "/one", {}, everything, 1, layout.pieces).ok());
  EXPECT_TRUE(test::read_file(directory_ + "/one") == layout.expected);
  const Layout none = make_layout(0);
  create(directory_ + "/none", 0);
  ASSERT_TRUE(put_pieces(*comm_, directory_ + "/none", {}, everything, 1, none.pieces).ok());
}

TEST_F(Put, HintsArriveAndBadOnesAreNamed) {
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
  ASSERT_TRUE(put_pieces(*comm_, directory_ + "/hints", *hints, everything, 1, layout.pieces).ok());
  EXPECT_TRUE(test::read_file(directory_ + "/hints") == layout.expected);
}

TEST_F(Put, AMissingFileIsOneErrorOnAllRanks) {
  const Status status = put_pieces(*comm_, directory_ + "/nothing", {}, everything, 1, {}).status();
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_NE(status.message().find(directory_ + "/nothing"), std::string::npos);
  EXPECT_TRUE(test::same_on_all_ranks(status.message()));
}

TEST_F(Put, SpaceThatIsNotThereIsFoundBeforeTheWrite) {
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

// Only rank 0 deals with names, and nothing in here is collective.
class TemporaryName : public Put {};

TEST_F(TemporaryName, LeavesNothingBehindAndReplacesInOneStep) {
  if (world_rank() != 0) return;
  const std::string target = directory_ + "/file";
  {
    auto temporary = Temporary::beside(target, Temporary::Kind::file);
    ASSERT_TRUE(temporary.ok());
    EXPECT_EQ(temporary->path().find(directory_ + "/.file.neve-tmp-"), 0u);
    ASSERT_TRUE(create_file(temporary->path(), {}).ok());
    EXPECT_EQ(test::list_directory(directory_).size(), 1u);
  }
  EXPECT_TRUE(test::list_directory(directory_).empty());
  {
    auto temporary = Temporary::beside(target, Temporary::Kind::file);
    ASSERT_TRUE(create_file(temporary->path(), {}).ok());
    ASSERT_TRUE(temporary->commit().ok());
  }
  EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"file"});
}

TEST_F(TemporaryName, ClearsAwayWhatDeadProcessesOfThisMachineLeftOfTheSameTarget) {
  if (world_rank() != 0) return;
  const std::string target = directory_ + "/file";
  const std::string prefix = ".file.neve-tmp-";
  std::string own;
  {
    auto temporary = Temporary::beside(target, Temporary::Kind::file);
    ASSERT_TRUE(temporary.ok());
    own = temporary->path().substr(directory_.size() + 1);
  }
  ASSERT_EQ(own.find(prefix), 0u);
  const std::string space = own.substr(prefix.size(), own.find('-', prefix.size()) - prefix.size());
  const std::string dead = "4194305-77";  // above Linux's largest process number
  const std::string alive =
      own.substr(prefix.size() + space.size() + 1, own.rfind('-') - prefix.size() - space.size() - 1);
  EXPECT_EQ(alive.find(std::to_string(::getpid()) + "-"), 0u) << alive;
  const std::string reborn = std::to_string(::getpid()) + "-1";  // the number, but another process
  const auto name = [&](const std::string& of_space, const std::string& process, const std::string& tail) {
    return prefix + of_space + "-" + process + tail;
  };
  const std::string elsewhere(space.size(), '0');
  std::vector<std::string> stay = {name(space, alive, "-0123abcd"),
                                   name(elsewhere, dead, "-0123abcd"),
                                   name(space, dead, "-0123abcd-old"),  // an earlier plotfile, put aside
                                   name(space, dead, "-012345"),
                                   "." + own.substr(1) + "x",
                                   ".other.neve-tmp-" + space + "-" + dead + "-0123abcd"};
  std::vector<std::string> go = {name(space, dead, "-0123abcd"), name(space, dead, "-89ab0000"),
                                 name(space, reborn, "-0123abcd")};
  for (const std::string& file : stay) std::ofstream(directory_ + "/" + file) << "x";
  for (const size_t i : {0, 2}) std::ofstream(directory_ + "/" + go[i]) << "x";
  std::filesystem::create_directories(directory_ + "/" + go[1] + "/Level_0");
  ASSERT_TRUE(Temporary::beside(target, Temporary::Kind::file).ok());
  std::sort(stay.begin(), stay.end());
  EXPECT_EQ(test::list_directory(directory_), stay);
}

TEST_F(TemporaryName, TargetsThatCannotBeWrittenAreNamed) {
  if (world_rank() != 0) return;
  namespace fs = std::filesystem;
  EXPECT_NE(Temporary::beside(directory_ + "/no/file", Temporary::Kind::file)
                .status()
                .message()
                .find("directory " + directory_ + "/no does not exist"),
            std::string::npos);
  fs::create_directory(directory_ + "/home");
  fs::create_directory(directory_ + "/home/important");
  EXPECT_EQ(Temporary::beside(directory_ + "/home", Temporary::Kind::file).status().code(), Code::usage);
  EXPECT_EQ(Temporary::beside(directory_ + "/home", Temporary::Kind::directory).status().message(),
            directory_ + "/home exists and is not a plotfile (it has no Header); it is not replaced");
  EXPECT_EQ(Temporary::beside("/dev/null", Temporary::Kind::file).status().code(), Code::usage);
  EXPECT_EQ(Temporary::beside("", Temporary::Kind::file).status().code(), Code::usage);
}

TEST_F(TemporaryName, ASymbolicLinkStaysOne) {
  if (world_rank() != 0) return;
  namespace fs = std::filesystem;
  fs::create_directory(directory_ + "/real");
  ASSERT_TRUE(create_file(directory_ + "/real/file", {}).ok());
  fs::create_symlink(directory_ + "/real/file", directory_ + "/link");
  auto temporary = Temporary::beside(directory_ + "/link", Temporary::Kind::file);
  ASSERT_TRUE(temporary.ok());
  ASSERT_TRUE(create_file(temporary->path(), {}).ok());
  ASSERT_TRUE(temporary->commit().ok());
  EXPECT_TRUE(fs::is_symlink(directory_ + "/link"));
  EXPECT_EQ(test::list_directory(directory_ + "/real"), std::vector<std::string>{"file"});
}

}  // namespace
}  // namespace neve::mpi
