// SPDX-License-Identifier: BSD-3-Clause
// What an interrupted copy leaves for the next one, in `.NAME.neve-part`, a folder that is this user's alone:
// its growing file, `<n>`, and `<n>.log`, a line for every frame with its place there and its checksum.
// HDF5's own structures of a file that was not closed are never trusted: the next copy starts a new file and
// takes over the frames whose bytes match their checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/files/descriptor.hpp"
#include "io/files/target.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::datafile {

// One stored chunk of a coded variable.
struct FrameRecord {
  uint64_t variable = 0;  // its number in the plan
  uint64_t chunk = 0;     // its number in the grid
  uint32_t filter_mask = 0;
  uint64_t address = 0;  // in the file
  uint64_t bytes = 0;
  uint64_t checksum = 0;
  double max_abs_error = 0;
  Codec codec = Codec::automatic;
  LosslessMethod method = LosslessMethod::automatic;
  double encode_seconds = 0;
};

uint64_t frame_checksum(std::span<const std::byte> frame);

// A frame of an earlier copy, by the record it left; its bytes are still to be checked.
struct EarlierFrame {
  FrameRecord record;
  std::string file;
};

class Journal {
 public:
  // `key` tells which source and options the frames belong to: what lies there under another key, or with
  // `resume` false, is removed. Locks the target's name against other copies until this object ends.
  // Errors: failure (the directory cannot be written; another copy to this target is under way).
  static Result<Journal> beside(const std::string& target, uint64_t key, bool resume);
  Journal(Journal&& other) noexcept = default;
  Journal& operator=(Journal&&) = delete;
  ~Journal() = default;

  const std::string& part() const { return part_; }  // where the file is to grow
  const std::vector<EarlierFrame>& earlier() const { return earlier_; }
  bool had_other_key() const { return had_other_key_; }                  // something was there, and of no use
  bool holds_frames() const { return has_noted_ || !earlier_.empty(); }  // that a next copy could take over

  Status note(const FrameRecord& record);
  // All frames of earlier copies that are of use are in this one's file.
  void forget_earlier();
  // Makes the part durable, gives it the target's name and mode, removes everything else.
  Status commit();
  // Removes everything: there is nothing to go on from.
  void abandon();

 private:
  Journal() = default;
  Status enter_and_lock();
  Status find_earlier(uint64_t key, bool resume);
  Status start(uint64_t key);

  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }

  files::Target target_;
  std::string folder_, part_, log_;
  files::Descriptor lock_, log_file_;
  bool has_noted_ = false;
  int64_t log_bytes_ = 0;
  uint64_t generation_ = 0;
  std::vector<std::string> earlier_files_;  // parts and logs
  std::vector<EarlierFrame> earlier_;
  bool had_other_key_ = false;
};

}  // namespace neve::datafile
