// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/ensemble/letkf.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace neve::ensemble {

double localization(double r) {
  if (r >= 2) return 0;
  if (r <= 1) return (((-r / 4 + 0.5) * r + 0.625) * r - 5.0 / 3) * r * r + 1;
  return ((((r / 12 - 0.5) * r + 0.625) * r + 5.0 / 3) * r - 5) * r + 4 - 2 / (3 * r);
}

Eigen::MatrixXd ensemble_transform(const Eigen::MatrixXd& perturbations, const Eigen::VectorXd& innovation,
                                   const Eigen::VectorXd& precision, double inflation) {
  const auto members = perturbations.cols();
  const double degrees = static_cast<double>(members - 1);
  // C = Y^T R^-1, and the inverse of the analysis covariance in ensemble space.
  const Eigen::MatrixXd weighted = perturbations.transpose() * precision.asDiagonal();
  Eigen::MatrixXd inverse = weighted * perturbations;
  inverse.diagonal().array() += degrees / inflation;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(inverse);
  const Eigen::MatrixXd& vectors = eigen.eigenvectors();
  const Eigen::VectorXd covariance = eigen.eigenvalues().cwiseInverse();
  const Eigen::VectorXd mean_weights =
      vectors * (covariance.asDiagonal() * (vectors.transpose() * (weighted * innovation)));
  // The symmetric square root of (members - 1) times the covariance.
  Eigen::MatrixXd transform = vectors * (degrees * covariance).cwiseSqrt().asDiagonal() * vectors.transpose();
  transform.colwise() += mean_weights;
  return transform;
}

namespace {

struct LocalStation {
  const Station* station;
  double weight;
};

std::vector<LocalStation> stations_near(const Grid& grid, const Network& network, double radius_m, int x,
                                        int y) {
  std::vector<LocalStation> near;
  for (const Station& station : network.stations) {
    const int apart = std::abs(station.x - x);
    const double dx = std::min(apart, grid.nx - apart), dy = station.y - y;  // periodic in x
    const double weight = localization(std::hypot(dx, dy) * grid.spacing_m / radius_m);
    if (weight > 0) near.push_back({&station, weight});
  }
  return near;
}

// Variables that are analysed together, from observations of themselves.
struct Group {
  int first, last;
};
constexpr Group groups[] = {{static_cast<int>(Analysed::u), static_cast<int>(Analysed::thickness)},
                            {static_cast<int>(Analysed::vapour), static_cast<int>(Analysed::vapour)}};

class Analysis {
 public:
  Analysis(const Grid& grid, int members, const Network& network, const FilterSettings& settings)
      : grid_(grid), members_(members), network_(network), settings_(settings) {
    mean_ = network.background.rowwise().mean();
    perturbations_ = network.background.colwise() - mean_;
    for (int apart = 0; apart < grid.layers; ++apart) {
      weight_of_layers_.push_back(localization(apart / settings.radius_layers));
    }
  }

  // The transform of a group at one cell, from the stations near its column.
  Eigen::MatrixXd transform(const std::vector<LocalStation>& near, const Group& group, int layer) const {
    rows_.clear();
    for (const auto& [station, weight] : near) {
      for (int output = 0; output < network_.outputs; ++output) {
        for (int variable = group.first; variable <= group.last; ++variable) {
          for (int k = 0; k < grid_.layers; ++k) {
            const double local = weight * weight_of_layers_[static_cast<size_t>(std::abs(k - layer))];
            if (local <= 0) continue;
            const int row = (output * analysed_variables + variable) * grid_.layers + k;
            rows_.push_back({station->first + static_cast<size_t>(row), local});
          }
        }
      }
    }
    const auto count = static_cast<Eigen::Index>(rows_.size());
    Eigen::MatrixXd perturbations(count, members_);
    Eigen::VectorXd innovation(count), precision(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto& [row, weight] = rows_[static_cast<size_t>(i)];
      const auto at = static_cast<Eigen::Index>(row);
      perturbations.row(i) = perturbations_.row(at);
      innovation[i] = network_.values[row] - mean_[at];
      precision[i] = weight / (network_.error_stddev[row] * network_.error_stddev[row]);
    }
    return ensemble_transform(perturbations, innovation, precision, settings_.inflation);
  }

 private:
  struct LocalRow {
    size_t row;
    double weight;
  };

  const Grid& grid_;
  int members_;
  const Network& network_;
  const FilterSettings& settings_;
  Eigen::VectorXd mean_;
  Eigen::MatrixXd perturbations_;
  std::vector<double> weight_of_layers_;  // by how many layers are between
  mutable std::vector<LocalRow> rows_;    // kept for its memory
};

}  // namespace

void analyse(const Grid& grid, int members, const Network& network, const FilterSettings& settings,
             Band& band) {
  const Analysis analysis(grid, members, network, settings);
  Eigen::VectorXd of_members(members), analysed(members);
  for (int row = 0; row < band.rows; ++row) {
    for (int x = 0; x < grid.nx; ++x) {
      const std::vector<LocalStation> near =
          stations_near(grid, network, settings.radius_m, x, band.first_row + row);
      if (near.empty()) continue;
      for (int layer = 0; layer < grid.layers; ++layer) {
        const size_t at = static_cast<size_t>(layer) * band.layer_values(grid) +
                          static_cast<size_t>(row) * static_cast<size_t>(grid.nx) + static_cast<size_t>(x);
        for (const Group& group : groups) {
          const Eigen::MatrixXd transform = analysis.transform(near, group, layer);
          for (int variable = group.first; variable <= group.last; ++variable) {
            for (int m = 0; m < members; ++m) {
              of_members[m] = static_cast<double>(band.block(grid, variable, m, members)[at]);
            }
            const double background = of_members.mean();
            of_members.array() -= background;
            analysed.noalias() = transform.transpose() * of_members;
            const bool is_vapour = variable == static_cast<int>(Analysed::vapour);
            for (int m = 0; m < members; ++m) {
              const double value = background + analysed[m];
              band.block(grid, variable, m, members)[at] =
                  static_cast<float>(is_vapour ? std::max(0.0, value) : value);
            }
          }
        }
      }
    }
  }
}

}  // namespace neve::ensemble
