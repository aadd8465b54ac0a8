// SPDX-License-Identifier: BSD-3-Clause
#include "core/options/nearest_name.hpp"

#include <algorithm>
#include <numeric>

namespace neve::options {
namespace {

// Letters to insert, drop or replace.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t least = word.size() / 3 + 2;  // further off it is another word
  for (const std::string& name : known) {
    const size_t d = distance(word, name);
    if (d >= least) continue;
    least = d;
    best = name;
  }
  return best;
}

}  // namespace neve::options
