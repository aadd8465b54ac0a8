// SPDX-License-Identifier: BSD-3-Clause
// A file that is still to be put together when the call that wrote it has returned: what this rank's thread
// has to do for it, without MPI and without HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/marks.hpp"
#include "io/hdf5/held_file.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/file_pieces.hpp"
#include "parallel/write/staged_frames.hpp"
#include "parallel/write/target.hpp"

namespace neve::mpi {

class FileBehind {
 public:
  // What has become of it on this rank.
  enum class Stage {
    waiting,  // for the rank's thread
    put,      // its part is in the file
    failed    // here; the others are to be told
  };

  // Not collective. Rank 0 makes the marks, beside the file.
  static Status make_marks(const Comm& comm, const Target& target);

  struct Contents {
    FilePieces pieces;
    hdf5::HeldFile structure;  // rank 0
    // Frames that pieces point into, unless they are on the stage. What was reported of them is given back.
    void take(std::vector<EncodedChunk>&& chunks) {
      for (EncodedChunk& chunk : chunks) {
        if (chunk.spool != nullptr) continue;
        frame_bytes += chunk.frame_bytes;
        frames.push_back(std::move(chunk.frame));
      }
      chunks.clear();
    }
    // What fits of the structure goes to where the frames are.
    void stage_structure();
    // Bytes that are held in memory, other than a little for each piece.
    bool are_in_memory() const { return frame_bytes > 0; }

    std::unique_ptr<StagedFrames> stage = nullptr;  // frames and more that pieces refer to
    std::vector<std::vector<std::byte>> frames = {};
    uint64_t frame_bytes = 0;  // of those
  };
  // Not collective. Takes what the file is made of.
  // `mine`: what has become of this rank's work so far; an error is the file's.
  void seal(const Comm& comm, const std::string& path, Target target, Contents contents, bool is_beside_root,
            Status mine) noexcept;

  // What the error of a file that is written behind is told as.
  static Status lost(const std::string& path, const Status& error) {
    return error.in(path + ", which was written behind, is lost");
  }

  const std::string& path() const { return path_; }  // as the caller of the write has named it
  // Until it is put: whether it has frames that are not on a stage.
  bool holds_frames() const { return holds_frames_; }

  // In the rank's thread: its part into the file, as durable as it has to be on this rank, and its mark. All
  // that was held is given back.
  Status put() noexcept;
  // Rank 0's thread. What the ranks have marked; none also where that cannot be read now.
  files::Mark common_mark() const noexcept;
  // Rank 0's thread, where all ranks have put their parts: the file gets its name.
  Status publish() noexcept;
  // Not collective. What was made of it is removed.
  void drop() noexcept;

  // WritesBehind's, under its lock.
  uint64_t number = 0;
  Stage stage = Stage::waiting;
  Status error;             // of stage failed
  bool is_told_of = false;  // all ranks know that it is lost
  bool is_held = false;     // rank 0: it still has its temporary name

 private:
  Status put_parts();
  std::string marks_path() const { return temporary_path_ + marks_suffix; }
  static constexpr const char* marks_suffix = ".marks";

  std::string path_, temporary_path_;
  std::optional<Target> target_;
  Contents contents_;
  Status mine_;
  int rank_ = 0, ranks_ = 1;
  bool is_beside_root_ = false, holds_frames_ = false;
};

}  // namespace neve::mpi
