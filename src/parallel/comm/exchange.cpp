// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/exchange.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "parallel/comm/patient_wait.hpp"

namespace neve::mpi {
namespace {

// Words of the header, which are all minima but `described`.
constexpr size_t key_word = 0;        // agreement_key
constexpr size_t needed_word = 1;     // reversed: the largest number of words that a rank needs
constexpr size_t described_word = 2;  // 1 + the number of minima behind the header; 0: nothing is there
constexpr size_t same_word = 3;       // hashes, each before its complement: equal where all are
static_assert(Exchange::header_words == same_word + 2 * (Exchange::max_same + 1));

// Of a key: put it above all keys of the kinds before, and below that of those who agree.
uint64_t order_bits(Exchange::ErrorOf error_of) {
  switch (error_of) {
    case Exchange::ErrorOf::rank:
      return uint64_t{1} << 61;
    case Exchange::ErrorOf::all:
      return uint64_t{1} << 62;
    case Exchange::ErrorOf::nothing:
      break;
  }
  return 0;
}

// in and inout: as many words each. Whoever sends no more than its header takes what the other has.
void combine_one(const uint64_t* in, uint64_t* inout, size_t words) {
  constexpr size_t header_words = Exchange::header_words;
  for (size_t i = 0; i < header_words; ++i) {
    if (i != described_word) inout[i] = std::min(inout[i], in[i]);
  }
  if (in[described_word] == 0) return;
  if (inout[described_word] == 0) {
    std::copy(in + header_words, in + words, inout + header_words);
    inout[described_word] = in[described_word];
    return;
  }
  const size_t sums = std::min<size_t>(header_words + in[described_word] - 1, words);
  for (size_t i = header_words; i < sums; ++i) inout[i] = std::min(inout[i], in[i]);
  for (size_t i = sums; i < words; ++i) inout[i] += in[i];
}

extern "C" void neve_combine_exchanges(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const size_t words = static_cast<size_t>(bytes) / sizeof(uint64_t);
  for (int i = 0; i < *count; ++i) {
    const size_t at = static_cast<size_t>(i) * words;
    combine_one(static_cast<const uint64_t*>(in) + at, static_cast<uint64_t*>(inout) + at, words);
  }
}

// All words as one element, which no library cuts into pieces; and what is done to two of them.
struct Combination {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  Combination() = default;
  Combination(const Combination&) = delete;
  ~Combination() {
    if (op != MPI_OP_NULL) MPI_Op_free(&op);
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  }
  Status make(size_t words) {
    NEVE_TRY(
        mpi_status(MPI_Type_contiguous(static_cast<int>(words), MPI_UINT64_T, &type), "MPI_Type_contiguous"));
    NEVE_TRY(mpi_status(MPI_Type_commit(&type), "MPI_Type_commit"));
    return mpi_status(MPI_Op_create(neve_combine_exchanges, 1, &op), "MPI_Op_create");
  }
};

}  // namespace

Exchange::Exchange(size_t minima, size_t sums, size_t least_words) : minima_(minima), sums_(sums) {
  words_.assign(std::max(needed_words(), least_words), 0);
  received_.assign(words_.size(), 0);
  std::ranges::fill(this->minima(), std::numeric_limits<uint64_t>::max());
}

void Exchange::must_be_same(uint64_t hash, std::string_view what) {
  hashes_[same_] = hash;
  what_[same_++] = what;
}

void Exchange::fill_header(const Comm& comm, const Status& mine, bool has_payload) {
  std::fill_n(words_.begin(), header_words, std::numeric_limits<uint64_t>::max());
  words_[key_word] = agreement_key(comm, mine) | (mine.ok() ? 0 : order_bits(error_of_));
  words_[needed_word] = reversed(needed_words());
  words_[described_word] = has_payload ? minima_ + 1 : 0;
  const auto put_hash = [&](size_t i, uint64_t hash) {
    words_[same_word + 2 * i] = hash;
    words_[same_word + 2 * i + 1] = ~hash;
  };
  for (size_t i = 0; i < same_; ++i) put_hash(i, hashes_[i]);
  // (A rank without such an error has none of those words.)
  put_hash(max_same, error_of_ == ErrorOf::all ? std::hash<std::string>{}(mine.message()) : 0);
}

// Whether some ranks have put different hashes there; those that put none do not count.
bool Exchange::differs(size_t hash) const {
  constexpr uint64_t none = std::numeric_limits<uint64_t>::max();
  const uint64_t least = received_[same_word + 2 * hash], complement = received_[same_word + 2 * hash + 1];
  return (least != none || complement != none) && least != ~complement;
}

Status Exchange::reduce(const Comm& comm, const Status& mine, size_t words, bool has_payload) {
  fill_header(comm, mine, has_payload);
  Combination combination;
  NEVE_TRY(combination.make(words));
  return allreduce_patiently(words_.data(), received_.data(), 1, combination.type, combination.op, comm.get(),
                             "exchange of the ranks");
}

Status Exchange::conclude(const Comm& comm, const Status& mine) {
  const uint64_t lowest = received_[key_word];
  const uint64_t of_rank = order_bits(ErrorOf::rank), of_all = order_bits(ErrorOf::all);
  const bool is_before_arguments = lowest < of_rank;
  for (size_t i = 0; i < max_same && !is_before_arguments; ++i) {
    if (!differs(i)) continue;
    differing_ = what_[i];
    return usage_error("the ranks disagree about " + std::string(differing_) + "; all must pass the same");
  }
  if (all_agree(lowest)) return {};
  failed_alike_ = (lowest & of_all) != 0 && !differs(max_same);
  return lowest_failure(comm, lowest & ~(of_rank | of_all), mine);
}

Status Exchange::run(const Comm& comm, const Status& mine) {
  NEVE_TRY(reduce(comm, mine, needed_words(), true));
  NEVE_TRY(conclude(comm, mine));
  words_.swap(received_);
  return {};
}

Status Exchange::run_with_prefix(const Comm& comm, const Status& mine, std::span<const uint64_t> own,
                                 std::span<uint64_t> before) {
  fill_header(comm, mine, true);
  Combination combination;
  NEVE_TRY(combination.make(needed_words()));
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const Status posted = mpi_status(MPI_Iexscan(own.data(), before.data(), static_cast<int>(own.size()),
                                               MPI_UINT64_T, MPI_SUM, comm.get(), &requests[0]),
                                   "exchange of the ranks");
  const Status posted_too = mpi_status(MPI_Iallreduce(words_.data(), received_.data(), 1, combination.type,
                                                      combination.op, comm.get(), &requests[1]),
                                       "exchange of the ranks");
  const Status done = wait_patiently(requests, "exchange of the ranks");
  NEVE_TRY(posted);
  NEVE_TRY(posted_too);
  NEVE_TRY(done);
  if (comm.rank() == 0) std::ranges::fill(before, 0);  // which MPI_Iexscan leaves undefined there
  NEVE_TRY(conclude(comm, mine));
  words_.swap(received_);
  return {};
}

Status Exchange::run_first(const Comm& comm, const Status& mine, ErrorOf error_of, size_t& agreed_words) {
  error_of_ = error_of;
  const bool fits = needed_words() <= agreed_words;
  NEVE_TRY(reduce(comm, mine, agreed_words, fits && mine.ok()));
  NEVE_TRY(conclude(comm, mine));
  const size_t needed = reversed(received_[needed_word]);
  if (needed > agreed_words) {
    agreed_words = needed;
    NEVE_TRY(reduce(comm, mine, needed, true));
    NEVE_TRY(conclude(comm, mine));
  }
  words_.swap(received_);
  return {};
}

}  // namespace neve::mpi
