// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/file_write.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "core/status/hint.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/file/strategy.hpp"
#include "parallel/write/put.hpp"

namespace neve::mpi {

Status FileWrite::open(const Status& given, std::span<const SameArgument> same,
                       const std::function<Status()>& check_arguments,
                       const std::function<Status()>& prepare) {
  WritesBehind* const behind = WritesBehind::of(kept_);
  if (behind != nullptr) {
    earlier_ = behind->place_copied();
    is_behind() ? behind->wait_for_room() : behind->wait_until_put();
  }
  stopwatch_.lap();
  Status told;
  const OpeningWork work{given,   same,    options_, path_, check_arguments,
                         prepare, fields_, target_,  told,  lacking_};
  const Status opened = open_write(kept_, work, mine_);
  // (Where that has failed, earlier files have not been told of.)
  if (behind != nullptr && !opened.ok() && behind->has_any()) told = both(told, behind->meet(comm_));
  earlier_ = both(earlier_, told);
  NEVE_TRY(opened);
  // (An earlier file may be of the same name.)
  if (behind != nullptr && !is_behind()) behind->wait_until_published();
  report_.plan_seconds = stopwatch_.lap();
  return {};
}

void FileWrite::prepare_exchanges(size_t minima, size_t sums, size_t datasets) {
  datasets_ = datasets;
  places_.emplace(datasets);
  placing_.emplace(minima + 2, sums + datasets + 2);
  closing_.emplace(make_closing());
}

Status FileWrite::prepare_behind() {
  if (!is_behind()) return {};
  NEVE_ASSIGN(behind_, WritesBehind::make(kept_));
  one_.emplace_back();
  NEVE_TRY(FileBehind::make_marks(comm_, target_));
  if (options_.stage.empty()) return {};
  std::string& served = behind_->stage_that_served();
  NEVE_ASSIGN(stage_, StagedFrames::make(options_, comm_.rank(), *behind_, served == options_.stage));
  served = options_.stage;
  return {};
}

void FileWrite::stage_settled(std::span<EncodedChunk> chunks) {
  if (stage_ == nullptr) return;
  for (EncodedChunk& chunk : chunks) {
    if (chunk.spool == nullptr && options_.cross_level) stage_->take(chunk);
    if (chunk.spool != nullptr) report_.staged_bytes += chunk.frame_bytes;
  }
}

void FileWrite::open_spool() {
  if (!mine_.ok()) return;
  mine_ = guarded("encode", [&]() -> Status {
    NEVE_ASSIGN(FrameSpool made, FrameSpool::beside(target_.temporary_path(), comm_.rank()));
    spool_.emplace(std::move(made));
    return {};
  });
}

Status FileWrite::exchange_places() {
  std::ranges::copy(places_->own_bytes(), dataset_bytes().begin());
  asking_for_mpi_io() = asks_for_mpi_io(options_) ? 1 : 0;
  staged_bytes() = report_.staged_bytes;
  times().front() = reversed(ordered(report_.plan_seconds));
  times().back() = reversed(ordered(report_.encode_seconds));
  NEVE_TRY(placing_->run_with_prefix(comm_, mine_, places_->own_bytes(), places_->bytes_before()));
  any_asks_for_mpi_io_ = asking_for_mpi_io() > 0;
  if (!is_behind()) return {};
  report_.staged_bytes = staged_bytes();
  report_.plan_seconds = from_ordered(reversed(times().front()));
  report_.encode_seconds = from_ordered(reversed(times().back()));
  return {};
}

bool FileWrite::puts_frames_directly() const {
  return puts_directly(strategy_, any_asks_for_mpi_io_, comm_.size(), places_->bytes());
}

Status FileWrite::put(FilePieces& pieces, uint32_t datasets, uint64_t end, bool is_direct) {
  stopwatch_.lap();
  const PutWork work{target_.temporary_path(),
                     target_.hints(),
                     write_order(strategy_, options_.aggregate_boxes),
                     is_direct,
                     kept_.is_beside_root(),
                     datasets,
                     end};
  NEVE_TRY(put_pieces(comm_, work, pieces, mine_, report_));
  stopwatch_.lap();
  return {};
}

void FileWrite::describe(const std::function<Status()>& write) {
  if (mine_.ok()) {
    mine_ = guarded("skeleton", [&]() -> Status {
      NEVE_TRY(injected_fault(Phase::skeleton, comm_.rank()));
      return comm_.rank() == 0 ? write() : Status();
    });
  }
  report_.place_seconds = stopwatch_.lap();
}

// Once a process.
void FileWrite::say_what_the_stage_lacked() const {
  static std::atomic<bool> is_said = false;
  if (comm_.rank() != 0 || report_.staged_bytes >= report_.data_bytes || is_said.exchange(true)) return;
  say_hint("stage " + options_.stage + " has had room for " + std::to_string(report_.staged_bytes) + " of " +
           std::to_string(report_.data_bytes) + " bytes of " + path_ +
           "; what does not fit waits in memory, and is written all the same");
}

void FileWrite::hand_over() {
  FileBehind::Contents contents;
  if (mine_.ok()) {
    mine_ = guarded("skeleton", [&]() -> Status {
      NEVE_TRY(injected_fault(Phase::skeleton, comm_.rank()));
      report_.hints = target_.hints();
      report_.data_bytes = places_->bytes();
      if (!options_.stage.empty()) say_what_the_stage_lacked();
      NEVE_TRY(fill(contents));
      contents.stage = std::move(stage_);
      contents.stage_structure();
      return {};
    });
  }
  one_.front().seal(comm_, path_, std::move(target_), std::move(contents), kept_.is_beside_root(),
                    std::exchange(mine_, {}));
  behind_->add(std::move(one_));
}

WriteOutcome FileWrite::outcome(const Status& own) {
  if (!own.ok()) return {own, std::move(earlier_)};
  return {std::move(report_), std::move(earlier_)};
}

Status FileWrite::close() { return close_write(comm_, target_, mine_, *closing_, report_); }

}  // namespace neve::mpi
