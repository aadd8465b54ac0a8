// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/ompio_writes.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/portable_math.hpp"

namespace neve::io_model {
namespace {

constexpr int most_ranks_alone = 2;                         // of component individual
constexpr uint64_t most_in_vector = 1024;                   // IOV_MAX: parts of memory that one pwritev takes
constexpr uint64_t cycle_bytes = uint64_t{512} << 20;       // io_ompio_cycle_buffer_size
constexpr uint64_t default_view_bytes = uint64_t{6} << 20;  // of a rank that has set none
// fbtl_posix_max_block_size, _max_gap_size, _max_tmpbuf_size: where small parts are written by
// read-modify-write.
constexpr uint64_t most_block_bytes = uint64_t{1} << 20, most_gap_bytes = 4096;
constexpr uint64_t most_sieve_bytes = uint64_t{64} << 20;
constexpr uint64_t most_synchronous_cycles = 2;

constexpr int most_ranks_an_aggregator = 8;  // io_ompio_max_aggregators_ratio
constexpr double cutoff = 0.03;              // io_ompio_aggregators_cutoff_threshold
constexpr double least_gain_seconds = 0.001;

// Seconds of the exchange by LogGP, with the numbers of OMPIO for InfiniBand: latency L, overhead o, gap g of
// a message, gap G of a byte.
double exchange_seconds(int ranks, int aggregators, double chunk, double buffer, bool is_one_chunk) {
  constexpr double L = 1.84e-6, o = 1.49e-6, G = 6.7e-10, g_of_large = 1.19e-5, g_of_small = 1.08e-6;
  constexpr double large_message = 33554432;
  const double buffers = math::floor(ranks * chunk / aggregators) / buffer;
  double senders = 1, receivers = 1, message = 1;
  if (is_one_chunk) {
    message = std::min(chunk, buffer);
    receivers = chunk > buffer ? 1 : buffer / chunk;
  } else {
    const double side = math::floor(std::sqrt(static_cast<double>(ranks)));
    senders = aggregators / side;
    receivers = side;
    message = chunk > math::floor(aggregators * buffer / ranks) ? std::min(buffer / side, chunk)
                                                                : std::min(chunk * side / aggregators, chunk);
  }
  const double g = message < large_message ? g_of_small : g_of_large;
  const auto seconds = [&](double times, double partners) {
    return times * (L + 2 * o + (partners - 1) * g + (message - 1) * partners * G);
  };
  return seconds(chunk / (senders * message), senders) + seconds(buffers, receivers);
}

int aggregators_of(const std::vector<std::vector<Range>>& by_rank, const OmpioHints& hints) {
  const auto ranks = static_cast<int>(by_rank.size());
  if (hints.aggregators > 0) return std::min(hints.aggregators, ranks);
  uint64_t chunks = 0, views = 0;
  for (const std::vector<Range>& own : by_rank) {
    const bool has_view = hints.has_view && !own.empty();
    uint64_t bytes = 0;
    for (const Range& range : own) bytes += range.bytes();
    chunks += has_view ? bytes / own.size() : default_view_bytes;
    views += has_view ? bytes : default_view_bytes;
  }
  const uint64_t chunk = chunks / by_rank.size();
  return ompio_aggregators(ranks, chunk, hints.buffer_bytes, chunk == views / by_rank.size());
}

// Each rank for itself: what lies together in the file in one call, of up to so many parts of memory.
void add_alone(const std::vector<std::vector<Range>>& by_rank, const OmpioHints& hints,
               std::vector<Request>& requests) {
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    uint64_t left_in_cycle = cycle_bytes;
    for (const Range& range : by_rank[rank]) {
      const uint64_t vectors = hints.is_packed ? 1 : (range.pieces + most_in_vector - 1) / most_in_vector;
      uint64_t most = std::max<uint64_t>((range.bytes() + vectors - 1) / vectors, 1);
      for (uint64_t at = range.begin; at < range.end;) {
        const uint64_t bytes = std::min({most, range.end - at, left_in_cycle});
        requests.push_back({at, bytes, static_cast<int>(rank)});
        at += bytes;
        left_in_cycle = left_in_cycle == bytes ? cycle_bytes : left_in_cycle - bytes;
      }
    }
  }
}

bool is_sieved(std::span<const Range> parts) {
  if (parts.size() < 2) return false;
  uint64_t bytes = 0;
  for (const Range& part : parts) bytes += part.bytes();
  // From the begin of a part to that of the next.
  const uint64_t gap = (parts.back().begin - parts.front().begin) / parts.size();
  return bytes / parts.size() <= most_block_bytes && gap <= most_gap_bytes;
}

void add_sieved(std::span<const Range> parts, std::vector<Request>& requests) {
  for (size_t first = 0; first < parts.size();) {
    size_t next = first + 1;
    while (next < parts.size() && parts[next].end - parts[first].begin <= most_sieve_bytes) ++next;
    const uint64_t bytes = parts[next - 1].end - parts[first].begin;
    requests.push_back({parts[first].begin, bytes, -1, bytes});
    first = next;
  }
}

// What an aggregator holds, in cycles of as many bytes as half a buffer takes.
std::vector<std::vector<Range>> cycles_of(std::span<const Range> parts, uint64_t bytes_a_cycle) {
  std::vector<std::vector<Range>> cycles;
  uint64_t left = 0;
  for (const Range& part : parts) {
    for (uint64_t at = part.begin; at < part.end;) {
      if (left == 0) {
        cycles.emplace_back();
        left = bytes_a_cycle;
      }
      const uint64_t end = std::min(part.end, at + left);
      std::vector<Range>& own = cycles.back();
      if (!own.empty() && own.back().end == at) {
        own.back().end = end;
      } else {
        own.push_back({at, end, 1});
      }
      left -= end - at;
      at = end;
    }
  }
  return cycles;
}

// Parts of the file go to aggregators in turn, from its first byte on, however far the call's first byte lies
// behind it.
void add_buffered(const Call& call, const std::vector<std::vector<Range>>& by_rank, const OmpioHints& hints,
                  std::vector<Request>& requests) {
  const std::vector<Range> ranges = joined_ranges(call.pieces);
  const auto aggregators = static_cast<uint64_t>(aggregators_of(by_rank, hints));
  const bool all_write =
      std::none_of(by_rank.begin(), by_rank.end(), [](const auto& own) { return own.empty(); });
  const uint64_t begin = all_write ? ranges.front().begin : 0;
  const uint64_t domain_bytes = (ranges.back().end - begin + aggregators - 1) / aggregators;
  std::vector<std::vector<Range>> parts(aggregators);
  for (const Range& range : ranges) {
    for (uint64_t at = range.begin; at < range.end;) {
      const uint64_t domain = at / domain_bytes;
      const uint64_t end = std::min(range.end, (domain + 1) * domain_bytes);
      parts[domain % aggregators].push_back({at, end, 1});
      at = end;
    }
  }
  const uint64_t bytes_a_cycle = std::max<uint64_t>(hints.buffer_bytes / 2, 1);
  std::vector<std::vector<std::vector<Range>>> cycles;
  size_t most_cycles = 0;
  for (const std::vector<Range>& own : parts) {
    cycles.push_back(cycles_of(own, bytes_a_cycle));
    most_cycles = std::max(most_cycles, cycles.back().size());
  }
  for (const auto& own : cycles) {
    for (const std::vector<Range>& cycle : own) {
      if (most_cycles <= most_synchronous_cycles && is_sieved(cycle)) {
        add_sieved(cycle, requests);
        continue;
      }
      for (const Range& range : cycle) requests.push_back({range.begin, range.bytes(), -1});
    }
  }
}

}  // namespace

int ompio_aggregators(int ranks, uint64_t chunk_bytes, uint64_t buffer_bytes, bool is_one_chunk) {
  const int step = ranks < 16 ? 2 : ranks < 128 ? 4 : ranks < 4096 ? 16 : 32;
  const auto seconds = [&](int aggregators) {
    return exchange_seconds(ranks, aggregators, static_cast<double>(std::max<uint64_t>(chunk_bytes, 1)),
                            static_cast<double>(buffer_bytes), is_one_chunk);
  };
  int chosen = 1;
  double before = seconds(1), gain_before = 0;
  for (int aggregators = step; aggregators <= ranks; aggregators += step) {
    const double now = seconds(aggregators);
    const double gain = (before - now) / before;
    if ((aggregators == step ? gain : gain_before - gain) < cutoff || before - now < least_gain_seconds)
      break;
    chosen = aggregators;
    before = now;
    gain_before = gain;
  }
  return std::max(1, std::min(chosen, ranks / most_ranks_an_aggregator));
}

void add_ompio_requests(const Call& call, int ranks, const OmpioHints& hints,
                        std::vector<Request>& requests) {
  if (call.pieces.empty()) return;
  if (!call.is_collective) {
    for (const CallPiece& piece : call.pieces) {
      for (uint64_t at = 0; at < piece.bytes; at += cycle_bytes) {
        requests.push_back({piece.begin + at, std::min(cycle_bytes, piece.bytes - at), piece.rank});
      }
    }
    return;
  }
  const std::vector<std::vector<Range>> by_rank = ranges_by_rank(call.pieces, ranks);
  if (ranks <= most_ranks_alone) {
    add_alone(by_rank, hints, requests);
  } else {
    add_buffered(call, by_rank, hints, requests);
  }
}

}  // namespace neve::io_model
