// SPDX-License-Identifier: BSD-3-Clause
// Every kind of write, failing in every phase on every rank: one error on all, and the earlier file whole.
#include <cstdlib>

#include "tests/mpi/generated.hpp"
#include "tests/mpi/write_kinds.hpp"

namespace neve {
namespace {

using test::world_rank;
using test::world_size;
using test::WriteKind;

class Faults : public testing::TestWithParam<WriteKind> {
 protected:
  Faults() : directory_(test::make_directory("faults")), path_(directory_ + "/file") {}
  ~Faults() override {
    ::unsetenv("NEVE_FAULT");
    test::remove_directory(directory_);
  }
  std::string directory_, path_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Faults, testing::ValuesIn(test::write_kinds()), [](const auto& param) {
  std::string name = param.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST_P(Faults, InAnyPhaseOnAnyRankAreOneErrorAndLeaveTheEarlierFile) {
  const WriteKind& kind = GetParam();
  ASSERT_TRUE(kind.write(path_, 1).ok());
  test::barrier();
  const std::string before = test::contents(path_);
  ASSERT_EQ(before.empty(), !kind.makes_file);
  int faults = 0;
  for (int rank = 0; rank < world_size(); ++rank) {
    for (const std::string& phase : kind.phases(rank, world_size())) {
      const std::string where = phase + ":" + std::to_string(rank);
      ::setenv("NEVE_FAULT", where.c_str(), 1);
      const Status status = kind.write(path_, 2);
      ::unsetenv("NEVE_FAULT");
      test::barrier();
      EXPECT_EQ(status.code(), Code::failure) << where;
      EXPECT_TRUE(test::same_on_all_ranks(status.message())) << where;
      for (const std::string& words : {world_size() > 1 ? "rank " + std::to_string(rank) + ": " : "",
                                       "injected fault in phase " + phase}) {
        EXPECT_NE(status.message().find(words), std::string::npos) << where << ": " << status.message();
      }
      EXPECT_TRUE(test::is_kept(kind, before, test::contents(path_))) << where;
      EXPECT_EQ(test::list_directory(directory_).size(), kind.makes_file ? 1u : 0u) << where;
      test::barrier();
      ++faults;
    }
  }
  if (world_rank() == 0) RecordProperty("faults", faults);
  ASSERT_TRUE(kind.write(path_, 2).ok());
  test::barrier();
  EXPECT_TRUE(!kind.makes_file || test::contents(path_) != before);
}

}  // namespace
}  // namespace neve
