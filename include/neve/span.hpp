// SPDX-License-Identifier: BSD-3-Clause
// A view of contiguous values that it does not own: std::span for programs of C++17, with the same names.
// Converts from and to std::span where there is one.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#if __cplusplus >= 202002L
#include <ranges>
#endif

namespace neve {

template <class T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t count>
  constexpr Span(T (&values)[count]) : data_(values), size_(count) {}
  // std::vector, std::array, std::string, std::span, Span of what is not const: anything contiguous.
  template <class Container,
            class = std::enable_if_t<
                !std::is_same_v<std::remove_cv_t<std::remove_reference_t<Container>>, Span> &&
                std::is_convertible_v<
                    std::remove_pointer_t<decltype(std::declval<Container&>().data())> (*)[], T (*)[]> &&
                std::is_convertible_v<decltype(std::declval<Container&>().size()), size_t>>>
  constexpr Span(Container&& values) : data_(values.data()), size_(values.size()) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr size_t size_bytes() const { return size_ * sizeof(T); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  // Not checked, as std::span's.
  constexpr T& operator[](size_t i) const { return data_[i]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }
  constexpr Span first(size_t count) const { return {data_, count}; }
  constexpr Span last(size_t count) const { return {data_ + (size_ - count), count}; }
  constexpr Span subspan(size_t offset) const { return {data_ + offset, size_ - offset}; }
  constexpr Span subspan(size_t offset, size_t count) const { return {data_ + offset, count}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace neve

#if __cplusplus >= 202002L
// A pointer into it may outlive it.
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<neve::Span<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_view<neve::Span<T>> = true;
#endif
