// SPDX-License-Identifier: BSD-3-Clause
// Of pieces that have the same boxes only the last one counts.
#pragma once

#include <unordered_set>
#include <vector>

#include "core/bits/checksum.hpp"
#include "core/format/file_place.hpp"

namespace neve {

// Drops what a later element with the same place, by place_of(element), replaces.
template <class T, class PlaceOf>
void keep_last_of_place(std::vector<T>& elements, const PlaceOf& place_of) {
  const auto hash = [](const FilePlace* place) { return static_cast<size_t>(checksum(place->packed())); };
  const auto equal = [](const FilePlace* a, const FilePlace* b) { return *a == *b; };
  std::unordered_set<const FilePlace*, decltype(hash), decltype(equal)> later(elements.size(), hash, equal);
  std::vector<bool> is_last(elements.size());
  for (size_t i = elements.size(); i-- > 0;) is_last[i] = later.insert(&place_of(elements[i])).second;
  later.clear();
  size_t kept = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!is_last[i]) continue;
    if (kept != i) elements[kept] = std::move(elements[i]);
    ++kept;
  }
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(kept), elements.end());
}

}  // namespace neve
