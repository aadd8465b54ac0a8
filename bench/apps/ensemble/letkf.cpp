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

Evidence evidence_of(const Eigen::MatrixXd& perturbations, const Eigen::VectorXd& innovation,
                     const Eigen::VectorXd& precision) {
  const Eigen::MatrixXd weighted = perturbations.transpose() * precision.asDiagonal();
  return {weighted * perturbations, weighted * innovation};
}

Eigen::MatrixXd ensemble_transform(const Evidence& evidence, double inflation) {
  const double degrees = static_cast<double>(evidence.pull.size() - 1);
  // The inverse of the analysis covariance in ensemble space.
  Eigen::MatrixXd inverse = evidence.precision;
  inverse.diagonal().array() += degrees / inflation;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(inverse);
  const Eigen::MatrixXd& vectors = eigen.eigenvectors();
  const Eigen::VectorXd covariance = eigen.eigenvalues().cwiseInverse();
  const Eigen::VectorXd mean_weights =
      vectors * (covariance.asDiagonal() * (vectors.transpose() * evidence.pull));
  // The symmetric square root of (members - 1) times the covariance.
  Eigen::MatrixXd transform = vectors * (degrees * covariance).cwiseSqrt().asDiagonal() * vectors.transpose();
  transform.colwise() += mean_weights;
  return transform;
}

namespace {

struct Group {
  int first, last;  // variables
};
constexpr Group groups[analysis_groups] = {
    {static_cast<int>(Analysed::u), static_cast<int>(Analysed::v)},
    {static_cast<int>(Analysed::thickness), static_cast<int>(Analysed::thickness)},
    {static_cast<int>(Analysed::vapour), static_cast<int>(Analysed::vapour)}};
constexpr size_t winds = 0, thickness = 1, vapour = 2;

// Of observations of a group in the analysis of another.
double weight_between(const FilterSettings& settings, size_t analysed, size_t observed) {
  if (analysed == observed) return 1;
  if (analysed == winds && observed == thickness) return settings.thickness_for_winds;
  if (analysed == thickness && observed == winds) return settings.winds_for_thickness;
  return 0;
}

class Analysis {
 public:
  Analysis(const Grid& grid, int members, const Network& network, const FilterSettings& settings)
      : grid_(grid), members_(members), network_(network), settings_(settings) {
    mean_ = network.background.rowwise().mean();
    perturbations_ = network.background.colwise() - mean_;
    for (int apart = 0; apart < grid.layers; ++apart) {
      weight_of_layers_.push_back(localization(apart / settings.radius_layers));
    }
    for (size_t group = 0; group < analysis_groups; ++group) inflation_[group] = estimate_inflation(group);
  }

  const GroupInflation& inflation() const { return inflation_; }

  // From here on transforms are those of a group in a layer.
  void aim_at(size_t group, int layer) {
    group_ = group;
    of_stations_.clear();
    for (const Station& station : network_.stations) of_stations_.push_back(evidence_for(station, layer));
  }

  // At a cell; empty where no observation is near.
  Eigen::MatrixXd transform(int x, int y) const {
    Evidence sum;
    for (size_t s = 0; s < of_stations_.size(); ++s) {
      const Station& station = network_.stations[s];
      const int apart = std::abs(station.x - x);
      const double dx = std::min(apart, grid_.nx - apart), dy = station.y - y;  // periodic in x
      const double weight = localization(std::hypot(dx, dy) * grid_.spacing_m / settings_.radius_m);
      if (weight <= 0) continue;
      if (sum.pull.size() == 0) {
        sum = {Eigen::MatrixXd::Zero(members_, members_), Eigen::VectorXd::Zero(members_)};
      }
      sum.precision += weight * of_stations_[s].precision;
      sum.pull += weight * of_stations_[s].pull;
    }
    if (sum.pull.size() == 0) return {};
    return ensemble_transform(sum, inflation_[group_]);
  }

 private:
  template <class Use>
  void for_rows(const Station& station, size_t group, Use&& use) const {
    for (int output = 0; output < network_.outputs; ++output) {
      for (int variable = groups[group].first; variable <= groups[group].last; ++variable) {
        for (int k = 0; k < grid_.layers; ++k) {
          const int row = (output * analysed_variables + variable) * grid_.layers + k;
          use(static_cast<Eigen::Index>(station.first) + row, k);
        }
      }
    }
  }
  double precision_of(Eigen::Index row) const {
    const double stddev = network_.error_stddev[static_cast<size_t>(row)];
    return 1 / (stddev * stddev);
  }
  double innovation_of(Eigen::Index row) const {
    return network_.values[static_cast<size_t>(row)] - mean_[row];
  }

  double estimate_inflation(size_t group) const {
    double innovations = 0, variances = 0, count = 0;
    for (const Station& station : network_.stations) {
      for_rows(station, group, [&](Eigen::Index row, int) {
        innovations += innovation_of(row) * innovation_of(row) * precision_of(row);
        variances += perturbations_.row(row).squaredNorm() / (members_ - 1) * precision_of(row);
        ++count;
      });
    }
    const double wanted = variances > 0 ? (innovations - count) / variances : 1;
    return std::clamp(wanted, settings_.inflation, settings_.max_inflation);
  }

  // Of all that a station sees, localized in the vertical and among variables.
  Evidence evidence_for(const Station& station, int layer) const {
    std::vector<Eigen::Index> rows;
    std::vector<double> weights;
    for (size_t observed = 0; observed < analysis_groups; ++observed) {
      const double between = weight_between(settings_, group_, observed);
      for_rows(station, observed, [&](Eigen::Index row, int k) {
        const double weight = between * weight_of_layers_[static_cast<size_t>(std::abs(k - layer))];
        if (weight <= 0) return;
        rows.push_back(row);
        weights.push_back(weight);
      });
    }
    const auto count = static_cast<Eigen::Index>(rows.size());
    Eigen::MatrixXd perturbations(count, members_);
    Eigen::VectorXd innovation(count), precision(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const Eigen::Index row = rows[static_cast<size_t>(i)];
      perturbations.row(i) = perturbations_.row(row);
      innovation[i] = innovation_of(row);
      precision[i] = weights[static_cast<size_t>(i)] * precision_of(row);
    }
    return evidence_of(perturbations, innovation, precision);
  }

  const Grid& grid_;
  int members_;
  const Network& network_;
  const FilterSettings& settings_;
  Eigen::VectorXd mean_;
  Eigen::MatrixXd perturbations_;
  std::vector<double> weight_of_layers_;  // by how many layers are between
  GroupInflation inflation_{};
  size_t group_ = 0;
  std::vector<Evidence> of_stations_;  // for the group and layer aimed at
};

// Transforms at every `spacing`-th cell and row, and what lies between them, bilinearly. Two rows of them are
// kept: cells are asked for row by row.
class SmoothTransforms {
 public:
  SmoothTransforms(const Analysis& analysis, const Grid& grid, int members, int spacing)
      : analysis_(analysis),
        grid_(grid),
        spacing_(spacing),
        columns_((grid.nx + spacing - 1) / spacing),
        last_row_((grid.ny - 2) / spacing),
        identity_(Eigen::MatrixXd::Identity(members, members)) {}

  // False where no observation is near.
  bool at(int x, int y, Eigen::MatrixXd& transform) {
    const int west = x / spacing_, south = std::min(y / spacing_, last_row_);
    const double to_east = static_cast<double>(x - west * spacing_) /
                           (std::min((west + 1) * spacing_, grid_.nx) - west * spacing_);
    const double to_north =
        static_cast<double>(y - south * spacing_) / (row_of(south + 1) - south * spacing_);
    transform.setZero(identity_.rows(), identity_.cols());
    bool is_observed = false;
    for (const bool north : {false, true}) {
      const std::vector<Eigen::MatrixXd>& row = row_at(south + (north ? 1 : 0));
      for (const bool east : {false, true}) {
        const double weight = (north ? to_north : 1 - to_north) * (east ? to_east : 1 - to_east);
        if (weight <= 0) continue;
        const Eigen::MatrixXd& corner = row[static_cast<size_t>((west + (east ? 1 : 0)) % columns_)];
        is_observed = is_observed || corner.size() > 0;
        transform += weight * (corner.size() > 0 ? corner : identity_);
      }
    }
    return is_observed;
  }

 private:
  int row_of(int index) const { return std::min(index * spacing_, grid_.ny - 1); }

  const std::vector<Eigen::MatrixXd>& row_at(int index) {
    Row& row = rows_[index % 2];
    if (row.index != index) {
      row.index = index;
      row.transforms.clear();
      for (int c = 0; c < columns_; ++c) {
        row.transforms.push_back(analysis_.transform(c * spacing_, row_of(index)));
      }
    }
    return row.transforms;
  }

  struct Row {
    int index = -1;
    std::vector<Eigen::MatrixXd> transforms;
  };
  const Analysis& analysis_;
  const Grid& grid_;
  int spacing_, columns_, last_row_;
  Eigen::MatrixXd identity_;
  Row rows_[2];
};

// The members at one cell: their mean and, with the spread relaxed to what it was, their perturbations.
void transform_members(const Eigen::MatrixXd& transform, double relaxation, Eigen::VectorXd& members) {
  const double background = members.mean();
  members.array() -= background;
  const double spread_before = members.norm();
  Eigen::VectorXd analysed = transform.transpose() * members;
  const double increment = analysed.mean();
  analysed.array() -= increment;
  const double spread = analysed.norm();
  if (spread > 0) analysed *= 1 + relaxation * (spread_before - spread) / spread;
  members = analysed.array() + (background + increment);
}

void analyse_layer(const Grid& grid, int members, const Analysis& analysis, const FilterSettings& settings,
                   size_t group, int layer, Band& band) {
  SmoothTransforms transforms(analysis, grid, members, settings.weight_spacing);
  Eigen::MatrixXd transform;
  Eigen::VectorXd values(members);
  for (int row = 0; row < band.rows; ++row) {
    for (int x = 0; x < grid.nx; ++x) {
      if (!transforms.at(x, band.first_row + row, transform)) continue;
      const size_t at = static_cast<size_t>(layer) * band.layer_values(grid) +
                        static_cast<size_t>(row) * static_cast<size_t>(grid.nx) + static_cast<size_t>(x);
      for (int variable = groups[group].first; variable <= groups[group].last; ++variable) {
        for (int m = 0; m < members; ++m) {
          values[m] = static_cast<double>(band.block(grid, variable, m, members)[at]);
        }
        transform_members(transform, settings.relaxation, values);
        if (group == vapour) values = values.cwiseMax(0.0);
        for (int m = 0; m < members; ++m) {
          band.block(grid, variable, m, members)[at] = static_cast<float>(values[m]);
        }
      }
    }
  }
}

}  // namespace

GroupInflation analyse(const Grid& grid, int members, const Network& network, const FilterSettings& settings,
                       Band& band) {
  Analysis analysis(grid, members, network, settings);
  if (band.rows == 0) return analysis.inflation();
  for (size_t group = 0; group < analysis_groups; ++group) {
    for (int layer = 0; layer < grid.layers; ++layer) {
      analysis.aim_at(group, layer);
      analyse_layer(grid, members, analysis, settings, group, layer, band);
    }
  }
  return analysis.inflation();
}

}  // namespace neve::ensemble
