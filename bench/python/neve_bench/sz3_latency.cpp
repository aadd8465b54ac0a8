// SPDX-License-Identifier: BSD-3-Clause
// How long SZ3 takes for one small array, called from C++: compiled by `neve bench ceaz --sz3 DIR`.
// Arguments: file of float32 values, side of the square, absolute bound, calls. Prints the median of its
// default algorithm and of Lorenzo with regression, in microseconds.
#include <SZ3/api/sz.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 5) return 1;
  const auto side = static_cast<size_t>(std::atol(argv[2]));
  std::vector<float> values(side * side);
  std::FILE* file = std::fopen(argv[1], "rb");
  if (file == nullptr || std::fread(values.data(), sizeof(float), values.size(), file) != values.size())
    return 1;
  std::fclose(file);
  std::vector<char> stored(values.size() * 16 + 100000);
  for (const bool is_default : {true, false}) {
    std::vector<double> times;
    for (int call = 0; call < std::atoi(argv[4]); ++call) {
      const auto begin = std::chrono::steady_clock::now();
      SZ3::Config config(side, side);
      config.errorBoundMode = SZ3::EB_ABS;
      config.absErrorBound = std::atof(argv[3]);
      if (!is_default) config.cmprAlgo = SZ3::ALGO_LORENZO_REG;
      SZ_compress<float>(config, values.data(), stored.data(), stored.size());
      times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
    std::printf("%.3f\n", 1e6 * times[times.size() / 2]);
  }
  return 0;
}
