// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/step_print.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "core/math/portable_math.hpp"
#include "core/stages/lossless/value_multiples.hpp"

namespace neve {

namespace {

constexpr double tolerated_bits = 0.15, tolerated_share = 0.04;
constexpr size_t unit_samples = 80, distinct_samples = 512;
constexpr size_t repeats_feature = print_features - 1;
constexpr double repeat_bits = 4;  // a step that repeats altogether is as far from one that does not

template <class T>
WordOf<T> bits_at(const std::vector<T>& values, size_t i) {
  return std::bit_cast<WordOf<T>>(values[i]);
}

// count * log2(count) of small counts, which most are.
double weighted_log(uint32_t count) {
  constexpr size_t known = 1024;
  static const std::array<double, known> table = [] {
    std::array<double, known> values{};
    for (size_t i = 1; i < known; ++i)
      values[i] = static_cast<double>(i) * math::log2(static_cast<double>(i));
    return values;
  }();
  return count < known ? table[count] : count * math::log2(count);
}

double entropy_bits(const std::array<uint32_t, 256>& counts, double total) {
  double sum = 0;
  for (const uint32_t count : counts) sum += weighted_log(count);
  return math::log2(total) - sum / total;
}

// Of a word whose bytes are coded one by one, as they are and XOR those of the word before: of every second
// word.
template <class T>
void count_planes(const std::vector<T>& values, StepPrint& print) {
  using U = WordOf<T>;
  std::array<std::array<uint32_t, 256>, sizeof(U)> own{}, xored{};
  size_t equal = 0;
  for (size_t i = 1; i < values.size(); i += 2) {
    const U word = bits_at(values, i), differing = word ^ bits_at(values, i - 1);
    equal += differing == 0 ? 1 : 0;
    for (size_t b = 0; b < sizeof(U); ++b) {
      ++own[b][static_cast<uint8_t>(word >> (8 * b))];
      ++xored[b][static_cast<uint8_t>(differing >> (8 * b))];
    }
  }
  const auto total = static_cast<double>(values.size() / 2);
  for (size_t b = 0; b < sizeof(U); ++b) {
    print.bits[0] += entropy_bits(own[b], total);
    print.bits[1] += entropy_bits(xored[b], total);
  }
  print.bits[2] = word_bits<U> * static_cast<double>(equal) / total;
}

template <class T>
uint64_t difference_bits(T value, T before) {
  using U = WordOf<T>;
  const U difference = word_of<T>(std::bit_cast<U>(value)) - word_of<T>(std::bit_cast<U>(before));
  return static_cast<uint64_t>(std::bit_width(fold_sign<U>(difference)));
}

// Mean bits of differences along x, of every second word, y and z.
template <class T>
void measure_differences(const PrintSample<T>& sample, StepPrint& print) {
  uint64_t along_x = 0;
  const std::vector<T>& values = sample.values;
  for (size_t i = 1; i < values.size(); i += 2) along_x += difference_bits(values[i], values[i - 1]);
  print.bits[3] = static_cast<double>(along_x) / static_cast<double>(values.size() / 2);
  for (size_t axis = 0; axis < 2; ++axis) {
    const std::vector<T>& beside = sample.beside[axis];
    if (beside.empty()) continue;
    uint64_t bits = 0;
    for (size_t i = 0; i < beside.size(); ++i) {
      const size_t at = i / print_neighbours * print_block + i % print_neighbours;
      bits += difference_bits(values[at], beside[i]);
    }
    print.bits[4 + axis] = static_cast<double>(bits) / static_cast<double>(beside.size());
  }
}

// Every so many of the values.
template <class T>
std::vector<T> some_of(const std::vector<T>& values, size_t wanted) {
  // (An odd distance meets no alignment of blocks.)
  const size_t apart = std::max<size_t>(1, values.size() / wanted) | 1;
  std::vector<T> some;
  some.reserve(values.size() / apart + 1);
  for (size_t i = 0; i < values.size(); i += apart) some.push_back(values[i]);
  return some;
}

template <class T>
double different_ones(const std::vector<T>& values) {
  using U = WordOf<T>;
  std::vector<U> words;
  for (const T value : some_of(values, distinct_samples)) words.push_back(std::bit_cast<U>(value));
  std::sort(words.begin(), words.end());
  return static_cast<double>(std::unique(words.begin(), words.end()) - words.begin());
}

// Mean bits of differences of multiples of a unit; all bits of a word where there is none.
template <class T>
double multiple_bits(const std::vector<T>& values) {
  using U = WordOf<T>;
  const auto unit = find_unit<T>(some_of(values, unit_samples));
  if (!unit) return word_bits<U>;
  const Multiples<T> multiples(*unit);
  double bits = 0;
  size_t judged = 0;
  const size_t blocks = std::max<size_t>(1, distinct_samples / print_neighbours);
  for (size_t begin = 0; begin + print_neighbours <= values.size();
       begin += std::max(print_block, values.size() / blocks)) {
    U before = static_cast<U>(multiples.multiple(values[begin]).value_or(0));
    for (size_t i = begin + 1; i < begin + print_neighbours; ++i, ++judged) {
      const U here = static_cast<U>(multiples.multiple(values[i]).value_or(0));
      bits += std::bit_width(fold_sign<U>(static_cast<U>(here - before)));
      before = here;
    }
  }
  return judged == 0 ? word_bits<U> : bits / static_cast<double>(judged);
}

// By their first bits into buckets of few, and those by comparing.
void sort_hashes(std::vector<uint64_t>& hashes) {
  constexpr int bucket_bits = 8;
  std::array<uint32_t, (1 << bucket_bits) + 1> ends{};
  for (const uint64_t hash : hashes) ++ends[(hash >> (64 - bucket_bits)) + 1];
  for (size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
  std::vector<uint64_t> sorted(hashes.size());
  std::array<uint32_t, 1 << bucket_bits> next{};
  std::copy(ends.begin(), ends.end() - 1, next.begin());
  for (const uint64_t hash : hashes) sorted[next[hash >> (64 - bucket_bits)]++] = hash;
  for (size_t b = 0; b + 1 < ends.size(); ++b)
    std::sort(sorted.begin() + ends[b], sorted.begin() + ends[b + 1]);
  hashes = std::move(sorted);
}

// Of what does not stand in a block twice, the share that stands a second time in the step: of some runs of a
// few words, by their own values, so that of two equal ones both are looked at.
template <class T>
void find_far_repeats(const PrintSample<T>& sample, StepPrint& print) {
  constexpr size_t run = 6, fewest = 6, common = 8;
  constexpr uint64_t factor = 0x9e3779b97f4a7c15ULL;
  constexpr int kept_of_hash = 62;  // one run in 4
  const std::vector<T>& values = sample.scattered;
  const auto word = [&](size_t i) { return static_cast<uint64_t>(bits_at(values, i)); };
  const auto begin_hash = [&](size_t i) { return (word(i) ^ word(i + 1) * 31) * factor; };
  // (Without a branch, which no processor could predict.)
  std::vector<size_t> places(values.size() + 1);
  size_t kept = 0;
  for (size_t begin = 0; begin + scattered_run <= values.size(); begin += scattered_run) {
    for (size_t i = begin; i + run <= begin + scattered_run; ++i) {
      places[kept] = i;
      kept += begin_hash(i) >> kept_of_hash == 0 ? 1 : 0;
    }
  }
  std::vector<uint64_t> hashes;  // with where each run begins in their lower half
  hashes.reserve(kept);
  for (size_t p = 0; p < kept; ++p) {
    const size_t i = places[p];
    uint64_t hash = begin_hash(i);
    bool is_constant = word(i + 1) == word(i);
    for (size_t k = 2; k < run; ++k) {
      hash = (hash ^ word(i + k)) * factor;
      hash ^= hash >> 32;
      is_constant = is_constant && word(i + k) == word(i);
    }
    if (is_constant) continue;
    const uint64_t at = sample.scattered_at[i / scattered_run] + i % scattered_run;
    hashes.push_back(hash << 32 | (at & 0xffffffff));
  }
  sort_hashes(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());  // of runs that overlap
  size_t twins = 0;
  uint64_t distance = UINT64_MAX;
  for (size_t i = 0, end = 0; i < hashes.size(); i = end) {
    while (end < hashes.size() && hashes[end] >> 32 == hashes[i] >> 32) ++end;
    if (end - i < 2 || end - i >= common) continue;
    twins += end - i;
    for (size_t k = i + 1; k < end; ++k) distance = std::min(distance, hashes[k] - hashes[k - 1]);
  }
  if (twins < fewest) return;
  const double share =
      static_cast<double>(twins * sample.scattered_between) / static_cast<double>(hashes.size());
  print.bits[repeats_feature] = repeat_bits * std::min(1.0, share);
  print.repeat_distance = distance;
}

}  // namespace

double StepPrint::far_repeats() const { return bits[repeats_feature] / repeat_bits; }

double StepPrint::distance(const StepPrint& before) const {
  double most = 0;
  for (size_t f = 0; f < print_features; ++f) {
    const double tolerated = tolerated_bits + tolerated_share * std::max(bits[f], before.bits[f]);
    const double more = bits[f] - before.bits[f];
    most = std::max(most, (f == repeats_feature ? more : std::abs(more)) / tolerated);
  }
  return most;
}

void StepPrint::remember_repeats(const StepPrint& before) {
  if (bits[repeats_feature] >= before.bits[repeats_feature]) return;
  bits[repeats_feature] = before.bits[repeats_feature];
  repeat_distance = before.repeat_distance;
}

template <class T>
StepPrint print_of(const PrintSample<T>& sample) {
  StepPrint print;
  if (sample.values.size() < 2) return print;
  count_planes(sample.values, print);
  measure_differences(sample, print);
  // One more bit of different values is about one of a rank.
  print.bits[6] = math::log2(different_ones(sample.values));
  print.bits[7] = multiple_bits(sample.values);
  find_far_repeats(sample, print);
  return print;
}

template StepPrint print_of<float>(const PrintSample<float>&);
template StepPrint print_of<double>(const PrintSample<double>&);
template StepPrint print_of<uint8_t>(const PrintSample<uint8_t>&);
template StepPrint print_of<uint16_t>(const PrintSample<uint16_t>&);
template StepPrint print_of<uint32_t>(const PrintSample<uint32_t>&);
template StepPrint print_of<uint64_t>(const PrintSample<uint64_t>&);

}  // namespace neve
