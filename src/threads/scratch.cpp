// SPDX-License-Identifier: BSD-3-Clause
#include "threads/scratch.hpp"

namespace neve {

namespace {

template <class T>
RawVector<T>& spare() {
  thread_local RawVector<T> buffer;
  return buffer;
}

template <class T>
RawVector<T> take(size_t size) {
  RawVector<T> buffer = std::move(spare<T>());
  spare<T>() = RawVector<T>();
  buffer.resize(size);
  return buffer;
}

template <class T>
void recycle(RawVector<T>&& buffer) {
  if (buffer.capacity() > spare<T>().capacity()) spare<T>() = std::move(buffer);
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
