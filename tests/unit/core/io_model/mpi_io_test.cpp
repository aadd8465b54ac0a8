// SPDX-License-Identifier: BSD-3-Clause
// Requests of ROMIO and OMPIO, worked out by hand.
#include <gtest/gtest.h>

#include <vector>

#include "core/io_model/ompio_writes.hpp"
#include "core/io_model/romio_writes.hpp"
#include "core/io_model/unstriped_time.hpp"
#include "core/io_model/write_calls.hpp"

namespace neve::io_model {

// For comparisons and messages.
bool operator==(const Request& a, const Request& b) {
  return a.begin == b.begin && a.bytes == b.bytes && a.writer == b.writer && a.read_bytes == b.read_bytes;
}
void PrintTo(const Request& r, std::ostream* out) {
  *out << "[" << r.begin << " +" << r.bytes << " by " << r.writer << " reads " << r.read_bytes << "]";
}

namespace {

constexpr uint64_t KiB = 1024, MiB = KiB * KiB;

std::vector<Request> romio(const std::vector<CallPiece>& pieces, int ranks, const RomioHints& hints = {}) {
  std::vector<Request> requests;
  add_romio_requests({true, pieces}, ranks, hints, requests);
  return requests;
}

std::vector<Request> ompio(const std::vector<CallPiece>& pieces, int ranks, const OmpioHints& hints = {}) {
  std::vector<Request> requests;
  add_ompio_requests({true, pieces}, ranks, hints, requests);
  return requests;
}

TEST(Romio, RanksInTheOrderOfTheFileWriteForThemselves) {
  const std::vector<CallPiece> pieces = {{0, 10, 0}, {10, 10, 0}, {20, 10, 1}};
  EXPECT_EQ(romio(pieces, 2), (std::vector<Request>{{0, 10, 0}, {10, 10, 0}, {20, 10, 1}}));
  RomioHints packed;
  packed.is_packed = true;
  EXPECT_EQ(romio(pieces, 2, packed), (std::vector<Request>{{0, 20, 0}, {20, 10, 1}}));
}

TEST(Romio, RanksThatInterleaveAreBuffered) {
  const std::vector<CallPiece> pieces = {{0, 10, 1}, {10, 10, 0}, {20, 10, 1}};
  EXPECT_EQ(romio(pieces, 2), (std::vector<Request>{{0, 30}}));
  RomioHints off;
  off.buffering = RomioHints::Buffering::disable;
  EXPECT_EQ(romio(pieces, 2, off).size(), 3u);
}

TEST(Romio, WindowsWithGapsAreReadBefore) {
  // Windows of 16 from 4: [4,20) whole, [20,36) with a gap, [36,52) empty, [52,60) to the last byte.
  const std::vector<CallPiece> pieces = {{4, 16, 1}, {20, 4, 0}, {30, 2, 1}, {52, 8, 0}};
  RomioHints hints;
  hints.buffer_bytes = 16;
  EXPECT_EQ(romio(pieces, 2, hints), (std::vector<Request>{{4, 16}, {20, 16, -1, 16}, {52, 8}}));
}

TEST(Romio, AggregatorsHaveEvenPartsOfTheFile) {
  // 0 to 100 by three: parts of 34. The second has 34 to 68, of which 40 to 60 is written.
  const std::vector<CallPiece> pieces = {{0, 30, 1}, {40, 20, 0}, {90, 10, 1}};
  RomioHints hints;
  hints.aggregators = 3;
  hints.buffering = RomioHints::Buffering::enable;
  EXPECT_EQ(romio(pieces, 2, hints), (std::vector<Request>{{0, 30}, {40, 20}, {90, 10}}));
}

TEST(Romio, OneRankSievesPiecesWithGaps) {
  const std::vector<CallPiece> pieces = {{0, 4, 0}, {8, 4, 0}, {30, 20, 0}};
  RomioHints hints;
  hints.is_packed = true;
  hints.sieve_bytes = 16;
  EXPECT_EQ(romio(pieces, 1, hints), (std::vector<Request>{{0, 16, 0, 16}, {30, 16, 0, 16}, {46, 4, 0, 4}}));
  hints.sieves = false;
  EXPECT_EQ(romio(pieces, 1, hints), (std::vector<Request>{{0, 4, 0}, {8, 4, 0}, {30, 20, 0}}));
}

TEST(Ompio, TwoRanksWriteRunsForThemselves) {
  const std::vector<CallPiece> pieces = {{0, 10, 0}, {10, 10, 0}, {20, 10, 1}, {30, 5, 0}};
  EXPECT_EQ(ompio(pieces, 2), (std::vector<Request>{{0, 20, 0}, {30, 5, 0}, {20, 10, 1}}));
}

TEST(Ompio, MoreRanksWriteThroughOneInCycles) {
  const std::vector<CallPiece> pieces = {{0, 30, 2}, {30, 30, 0}, {100, 5, 1}};
  OmpioHints hints;
  hints.buffer_bytes = 80;
  // Cycles of 40 bytes: [0,40); [40,60) and [100,105), whose begins are 30 apart on the mean: sieved.
  EXPECT_EQ(ompio(pieces, 3, hints), (std::vector<Request>{{0, 40}, {40, 65, -1, 65}}));
  // More than two cycles are written without waiting, part by part.
  hints.buffer_bytes = 50;
  EXPECT_EQ(ompio(pieces, 3, hints), (std::vector<Request>{{0, 25}, {25, 25}, {50, 10}, {100, 5}}));
}

TEST(Ompio, PartsFarApartAreNotReadBack) {
  const std::vector<CallPiece> pieces = {{0, 10, 0}, {1 * MiB, 10, 1}, {2 * MiB, 10, 2}};
  EXPECT_EQ(ompio(pieces, 3), (std::vector<Request>{{0, 10}, {1 * MiB, 10}, {2 * MiB, 10}}));
}

TEST(Ompio, ChoosesAnAggregatorForEightRanksAtMost) {
  for (int ranks : {1, 3, 8, 15}) EXPECT_EQ(ompio_aggregators(ranks, 6 * MiB, 32 * MiB, true), 1) << ranks;
  for (int ranks : {16, 64, 512, 4096}) {
    for (uint64_t chunk : {64 * KiB, 6 * MiB, 1024 * MiB}) {
      const int chosen = ompio_aggregators(ranks, chunk, 32 * MiB, false);
      EXPECT_GE(chosen, 1);
      EXPECT_LE(chosen, ranks / 8);
    }
  }
  EXPECT_EQ(ompio_aggregators(64, 1024 * MiB, 32 * MiB, true), 8);
}

FilePieces two_datasets() {
  FilePieces file;
  file.ranks = 3;
  file.datasets = {{0, {100, 200, 300, 400}, {0, 1, 2, 0}}, {1000, {50, 60, 70}, {2, 0, 1}}};
  return file;
}

TEST(WaysOfWriting, AllBytesArriveAndWhatIsReadIsWrittenBack) {
  const FilePieces file = two_datasets();
  for (const MpiIo mpi_io : {MpiIo::lustre, MpiIo::romio, MpiIo::ompio}) {
    for (const Writer writer : {Writer::neve, Writer::hdf5, Writer::model}) {
      for (const Strategy strategy :
           {Strategy::independent, Strategy::collective, Strategy::aggregated, Strategy::skeleton}) {
        for (int aggregators : {0, 2}) {
          const WriteCounts counts = count_writes(file, {strategy, 0, writer}, {mpi_io, 128, aggregators, 4});
          EXPECT_EQ(total_bytes(counts.mpi), file.bytes());
          EXPECT_GE(total_bytes(counts.posix), file.bytes());
          EXPECT_LE(total_bytes(counts.posix), file.bytes() + counts.read_bytes);
        }
      }
    }
  }
}

TEST(WaysOfWriting, PackedRunsOfARankAreWritesOfTheirOwn) {
  FilePieces file;
  file.ranks = 2;
  file.datasets = {{0, {10, 10, 10, 10}, {0, 0, 1, 0}}};
  const WriteCounts counts =
      count_writes(file, {Strategy::aggregated, 0, Writer::hdf5, true}, {MpiIo::ompio});
  EXPECT_EQ(counts.mpi, (SizeCounts{{10, 2}, {20, 1}}));
  EXPECT_EQ(counts.posix, counts.mpi);
}

TEST(WaysOfWriting, FramesThatAdjoinAreOneWriteOfUpTo4MiB) {
  FilePieces file;
  file.ranks = 2;
  file.datasets = {{0, {3 * MiB, 2 * MiB, 10, 20}, {0, 0, 1, 0}}};
  const WriteCounts counts = count_direct_writes(file);
  EXPECT_EQ(counts.posix, (SizeCounts{{10, 1}, {20, 1}, {2 * MiB, 1}, {3 * MiB, 1}}));
  EXPECT_EQ(counts.mpi, (SizeCounts{{10, 1}, {20, 1}, {5 * MiB, 1}}));
}

// One target of 100 B/s behind copies at 1000 B/s, 1 s a request, 10 s a call.
TEST(UnstripedTime, AddsUpByHand) {
  FilePieces file;
  file.ranks = 3;
  file.datasets = {{0, {100, 200, 300}, {2, 1, 0}}};
  const FileSystem disk{"by hand", 1, 100.0, 1000.0, 8, 1.0, 0, 0, 10.0};
  const Prediction alone = predict_unstriped(file, {Strategy::independent}, {MpiIo::ompio}, disk);
  EXPECT_DOUBLE_EQ(alone.total(), 3 * 1.0 + 600 / 100.0 + 300 / 1000.0);
  const Prediction together = predict_unstriped(file, {Strategy::aggregated}, {MpiIo::ompio}, disk);
  EXPECT_DOUBLE_EQ(together.target_seconds, 1.0 + 600 / 100.0 + 600 / 1000.0);
  EXPECT_DOUBLE_EQ(together.exchange_seconds, 600 / 1000.0);
  EXPECT_DOUBLE_EQ(together.call_seconds, 10.0);
  const Prediction frames = predict_direct(file, disk);
  EXPECT_DOUBLE_EQ(frames.total(), alone.total());
}

TEST(MpiIoNames, AreReadAndRefused) {
  EXPECT_EQ(*parse_mpi_io("romio"), MpiIo::romio);
  const Status refused = parse_mpi_io("lustre2").status();
  EXPECT_EQ(refused.code(), Code::usage);
  EXPECT_NE(refused.message().find("ompio"), std::string::npos);
}

}  // namespace
}  // namespace neve::io_model
