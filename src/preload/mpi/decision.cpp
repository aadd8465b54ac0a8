// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/decision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <string>

#include "core/status/guarded.hpp"
#include "parallel/transfer/block_plan.hpp"
#include "preload/mpi/call_record.hpp"
#include "preload/mpi/call_sites.hpp"
#include "preload/mpi/codec_speed.hpp"
#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

constexpr int calls_of_a_look = 3;
constexpr uint64_t most_skips = 1000000, most_fruitless = 15;
constexpr int most_slower = 5;

// What the ranks say of a call, and agree on.
struct Agreed {
  std::optional<DType> dtype;  // nothing: it cannot be compressed
  bool is_large = false;
  bool has_records = false;
  double part_bytes = 0;    // the largest
  double last_seconds = 0;  // of a byte in the last compressed call
};

std::optional<Agreed> agree(const Offer& offer, bool has_records, double last_seconds) {
  constexpr int64_t cannot = -1, has_none = std::numeric_limits<int64_t>::max();
  constexpr double attoseconds = 1e18;
  // The least counts: of types, of types negated, of wishes, of which one is enough; of sizes and times
  // negated.
  std::array<int64_t, 6> numbers = {
      has_none, has_none,
      0,        has_records ? 1 : 0,
      0,        -static_cast<int64_t>(std::min(last_seconds, 1.0) * attoseconds)};
  if (offer.bytes >= settings().min_bytes) numbers[2] = -1;
  numbers[4] = -static_cast<int64_t>(offer.bytes);
  if (!offer.is_possible) {
    numbers[0] = cannot;
  } else if (offer.dtype) {
    numbers[0] = static_cast<int64_t>(*offer.dtype);
    numbers[1] = -numbers[0];
  }
  if (MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MIN,
                    offer.comm) != MPI_SUCCESS)
    return {};
  Agreed agreed;
  // Ranks of different types would each decide for themselves.
  if (numbers[0] != cannot && numbers[0] != has_none && numbers[0] == -numbers[1]) {
    agreed.dtype = static_cast<DType>(numbers[0]);
  }
  agreed.is_large = numbers[2] != 0;
  agreed.has_records = numbers[3] != 0;
  agreed.part_bytes = std::max(1.0, -static_cast<double>(numbers[4]));
  agreed.last_seconds = -static_cast<double>(numbers[5]) / attoseconds;
  return agreed;
}

double seconds_of_frames(const Offer& offer, const CallRecord& record, int ranks, double part_bytes) {
  const mpi::Transfer& transfer = settings().transfer;
  const uint64_t block = mpi::block_bytes_of(transfer.block_bytes);
  return seconds_as_frames(volume_of(offer.kind, ranks, part_bytes), record.speeds.value_or(typical_speeds),
                           record.mpi_seconds * part_bytes, transfer.values.encode.threads,
                           static_cast<double>(block));
}

void say_verdict(const Offer& offer, const CallRecord& record, double part_bytes, double frames_seconds) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(offer.comm, &rank);
  MPI_Comm_size(offer.comm, &ranks);
  if (rank != 0 || !settings().reports) return;
  const CodecSpeeds speeds = record.speeds.value_or(typical_speeds);
  say(fmt::format(
      "{} of parts of {:.0f} bytes on {} ranks: MPI moves a part at {:.3g} GB/s; a thread encodes "
      "{:.3g} and decodes {:.3g} GB/s at a ratio of {:.3g}{}; frames would take {:.2f} of MPI's "
      "time: {}",
      name_of(offer.kind, offer.is_of_counts), part_bytes, ranks, 1e-9 / record.mpi_seconds,
      1e-9 / speeds.encode, 1e-9 / speeds.decode, 1 / speeds.share, record.speeds ? "" : " (typical ones)",
      frames_seconds / (record.mpi_seconds * part_bytes),
      record.verdict == Verdict::compressed ? "compressed" : "left to MPI"));
}

void leave_to_mpi(CallRecord& record) {
  record.verdict = Verdict::left_to_mpi;
  record.skips = record.next_skips;
  record.next_skips = std::min(most_skips, record.next_skips * 10);
  record.measured = record.slower = 0;
}

// The end of a look: the same on all ranks.
void judge(const Offer& offer, const Agreed& agreed, CallRecord& record) {
  int ranks = 1;
  MPI_Comm_size(offer.comm, &ranks);
  const Verdict before = record.verdict;
  const double frames_seconds = seconds_of_frames(offer, record, ranks, agreed.part_bytes);
  const bool wins = frames_seconds < clear_win * record.mpi_seconds * agreed.part_bytes;
  record.measured = 0;
  if (!wins) {
    leave_to_mpi(record);
  } else if (record.speeds) {
    record.verdict = Verdict::compressed;
    record.until_look = record.next_skips;
    record.next_skips = std::min(most_skips, record.next_skips * 10);
    record.last_seconds = 0;
    record.slower = 0;
  } else {
    // It would pay, but nothing that can be compressed has come.
    record.fruitless = std::min(most_fruitless, 2 * record.fruitless + 1);
    record.skips = record.fruitless;
  }
  if (record.verdict != before) say_verdict(offer, record, agreed.part_bytes, frames_seconds);
}

// Collective. MPI's own call, measured; where values can be compressed, some of them are.
int measure(const Offer& offer, const Agreed& agreed, CallRecord& record,
            const std::function<int()>& native) {
  const double begin = MPI_Wtime();
  const int code = native();
  std::array<double, 4> most = {(MPI_Wtime() - begin) / agreed.part_bytes, 0, 0, 0};
  const bool samples = agreed.dtype && !record.speeds;
  if (samples && offer.sent.count > 0) {
    const auto own = sample_speeds(offer.sent, *agreed.dtype);
    if (own) most = {most[0], own->encode, own->decode, own->share};
  }
  if (MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_DOUBLE, MPI_MAX,
                    offer.comm) != MPI_SUCCESS)
    return code;
  record.mpi_seconds = record.measured == 0 ? most[0] : std::min(record.mpi_seconds, most[0]);
  ++record.measured;
  if (samples && most[3] > 0) record.speeds = CodecSpeeds{most[1], most[2], most[3]};
  if (record.measured == calls_of_a_look) judge(offer, agreed, record);
  return code;
}

// Whether a call that is compressed as a rule is so, or MPI's time is to be measured again.
bool stays_compressed(const Offer& offer, const Agreed& agreed, CallRecord& record) {
  if (record.measured > 0) return false;
  record.slower = agreed.last_seconds > record.mpi_seconds ? record.slower + 1 : 0;
  if (record.slower >= most_slower) {
    leave_to_mpi(record);
    say_verdict(offer, record, agreed.part_bytes, agreed.last_seconds * agreed.part_bytes);
    return false;
  }
  if (record.until_look == 0) return false;
  --record.until_look;
  return true;
}

Decision decide(const Offer& offer, const Agreed& agreed, CallRecord& record,
                const std::function<int()>& native) {
  if (!agreed.is_large) {  // calls of counts: others may be large
    record.fruitless = std::min(most_fruitless, 2 * record.fruitless + 1);
    record.skips = record.fruitless;
    return {};
  }
  record.part_bytes = agreed.part_bytes;
  if (record.verdict == Verdict::compressed) {
    if (!agreed.dtype) return {};
    if (stays_compressed(offer, agreed, record)) return {agreed.dtype, {}};
    if (record.verdict != Verdict::compressed) return {};
  }
  // The first call of all makes MPI's connections, and the program's memory.
  if (record.verdict == Verdict::unknown && !record.is_warm) {
    record.is_warm = true;
    return {};
  }
  return {{}, measure(offer, agreed, record, native)};
}

CallRecord* find_record(const Offer& offer, CallRecords*& all) {
  all = nullptr;
  CallRecord* record = nullptr;
  (void)guarded("records", [&]() -> Status {
    all = records_of(offer.comm);
    if (all == nullptr) return {};
    const std::lock_guard lock(all->mutex);
    record = &all->records[call_key(offer.kind, offer.is_of_counts, offer.bytes)];
    return {};
  });
  return record;
}

}  // namespace

bool is_left_to_mpi(Kind kind, bool is_of_counts, MPI_Comm comm, uint64_t bytes) {
  if (!is_of_counts && bytes < settings().min_bytes) return true;
  if (settings().always) return false;
  CallRecords* const all = find_records(comm);
  if (all == nullptr) return false;
  const std::lock_guard lock(all->mutex);
  const auto found = all->records.find(call_key(kind, is_of_counts, bytes));
  if (found == all->records.end() || found->second.skips == 0) return false;
  --found->second.skips;
  return true;
}

Decision agree_to_compress(const Offer& offer, const std::function<int()>& native) {
  CallRecords* all = nullptr;
  CallRecord* const record = settings().always ? nullptr : find_record(offer, all);
  const auto agreed = agree(offer, record != nullptr, record == nullptr ? 0 : record->last_seconds);
  if (!agreed) return {};
  if (settings().always) return {agreed->is_large ? agreed->dtype : std::nullopt, {}};
  if (agreed->has_records) return decide(offer, *agreed, *record, native);
  if (record != nullptr) {  // some rank has no memory for one: nobody keeps it
    const std::lock_guard lock(all->mutex);
    all->records.erase(call_key(offer.kind, offer.is_of_counts, offer.bytes));
  }
  return {};
}

void note_seconds(const Offer& offer, double seconds) {
  if (settings().always) return;
  CallRecords* all = nullptr;
  CallRecord* const record = find_record(offer, all);
  if (record != nullptr) record->last_seconds = seconds / std::max(1.0, record->part_bytes);
}

}  // namespace neve::pmpi
