// SPDX-License-Identifier: BSD-3-Clause
#include "core/threads/scratch.hpp"

#include <algorithm>
#include <array>

namespace neve {

namespace {

constexpr size_t max_spares = 3;  // as many are in use at a time: words, their differences, a copy

// Those without memory are empty.
template <class T>
std::array<RawVector<T>, max_spares>& spares() {
  thread_local std::array<RawVector<T>, max_spares> buffers;
  return buffers;
}

template <class T>
bool has_less(const RawVector<T>& a, const RawVector<T>& b) {
  return a.capacity() < b.capacity();
}

// The smallest that is large enough, else the largest.
template <class T>
RawVector<T> take(size_t size) {
  RawVector<T>* best = nullptr;
  for (RawVector<T>& spare : spares<T>()) {
    if (spare.capacity() >= size && (best == nullptr || has_less(spare, *best))) best = &spare;
  }
  if (best == nullptr) best = std::max_element(spares<T>().begin(), spares<T>().end(), has_less<T>);
  RawVector<T> buffer = std::exchange(*best, RawVector<T>());
  if (buffer.capacity() < size) buffer.clear();  // growing need not copy
  buffer.resize(size);
  return buffer;
}

template <class T>
void recycle(RawVector<T>&& buffer) {
  RawVector<T>& smallest = *std::min_element(spares<T>().begin(), spares<T>().end(), has_less<T>);
  if (has_less(smallest, buffer)) smallest = std::move(buffer);
}

}  // namespace

Symbols take_symbols(size_t size) { return take<uint8_t>(size); }
void recycle_symbols(Symbols&& symbols) { recycle(std::move(symbols)); }

template <class T>
RawVector<T> take_values(size_t size) {
  return take<T>(size);
}
template <class T>
void recycle_values(RawVector<T>&& values) {
  recycle(std::move(values));
}

template RawVector<float> take_values<float>(size_t);
template RawVector<double> take_values<double>(size_t);
template RawVector<uint8_t> take_values<uint8_t>(size_t);
template RawVector<uint16_t> take_values<uint16_t>(size_t);
template RawVector<uint32_t> take_values<uint32_t>(size_t);
template RawVector<uint64_t> take_values<uint64_t>(size_t);
template void recycle_values<float>(RawVector<float>&&);
template void recycle_values<double>(RawVector<double>&&);
template void recycle_values<uint8_t>(RawVector<uint8_t>&&);
template void recycle_values<uint16_t>(RawVector<uint16_t>&&);
template void recycle_values<uint32_t>(RawVector<uint32_t>&&);
template void recycle_values<uint64_t>(RawVector<uint64_t>&&);

}  // namespace neve
