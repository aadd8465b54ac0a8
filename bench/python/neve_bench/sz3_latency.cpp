// SPDX-License-Identifier: BSD-3-Clause
// How long SZ3 takes for one small array, called from C++: compiled by `neve bench ceaz --sz3 DIR`.
// Arguments: file of float32 values, side of the square, absolute bound, calls. Prints the seconds of
// each call, a line of those by its default algorithm, then one by Lorenzo with regression.
#include <SZ3/api/sz.hpp>
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
    for (int call = 0; call < std::atoi(argv[4]); ++call) {
      const auto begin = std::chrono::steady_clock::now();
      SZ3::Config config(side, side);
      config.errorBoundMode = SZ3::EB_ABS;
      config.absErrorBound = std::atof(argv[3]);
      if (!is_default) config.cmprAlgo = SZ3::ALGO_LORENZO_REG;
      SZ_compress<float>(config, values.data(), stored.data(), stored.size());
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      std::printf("%.9f ", seconds.count());
    }
    std::printf("\n");
  }
  return 0;
}
