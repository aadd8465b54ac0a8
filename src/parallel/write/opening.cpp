// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/opening.hpp"

#include <algorithm>
#include <cstring>

#include "parallel/comm/broadcast.hpp"
#include "parallel/comm/exchange.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/write/options_key.hpp"
#include "parallel/write/writes_behind.hpp"

namespace neve::mpi {
namespace {

// The name that rank 0 has chosen for the file while it grows, in words of an exchange: all but rank 0 put
// nothing. Where it is longer than expected (a symbolic link leads elsewhere) it is broadcast.
class NameWords {
 public:
  explicit NameWords(const std::string& path)
      : words_(1 + (path.size() + room_beside) / sizeof(uint64_t) + 1) {}
  size_t words() const { return words_; }

  void put(const std::string& name, std::span<uint64_t> to) const {
    to[0] = name.size();
    if (fits(name.size())) std::memcpy(to.data() + 1, name.data(), name.size());
  }
  Status take(const Comm& comm, std::span<const uint64_t> from, std::string& name) const {
    const auto bytes = static_cast<size_t>(from[0]);
    if (!fits(bytes)) return broadcast(comm, name);
    return guarded("open", [&]() -> Status {
      name.assign(reinterpret_cast<const char*>(from.data() + 1), bytes);
      return {};
    });
  }

 private:
  static constexpr size_t room_beside = 96;  // of what is hidden beside a file, over the file's own name
  bool fits(size_t bytes) const { return bytes <= (words_ - 1) * sizeof(uint64_t); }
  size_t words_;
};

// The parts of an exchange, one after the other, behind what it says of files that are written behind.
template <class Work>
Status for_each_part(std::span<OpeningFields> parts, Exchange& exchange, size_t first_sum, const Work& work) {
  size_t minimum = WritesBehind::minima, sum = first_sum;
  for (OpeningFields& part : parts) {
    NEVE_TRY(work(part, exchange.minima().subspan(minimum, part.minima()),
                  exchange.sums().subspan(sum, part.sums())));
    minimum += part.minima();
    sum += part.sums();
  }
  return {};
}

Status disagreement(const Comm& comm, const WriteOptions& options, const Exchange& exchange,
                    const Status& status) {
  if (exchange.differing() != options_argument) return status;
  return name_differing_option(comm, options, status);
}

}  // namespace

Status OpeningFields::prepare(const Comm& comm, const Hierarchy& stored, const LocalValues& owned,
                              const WriteOptions& options) {
  stored_ = &stored;
  owned_.emplace(owned);
  NEVE_ASSIGN(owners, make_ownership(stored));
  if (!options.compress) return {};
  measured = MeasuredFields(stored, options);
  NEVE_TRY(begin_plan(stored, owned.boxes(), options, plan));
  if (!owned.are_in_memory()) return {};
  NEVE_TRY(injected_fault(Phase::range, comm.rank()));
  scan_.emplace(stored, owned, options);
  return scan_->scan();
}

size_t OpeningFields::sums() const { return count_boxes(*stored_) + plan.covered_cells.size(); }

void OpeningFields::put(int rank, std::span<uint64_t> minima, std::span<uint64_t> sums) const {
  if (scan_) scan_->put(minima);
  const size_t boxes = count_boxes(*stored_);
  put_claims(*stored_, owned_->boxes(), rank, sums.first(boxes));
  std::ranges::copy(plan.covered_cells, sums.subspan(boxes).begin());
}

Status OpeningFields::take(std::span<const uint64_t> sums) {
  const size_t boxes = count_boxes(*stored_);
  std::ranges::copy(sums.subspan(boxes), plan.covered_cells.begin());
  return read_claims(sums.first(boxes), owners);
}

Status OpeningFields::conclude(const Comm& comm, std::span<const uint64_t> minima) {
  return scan_ ? scan_->conclude(comm, minima, measured) : Status();
}

Status open_write(KeptComm& kept, const OpeningWork& work, Status& mine) {
  const Comm& comm = kept.comm();
  Status alike;  // what comes to the same on all ranks
  std::optional<Exchange> made;
  std::vector<uint64_t> hashes;
  const NameWords name(work.path);
  std::string temporary_path;
  Status own = guarded("opening", [&]() -> Status {
    NEVE_TRY(work.given);
    for (const SameArgument& argument : work.same) hashes.push_back(std::hash<std::string>{}(argument.key()));
    alike = work.check_arguments();
    if (!alike.ok()) return alike;
    NEVE_TRY(work.prepare());
    size_t minima = WritesBehind::minima, sums = 1 + name.words();
    for (const OpeningFields& part : work.parts) {
      minima += part.minima();
      sums += part.sums();
    }
    made.emplace(minima, sums, kept.agreed_words());
    if (comm.rank() == 0) {
      temporary_path = work.target.temporary_path();
      name.put(temporary_path, made->sums());
    }
    made->sums()[name.words()] = work.lacking;
    if (const auto* const behind = WritesBehind::of(kept); behind != nullptr)
      behind->put(comm, made->minima().first(WritesBehind::minima));
    return for_each_part(work.parts, *made, 1 + name.words(),
                         [&](OpeningFields& part, auto least, auto added) {
                           part.put(comm.rank(), least, added);
                           return Status();
                         });
  });
  Exchange& exchange = made ? *made : kept.spare();
  exchange.clear_arguments();
  // (Memory may have ended on one rank alone.)
  const bool is_of_all = !alike.ok() && alike.code() != Code::failure && own.code() != Code::failure;
  const bool has_arguments = hashes.size() == work.same.size();
  for (size_t i = 0; i < hashes.size() && has_arguments; ++i)
    exchange.must_be_same(hashes[i], work.same[i].what);
  const auto error_of = is_of_all       ? Exchange::ErrorOf::all
                        : has_arguments ? Exchange::ErrorOf::rank
                                        : Exchange::ErrorOf::nothing;
  const Status met = exchange.run_first(comm, own, error_of, kept.agreed_words());
  if (!exchange.differing().empty()) return disagreement(comm, work.options, exchange, met);
  if (exchange.failed_alike() && is_of_all) return alike;
  NEVE_TRY(met);
  work.lacking = exchange.sums()[name.words()];
  if (auto* const behind = WritesBehind::of(kept); behind != nullptr)
    work.earlier = behind->take(comm, exchange.minima().first(WritesBehind::minima));

  NEVE_TRY(for_each_part(work.parts, exchange, 1 + name.words(),
                         [](OpeningFields& part, auto, auto added) { return part.take(added); }));
  NEVE_TRY(for_each_part(work.parts, exchange, 1 + name.words(),
                         [&](OpeningFields& part, auto least, auto) { return part.conclude(comm, least); }));
  mine = name.take(comm, exchange.sums(), temporary_path);
  if (comm.rank() != 0) work.target.set_temporary_path(std::move(temporary_path));
  if (mine.ok()) mine = guarded("opening", [&] { return kept.fit_spare(); });
  return {};
}

}  // namespace neve::mpi
