// SPDX-License-Identifier: BSD-3-Clause
// What a write of a plotfile and one of a checkpoint have in common: an exchange of all ranks before they
// encode, one when they have encoded; then, unless it is written behind, one when everything is in the file,
// and a last word when that has its name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/exchange.hpp"
#include "parallel/comm/kept_comm.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/write/file_pieces.hpp"
#include "parallel/write/frame_spool.hpp"
#include "parallel/write/opening.hpp"
#include "parallel/write/place.hpp"
#include "parallel/write/staged_frames.hpp"
#include "parallel/write/target.hpp"
#include "parallel/write/writes_behind.hpp"

namespace neve::mpi {

// What has become of a call: of its own file, and of those that earlier calls were to write behind.
struct WriteOutcome {
  WriteOutcome(Status error) : own(std::move(error)) {}  // NOLINT: as a Result
  WriteOutcome(Result<WriteReport> of_own, Status of_earlier)
      : own(std::move(of_own)), earlier(std::move(of_earlier)) {}
  bool ok() const { return own.ok(); }
  // What the call returns: of its own file where the caller has a place for the rest, else of all.
  Result<WriteReport> told_to(Status* place_of_earlier) && {
    if (place_of_earlier != nullptr) {
      *place_of_earlier = std::move(earlier);
    } else {
      NEVE_TRY(both(earlier, own.status()));
    }
    return std::move(own);
  }

  Result<WriteReport> own;
  Status earlier;
};

class FileWrite {
 protected:
  // All must outlive the write.
  FileWrite(KeptComm& kept, const std::string& path, const Hierarchy& hierarchy, const WriteOptions& options)
      : kept_(kept), comm_(kept.comm()), path_(path), hierarchy_(hierarchy), options_(options) {}
  FileWrite(const FileWrite&) = delete;
  ~FileWrite() = default;

  size_t levels() const { return hierarchy_.levels.size(); }
  void show(const char* phase, double fraction) const {
    if (comm_.rank() == 0 && options_.progress) options_.progress(phase, fraction);
  }

  // Collective: the first exchange, as open_write() has it.
  Status open(const Status& given, std::span<const SameArgument> same,
              const std::function<Status()>& check_arguments, const std::function<Status()>& prepare);
  // Not collective; for `prepare`. Room for the last two exchanges: `minima` and `sums` of the reports of all
  // that is compressed, in so many datasets.
  void prepare_exchanges(size_t minima, size_t sums, size_t datasets);
  bool is_behind() const { return behind_of(options_) != Behind::none; }
  // Not collective; for `prepare`, at its end. Where it is written behind: what that takes.
  Status prepare_behind();
  // Where frames go as they are made; null: they stay in memory, or are staged when all of them are settled.
  StagedFrames* stage_of_frames() const { return options_.cross_level ? nullptr : stage_.get(); }
  // Not collective, before the second exchange. Frames that are not on the stage yet go there.
  void stage_settled(std::span<EncodedChunk> chunks);
  // Not collective. Frames of values that are read are put aside.
  void open_spool();
  // Collective: the second exchange, with the bytes that places_ has prepared. The sums of the reports,
  // before those bytes, are the caller's to put and to take; so is it to settle the places with
  // dataset_bytes().
  Status exchange_places();
  std::span<uint64_t> dataset_bytes() { return placing_->sums().last(datasets_ + 2).first(datasets_); }
  bool puts_frames_directly() const;
  // Collective where it is not direct.
  Status put(FilePieces& pieces, uint32_t datasets, uint64_t end, bool is_direct);
  // Not collective. Rank 0 writes the file's structure.
  void describe(const std::function<Status()>& write);
  // Collective: the last exchange, and the file gets its name.
  Status close();
  // Not collective. Instead of put, describe and close: all that is left to do is done behind.
  void hand_over();
  // Not collective. What the file is made of, with the structure on rank 0. Gives up the frames.
  virtual Status fill(FileBehind::Contents& contents) = 0;
  // For an error of this rank's work that others than this write have found.
  void fail(const Status& error) {
    if (mine_.ok()) mine_ = error;
  }
  // Once. `own`: what has become of the call's own file.
  WriteOutcome outcome(const Status& own);

  KeptComm& kept_;
  const Comm& comm_;
  const std::string& path_;
  const Hierarchy& hierarchy_;
  const WriteOptions& options_;

  Strategy strategy_ = Strategy::skeleton;
  Target target_;
  std::vector<OpeningFields> fields_;  // of a plotfile one, of a checkpoint one for each variable
  uint64_t lacking_ = 0;               // OpeningWork::lacking
  std::optional<FrameSpool> spool_;    // of values that are read: holds the frames
  std::optional<FramePlaces> places_;
  std::optional<Exchange> placing_;
  WriteReport report_;
  Status mine_;  // of this rank's work since the ranks met last
  Stopwatch stopwatch_;

 private:
  // Of a write behind.
  WritesBehind* behind_ = nullptr;
  WritesBehind::One one_;
  std::unique_ptr<StagedFrames> stage_;
  Status earlier_;  // a file that an earlier call was to write behind

  // The slowest rank's, in the second exchange: of planning and encoding.
  std::span<uint64_t> times() { return placing_->minima().last(2); }

  // In the second exchange: on all stages, and ranks that ask for MPI-IO.
  uint64_t& staged_bytes() { return placing_->sums().last(2).front(); }
  uint64_t& asking_for_mpi_io() { return placing_->sums().back(); }
  void say_what_the_stage_lacked() const;

  size_t datasets_ = 0;  // of frames
  bool any_asks_for_mpi_io_ = false;
  std::optional<Exchange> closing_;
};

}  // namespace neve::mpi
