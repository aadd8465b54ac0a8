// SPDX-License-Identifier: BSD-3-Clause
// One reduction over all ranks of everything that a phase has to agree on: whether it went well, arguments
// that must be the same, minima, and sums. A write has few of these, because each is a wait of all ranks for
// all.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// Numbers as words of the same order, so that minima serve for all.
inline uint64_t reversed(uint64_t number) { return ~number; }  // of which the least is the largest number
inline uint64_t ordered(double number) {
  const auto bits = std::bit_cast<uint64_t>(number);
  constexpr uint64_t sign = uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}
inline double from_ordered(uint64_t word) {
  constexpr uint64_t sign = uint64_t{1} << 63;
  return std::bit_cast<double>((word & sign) != 0 ? word & ~sign : ~word);
}

class Exchange {
 public:
  // What an error of a first exchange says of its rank's arguments.
  enum class ErrorOf {
    nothing,  // they are not looked at: must_be_same() was not called
    rank,     // it may be this rank's alone
    all       // all ranks have it whose arguments are these
  };

  // Room for so many words, and at least for so many in all; nothing is allocated behind this. What no rank
  // sets stays neutral.
  Exchange(size_t minima, size_t sums, size_t least_words = 0);

  // This rank's before a run, all ranks' after it.
  std::span<uint64_t> minima() { return std::span(words_).subspan(header_words, minima_); }
  std::span<uint64_t> sums() { return std::span(words_).subspan(header_words + minima_, sums_); }

  // Forgets what must be the same.
  void clear_arguments() { same_ = 0, differing_ = {}, failed_alike_ = false; }
  // A hash of `what`, which all ranks must pass alike. `what` must outlive the exchange; at most max_same.
  void must_be_same(uint64_t hash, std::string_view what);

  // Collective, with as many minima and sums on all ranks. ok where all ranks pass ok; else what agree()
  // says.
  Status run(const Comm& comm, const Status& mine);
  // The same. `before` becomes the sums of the `own` of all lower ranks.
  Status run_with_prefix(const Comm& comm, const Status& mine, std::span<const uint64_t> own,
                         std::span<uint64_t> before);

  // Collective, also where ranks may have different numbers of minima and sums because they were called with
  // different arguments: what must be the same tells them so. `agreed_words`: the same on all ranks, a state
  // of the communicator; as much is sent at first, and as much as is needed in a second reduction where that
  // was too little, after which it is as much as was needed.
  // A usage error where a hash differs: differing() is what it was of.
  // All ranks come to the same verdict from the words that they have received: errors from before a rank has
  // said what must be the same come first, then what differs, then a rank's own errors, then those that all
  // ranks have; failed_alike() where these have the same words everywhere.
  Status run_first(const Comm& comm, const Status& mine, ErrorOf error_of, size_t& agreed_words);
  std::string_view differing() const { return differing_; }
  bool failed_alike() const { return failed_alike_; }

  static constexpr size_t max_same = 4;
  // Of what is reduced: three, and two of each hash; one hash is of the words of an error of all.
  static constexpr size_t header_words = 3 + 2 * (max_same + 1);
  size_t words() const { return words_.size(); }

 private:
  Status reduce(const Comm& comm, const Status& mine, size_t words, bool has_payload);
  Status conclude(const Comm& comm, const Status& mine);
  bool differs(size_t hash) const;
  size_t needed_words() const { return header_words + minima_ + sums_; }
  void fill_header(const Comm& comm, const Status& mine, bool has_payload);

  size_t minima_, sums_;
  std::vector<uint64_t> words_, received_;
  std::array<std::string_view, max_same> what_{};
  std::array<uint64_t, max_same> hashes_{};
  size_t same_ = 0;
  std::string_view differing_;
  ErrorOf error_of_ = ErrorOf::nothing;
  bool failed_alike_ = false;
};

}  // namespace neve::mpi
