// SPDX-License-Identifier: BSD-3-Clause
// A folder beside a target, of this user alone (mode 0700), in which the target is made: whatever mode a file
// gets while it is written, nobody else reaches it, and nobody else can put a link or a file in its way.
#pragma once

#include <functional>
#include <string>

#include "io/files/target.hpp"
#include "neve/status.hpp"

namespace neve::files {

class PrivateFolder {
 public:
  // What is made lies in `made`, the folder that it replaces for a moment in `earlier`.
  static constexpr const char* made_name = "new";
  static constexpr const char* earlier_name = "earlier";
  using Remove = std::function<void(const std::string& path)>;

  // Makes `.NAME.neve-tmp-PROCESS-RANDOM`, unpredictable and not there before. First clears away such
  // folders of the same target whose process ran on this machine since the last boot and has ended: what it
  // was making is removed; what it was replacing is put back where the target is missing, and else handed to
  // `remove_earlier`, or left.
  static Result<PrivateFolder> beside(const Target& target, const Remove& remove_earlier = {});
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  // Removes it and what was being made in it; not what lies there as `earlier`.
  ~PrivateFolder();

  const std::string& made() const { return made_; }
  const std::string& earlier() const { return earlier_; }
  const std::string& path() const { return path_; }

  // Remembers which folder `made` is, so that whoever clears away can tell it from the one that it changes
  // places with. To be called before they do.
  Status mark_made() const;
  // What the destructor does, already here.
  void remove();
  // From now on it stays, with all that is in it; the next write of the target puts it right.
  void leave() { path_.clear(); }

 private:
  PrivateFolder() = default;
  std::string path_;  // empty once moved from
  std::string made_, earlier_;
};

}  // namespace neve::files
