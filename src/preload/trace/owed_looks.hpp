// SPDX-License-Identifier: BSD-3-Clause
// Looks at the sizes of files that were closed and not looked at, since a look costs a fifth of an open and
// the same file was looked at just before. Each is made up for later, by the file's name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "preload/trace/path_cache.hpp"

namespace neve::trace {

class OwedLooks {
 public:
  struct Look {
    uint32_t file;  // 0: none
    FileNumber number;
  };

  // Where another file is in its place, that one is paid for at once.
  template <class Pay>
  void owe(uint32_t file, FileNumber number, Pay&& pay) {
    Look& place = places_[file / 8 % places_.size()];
    if (place.file != file) {
      if (place.file != 0) pay(place);
      count_ += place.file == 0 ? 1 : 0;
    }
    place = {file, number};
  }

  template <class Pay>
  void pay_all(Pay&& pay) {
    for (size_t i = 0; count_ > 0 && i < places_.size(); ++i) {
      if (places_[i].file == 0) continue;
      pay(places_[i]);
      places_[i] = {};
      --count_;
    }
  }

  void forget() {
    pay_all([](const Look&) {});
  }

 private:
  std::array<Look, 256> places_;
  uint32_t count_;
};

}  // namespace neve::trace
