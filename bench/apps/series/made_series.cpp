// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/series/made_series.hpp"

#include <array>
#include <cmath>
#include <functional>

#include "bench/harness/random.hpp"

namespace neve::series {
namespace {

constexpr std::string_view names[kinds] = {"walk",   "few values", "far repeats",  "wave",   "showers",
                                           "layers", "decimals",   "coarse noise", "periods"};

class Values {
 public:
  Values(const std::vector<uint64_t>& shape, int step)
      : step_(step), random_(39, static_cast<uint64_t>(step)) {
    for (size_t d = 0; d < 3; ++d) size_[2 - d] = d < shape.size() ? shape[shape.size() - 1 - d] : 1;
    for (size_t d = 3; d < shape.size(); ++d) size_[0] *= shape[shape.size() - 1 - d];
  }

  std::vector<double> of(Kind kind) {
    switch (kind) {
      case Kind::walk:
        return walk(size_[0] * size_[1] * size_[2]);
      case Kind::few_values:
        return few_values();
      case Kind::far_repeats:
        return far_repeats();
      case Kind::wave:
        return of_places([&](double x, double y, double z) {
          return 280 + 12 * std::sin(0.031 * x + 0.1 * step_) * std::cos(0.023 * y) + 3 * std::sin(0.2 * z);
        });
      case Kind::showers:
        return showers();
      case Kind::layers:
        return of_places([&](double x, double y, double z) {
          return 1000 * std::exp(-0.11 * z) + 0.5 * std::floor((x + step_) / 64) + std::floor(y / 48) +
                 static_cast<double>(below(16)) / 1024;
        });
      case Kind::decimals: {
        std::vector<double> values = walk(size_[0] * size_[1] * size_[2]);
        for (double& value : values) value = std::round(100 * value) / 100;
        return values;
      }
      case Kind::periods:
        return periods();
      case Kind::coarse_noise:
        break;
    }
    return of_places([&](double, double, double) { return 1 + static_cast<double>(below(4096)) / 4096; });
  }

 private:
  uint64_t below(uint64_t limit) {
    return static_cast<uint64_t>(random_.uniform() * static_cast<double>(limit));
  }

  std::vector<double> walk(uint64_t count) {
    std::vector<double> values;
    values.reserve(count);
    double at = 280;
    for (uint64_t i = 0; i < count; ++i) values.push_back(at += random_.uniform() - 0.5 - 0.001 * (at - 280));
    return values;
  }

  std::vector<double> few_values() {
    std::vector<double> some;
    for (int i = 0; i < 40; ++i) some.push_back(200 + 100 * random_.uniform());
    return of_places([&](double, double, double) { return some[below(40)]; });
  }

  std::vector<double> periods() {
    std::vector<double> values(size_[0] * size_[1] * size_[2]);
    for (uint64_t i = 0; i < values.size(); ++i)
      values[i] = std::round(100 * std::sin(static_cast<double>(i) / 300 + step_)) / 100;
    return values;
  }

  std::vector<double> far_repeats() {
    const uint64_t count = size_[0] * size_[1] * size_[2];
    const std::vector<double> once = walk(count / 6 + 1);
    std::vector<double> values;
    values.reserve(count);
    while (values.size() < count) values.push_back(once[values.size() % once.size()]);
    return values;
  }

  std::vector<double> showers() {
    struct Shower {
      double x, y, width, strength;
    };
    apps::Random places(40, 0);  // the same at every step: they drift along x
    std::array<Shower, 16> all;
    for (Shower& s : all) {
      s = {static_cast<double>(size_[2]) * places.uniform() + 0.5 * step_,
           static_cast<double>(size_[1]) * places.uniform(),
           0.03 * static_cast<double>(size_[2]) * (1 + places.uniform()), 5 * places.uniform()};
    }
    return of_places([&](double x, double y, double) {
      double sum = 0;
      for (const Shower& s : all) {
        const double away = ((x - s.x) * (x - s.x) + (y - s.y) * (y - s.y)) / (s.width * s.width);
        if (away < 1) sum += s.strength * (1 - away) * (1 + 0.1 * random_.uniform());
      }
      return sum;
    });
  }

  std::vector<double> of_places(const std::function<double(double, double, double)>& value) {
    std::vector<double> values;
    values.reserve(size_[0] * size_[1] * size_[2]);
    for (uint64_t z = 0; z < size_[0]; ++z) {
      for (uint64_t y = 0; y < size_[1]; ++y) {
        for (uint64_t x = 0; x < size_[2]; ++x)
          values.push_back(value(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
      }
    }
    return values;
  }

  std::array<uint64_t, 3> size_{1, 1, 1};  // slowest first
  int step_;
  apps::Random random_;
};

}  // namespace

std::string_view kind_name(Kind kind) {
  return static_cast<int>(kind) < kinds ? names[static_cast<size_t>(kind)] : "unknown";
}

template <class T>
std::vector<T> made_step(Kind kind, const std::vector<uint64_t>& shape, int step) {
  const std::vector<double> values = Values(shape, step).of(kind);
  return {values.begin(), values.end()};
}

template std::vector<float> made_step<float>(Kind, const std::vector<uint64_t>&, int);
template std::vector<double> made_step<double>(Kind, const std::vector<uint64_t>&, int);

}  // namespace neve::series
