// SPDX-License-Identifier: BSD-3-Clause
// What the receiver of blocks does while none is there: the caller's own work, a piece at a time.
#include "parallel/transfer/receive_blocks.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "parallel/transfer/send_blocks.hpp"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

constexpr int block_tag = 0, word_tag = 1;
constexpr uint64_t count = 3000, block_bytes = 4000;  // three blocks

mpi::BlockPlan plan_of_test() { return mpi::plan_blocks(count, sizeof(float), block_bytes, {}).value(); }

// Whether rank 0 has sent word before so many seconds are over.
bool word_comes_within(std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  int is_here = 0;
  while (is_here == 0 && std::chrono::steady_clock::now() < end) {
    MPI_Iprobe(0, word_tag, MPI_COMM_WORLD, &is_here, MPI_STATUS_IGNORE);
    std::this_thread::yield();
  }
  return is_here != 0;
}

// Sends its blocks when rank 0 has been at its own work, which it tells by a word, and not before.
void send_after_word() {
  EXPECT_TRUE(word_comes_within(std::chrono::seconds(60)));
  const std::vector<float> mine(count, static_cast<float>(test::world_rank()));
  mpi::Transfer transfer;
  const mpi::BlockEncoder encoder(transfer, plan_of_test(), mine.data(), {}, test::world_rank());
  mpi::Moved moved;
  const Status sent = mpi::send_blocks(MPI_COMM_WORLD, 0, block_tag, encoder, moved);
  EXPECT_TRUE(sent.ok()) << sent.message();
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, 0, word_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQ(word, test::world_rank());
}

TEST(ReceiveBlocks, CallersOwnWorkGoesOnWhileNothingComes) {
  if (test::world_size() < 2) GTEST_SKIP() << "needs a rank to receive from";
  if (test::world_rank() != 0) return send_after_word();
  std::vector<std::vector<float>> got(static_cast<size_t>(test::world_size()), std::vector<float>(count, -1));
  std::vector<mpi::Incoming> incoming;
  for (int rank = 1; rank < test::world_size(); ++rank) {
    auto* const out = reinterpret_cast<std::byte*>(got[static_cast<size_t>(rank)].data());
    incoming.push_back({rank, plan_of_test(), out});
  }
  int next = 1, pieces_after = 100;  // more than there are waits: the rest is done in the end
  const auto meanwhile = [&] {
    if (next < test::world_size()) {
      MPI_Send(&next, 1, MPI_INT, next, word_tag, MPI_COMM_WORLD);
      ++next;
      return true;
    }
    return pieces_after-- > 0;
  };
  mpi::Moved moved;
  const mpi::Received received = mpi::receive_blocks(MPI_COMM_WORLD, MPI_ANY_SOURCE, block_tag, DType::f32, 1,
                                                     incoming, moved, meanwhile);
  EXPECT_TRUE(received.own.ok()) << received.own.message();
  EXPECT_TRUE(received.sent.ok()) << received.sent.message();
  EXPECT_LT(pieces_after, 0);
  for (int rank = 1; rank < test::world_size(); ++rank) {
    EXPECT_EQ(got[static_cast<size_t>(rank)], std::vector<float>(count, static_cast<float>(rank)));
  }
}

}  // namespace
}  // namespace neve
