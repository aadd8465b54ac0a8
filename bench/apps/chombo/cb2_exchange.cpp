// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/cb2_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "io/files/write.hpp"

namespace neve::chombo {
namespace {

constexpr uint64_t default_stripe_bytes = uint64_t{1} << 20;
constexpr uint64_t max_buffer_bytes = uint64_t{1} << 30;  // a message is of fewer bytes than an int counts
constexpr int values_tag = 1;
constexpr int words_of_part = 2;
constexpr uint64_t no_round = std::numeric_limits<uint64_t>::max();

uint64_t stripe_of(const FileLayout& layout) {
  return layout.stripe_bytes > 0 ? layout.stripe_bytes : default_stripe_bytes;
}

// Where each rank's begin.
void sum_up(const std::vector<int>& counts, std::vector<int>& begins) {
  int begin = 0;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    begins[rank] = begin;
    begin += counts[rank];
  }
}

}  // namespace

Cb2Layout Cb2Layout::of(const FileLayout& layout, int ranks) {
  Cb2Layout made;
  made.stripe_bytes = stripe_of(layout);
  const int wanted = layout.aggregators > 0    ? layout.aggregators
                     : layout.stripe_count > 0 ? layout.stripe_count
                                               : ranks;
  made.aggregators = static_cast<uint64_t>(std::min(wanted, ranks));
  made.stripes_a_round = std::max<uint64_t>(layout.buffer_bytes / made.stripe_bytes, 1);
  return made;
}

Status check_cb2_layout(const FileLayout& layout) {
  const uint64_t stripe = stripe_of(layout);
  if (stripe > max_buffer_bytes) {
    return usage_error(fmt::format("stripe size is {} bytes; with cb2 strategies at most {} are allowed",
                                   stripe, max_buffer_bytes));
  }
  if (layout.buffer_bytes % stripe == 0 && layout.buffer_bytes <= max_buffer_bytes) return {};
  return usage_error(fmt::format(
      "buffer size is {} bytes; with cb2 strategies multiples of the stripe size, {}, up to {} are allowed",
      layout.buffer_bytes, stripe, max_buffer_bytes));
}

Cb2Exchange::Cb2Exchange(const mpi::Comm& comm, const Cb2Layout& layout, uint64_t most_bytes)
    : comm_(comm), layout_(layout) {
  const auto ranks = static_cast<size_t>(comm.size());
  for (std::vector<int>* of_ranks : {&sent_words_, &sent_begin_, &coming_words_, &coming_begin_})
    of_ranks->resize(ranks);
  next_to_come_.resize(ranks);
  if (!is_aggregator()) return;
  received_.resize(std::min(layout.buffer_bytes(), most_bytes));
  joined_.resize(received_.size());
}

// Makes parts_ and parts_to_send_.
void Cb2Exchange::cut(Pieces pieces, uint64_t address) {
  for (const mpi::Piece& piece : pieces) {
    const uint64_t end = address + piece.address + piece.rows.bytes();
    for (uint64_t at = address + piece.address; at < end;) {
      const uint64_t next = std::min(end, (at / layout_.stripe_bytes + 1) * layout_.stripe_bytes);
      parts_.push_back({at, next - at});
      at = next;
    }
  }
  parts_to_send_ = parts_;
  std::ranges::stable_sort(parts_to_send_, {}, [&](const Part& part) { return layout_.owner(stripe(part)); });
  for (const Part& part : parts_to_send_)
    sent_words_[static_cast<size_t>(layout_.owner(stripe(part)))] += words_of_part;
}

// Collective: every aggregator learns which parts will come. After this nothing is allocated.
Status Cb2Exchange::announce(const Status& mine) {
  sum_up(sent_words_, sent_begin_);
  NEVE_TRY(mpi::mpi_status(
      MPI_Alltoall(sent_words_.data(), 1, MPI_INT, coming_words_.data(), 1, MPI_INT, comm_.get()),
      "exchange of counts"));
  sum_up(coming_words_, coming_begin_);
  const Status made = mpi::guarded("two-phase write", [&]() -> Status {
    NEVE_TRY(mine);
    const auto coming = static_cast<size_t>((coming_begin_.back() + coming_words_.back()) / words_of_part);
    parts_to_come_.resize(coming);
    arrivals_.reserve(coming);
    requests_.reserve(coming + parts_.size());
    return {};
  });
  NEVE_TRY(agree(comm_, made));
  for (size_t rank = 0; rank < next_to_come_.size(); ++rank)
    next_to_come_[rank] = static_cast<size_t>(coming_begin_[rank] / words_of_part);
  return mpi::mpi_status(MPI_Alltoallv(parts_to_send_.data(), sent_words_.data(), sent_begin_.data(),
                                       MPI_UINT64_T, parts_to_come_.data(), coming_words_.data(),
                                       coming_begin_.data(), MPI_UINT64_T, comm_.get()),
                         "exchange of places");
}

// The first in which this rank has to send or to receive. Ranks may be in different rounds: whoever is in the
// lowest waits for nobody.
uint64_t Cb2Exchange::next_round() const {
  uint64_t least = next_to_send_ < parts_.size() ? round(parts_[next_to_send_]) : no_round;
  for (size_t rank = 0; rank < next_to_come_.size(); ++rank) {
    const auto end = static_cast<size_t>((coming_begin_[rank] + coming_words_[rank]) / words_of_part);
    if (next_to_come_[rank] < end) least = std::min(least, round(parts_to_come_[next_to_come_[rank]]));
  }
  return least;
}

// A message for each stripe: what this rank has of it lies together.
void Cb2Exchange::send(uint64_t of_round, const std::byte*& values) {
  while (next_to_send_ < parts_.size() && round(parts_[next_to_send_]) == of_round) {
    const uint64_t of_stripe = stripe(parts_[next_to_send_]);
    uint64_t bytes = 0;
    for (; next_to_send_ < parts_.size() && stripe(parts_[next_to_send_]) == of_stripe; ++next_to_send_)
      bytes += parts_[next_to_send_].bytes;
    MPI_Isend(values, static_cast<int>(bytes), MPI_BYTE, layout_.owner(of_stripe), values_tag, comm_.get(),
              &requests_.emplace_back());
    values += bytes;
  }
}

void Cb2Exchange::receive(uint64_t of_round) {
  std::byte* into = received_.data();
  for (size_t rank = 0; rank < next_to_come_.size(); ++rank) {
    const auto end = static_cast<size_t>((coming_begin_[rank] + coming_words_[rank]) / words_of_part);
    size_t& next = next_to_come_[rank];
    while (next < end && round(parts_to_come_[next]) == of_round) {
      const uint64_t of_stripe = stripe(parts_to_come_[next]);
      std::byte* const begin = into;
      for (; next < end && stripe(parts_to_come_[next]) == of_stripe; ++next) {
        arrivals_.push_back({parts_to_come_[next], into});
        into += parts_to_come_[next].bytes;
      }
      MPI_Irecv(begin, static_cast<int>(into - begin), MPI_BYTE, static_cast<int>(rank), values_tag,
                comm_.get(), &requests_.emplace_back());
    }
  }
}

// One write for each range without gaps within a stripe.
Status Cb2Exchange::write_arrivals(int file, const std::string& path) {
  std::ranges::sort(arrivals_, {}, [](const Arrival& arrival) { return arrival.part.address; });
  std::byte* out = joined_.data();
  for (size_t i = 0; i < arrivals_.size();) {
    const Part first = arrivals_[i].part;
    const std::byte* const begin = out;
    uint64_t end = first.address;
    for (; i < arrivals_.size() && arrivals_[i].part.address == end &&
           stripe(arrivals_[i].part) == stripe(first);
         ++i) {
      std::memcpy(out, arrivals_[i].values, arrivals_[i].part.bytes);
      out += arrivals_[i].part.bytes;
      end += arrivals_[i].part.bytes;
    }
    NEVE_TRY(files::write_fully(file, static_cast<int64_t>(first.address), {begin, out}, path));
  }
  return {};
}

Status Cb2Exchange::write(int file, const std::string& path, Pieces pieces, const std::byte* values,
                          uint64_t address) {
  parts_.clear();
  parts_to_send_.clear();
  std::ranges::fill(sent_words_, 0);
  next_to_send_ = 0;
  const Status mine = mpi::guarded("two-phase write", [&]() -> Status {
    cut(pieces, address);
    return {};
  });
  NEVE_TRY(announce(mine));
  Status status;
  for (uint64_t round = next_round(); round != no_round; round = next_round()) {
    requests_.clear();
    arrivals_.clear();
    receive(round);
    send(round, values);
    const Status moved = mpi::mpi_status(
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
        "exchange of values");
    if (status.ok()) status = moved;
    // After an error what others send is still taken from them.
    if (status.ok()) status = write_arrivals(file, path);
  }
  return status;
}

}  // namespace neve::chombo
