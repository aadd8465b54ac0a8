// SPDX-License-Identifier: BSD-3-Clause
// The LETKF against what it must equal: the Kalman filter, and functions known in closed form.
#include "bench/apps/ensemble/letkf.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "bench/harness/random.hpp"

namespace neve::ensemble {
namespace {

Eigen::MatrixXd random_matrix(uint64_t stream, Eigen::Index rows, Eigen::Index cols) {
  apps::Random random(7, stream);
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return random.normal(); });
}

Eigen::MatrixXd without_mean(const Eigen::MatrixXd& members) {
  return members.colwise() - members.rowwise().mean();
}

TEST(EnsembleTransform, EqualsTheKalmanFilterOfALinearGaussianProblem) {
  constexpr Eigen::Index states = 5, members = 12, observed = 4;
  constexpr double inflation = 1.3;
  const Eigen::MatrixXd background = random_matrix(1, states, members);
  const Eigen::VectorXd mean = background.rowwise().mean();
  const Eigen::MatrixXd perturbations = without_mean(background);
  const Eigen::MatrixXd h = random_matrix(2, observed, states);
  const Eigen::VectorXd observation = random_matrix(3, observed, 1);
  const Eigen::VectorXd variance = random_matrix(4, observed, 1).array().square() + 0.1;

  // The textbook's: gain and covariance in state space.
  const Eigen::MatrixXd p = inflation * perturbations * perturbations.transpose() / double(members - 1);
  const Eigen::MatrixXd r = variance.asDiagonal();
  const Eigen::MatrixXd gain = p * h.transpose() * (h * p * h.transpose() + r).inverse();
  const Eigen::VectorXd wanted_mean = mean + gain * (observation - h * mean);
  const Eigen::MatrixXd wanted_covariance = (Eigen::MatrixXd::Identity(states, states) - gain * h) * p;

  const Eigen::MatrixXd transform = ensemble_transform(
      evidence_of(h * perturbations, observation - h * mean, variance.cwiseInverse()), inflation);
  const Eigen::MatrixXd analysis = (perturbations * transform).colwise() + mean;
  const Eigen::VectorXd got_mean = analysis.rowwise().mean();
  const Eigen::MatrixXd got = without_mean(analysis);
  EXPECT_LT((got_mean - wanted_mean).norm(), 1e-10);
  EXPECT_LT((got * got.transpose() / double(members - 1) - wanted_covariance).norm(), 1e-10);
}

TEST(EnsembleTransform, WorthlessObservationsChangeNothing) {
  const Eigen::MatrixXd y = without_mean(random_matrix(5, 3, 6));
  const Eigen::MatrixXd transform =
      ensemble_transform(evidence_of(y, random_matrix(6, 3, 1), Eigen::VectorXd::Constant(3, 1e-14)), 1);
  EXPECT_LT((transform - Eigen::MatrixXd::Identity(6, 6)).norm(), 1e-10);
}

TEST(Localization, FallsFromOneToZeroSmoothly) {
  EXPECT_DOUBLE_EQ(localization(0), 1);
  EXPECT_NEAR(localization(1), 5.0 / 24, 1e-14);  // both branches meet there
  EXPECT_NEAR(localization(1 + 1e-9), 5.0 / 24, 1e-8);
  EXPECT_NEAR(localization(2 - 1e-9), 0, 1e-12);
  EXPECT_EQ(localization(2), 0);
  EXPECT_EQ(localization(7), 0);
  for (double r = 0; r < 2; r += 0.01) EXPECT_GE(localization(r), localization(r + 0.01)) << r;
}

// One station in a small world; the members differ by one pattern everywhere.
class Analysis : public testing::Test {
 protected:
  static constexpr int members = 5;
  Grid grid_{16, 12, 2, 100e3};
  Network network_;
  FilterSettings settings_;

  Analysis() {
    settings_.max_inflation = 1;
    settings_.radius_m = 200e3;
    settings_.radius_layers = 1e3;
    settings_.weight_spacing = 1;
    network_.stations = {{1, 5, 0}};
    observe(3.0);
    // Of u and vapour in the upper layer; the rest says nothing.
    network_.error_stddev.assign(observations, 1e9);
    network_.error_stddev[0] = network_.error_stddev[vapour * 2] = 0.5;
    network_.background.resize(observations, members);
    for (int m = 0; m < members; ++m) network_.background.col(m).setConstant(value_of(m));
  }
  static constexpr int vapour = static_cast<int>(Analysed::vapour);
  static constexpr int observations = 2 * analysed_variables;
  void observe(double value) { network_.values.assign(observations, value); }
  static float value_of(int member) { return static_cast<float>(member) * 0.5F; }

  Band make_band(int first_row, int rows) const {
    Band band;
    band.first_row = first_row;
    band.rows = rows;
    for (int v = 0; v < analysed_variables; ++v) {
      for (int m = 0; m < members; ++m) {
        band.values.insert(band.values.end(), band.block_values(grid_), value_of(m));
      }
    }
    return band;
  }
  double mean_at(Band& band, int variable, int row, int x) const {
    double mean = 0;
    for (int m = 0; m < members; ++m) {
      mean += double(band.block(grid_, variable, m, members)[row * grid_.nx + x]) / members;
    }
    return mean;
  }
};

TEST_F(Analysis, DrawsToTheObservationNearItAndNotBeyondItsReach) {
  Band band = make_band(0, grid_.ny);
  analyse(grid_, members, network_, settings_, band);
  // Variance 0.625 of the members against 0.25 of the noise.
  EXPECT_NEAR(mean_at(band, 0, 5, 1), 1 + (3.0 - 1) * 0.625 / (0.625 + 0.25), 1e-5);
  EXPECT_GT(mean_at(band, 0, 5, 2), 1.1);
  EXPECT_LT(mean_at(band, 0, 5, 2), mean_at(band, 0, 5, 1));
  EXPECT_NEAR(mean_at(band, 0, 5, 15), mean_at(band, 0, 5, 3), 1e-6) << "two cells away across the seam";
  for (int m = 0; m < members; ++m) {
    EXPECT_EQ(band.block(grid_, 1, m, members)[5 * grid_.nx + 5], value_of(m)) << "400 km away";
  }
}

TEST_F(Analysis, DoesNotDependOnHowRowsAreDealtOut) {
  settings_.weight_spacing = 3;
  Band all = make_band(0, grid_.ny);
  analyse(grid_, members, network_, settings_, all);
  Band part = make_band(4, 3);
  analyse(grid_, members, network_, settings_, part);
  for (int v = 0; v < analysed_variables; ++v) {
    for (int m = 0; m < members; ++m) {
      for (int row = 0; row < 3; ++row) {
        for (int x = 0; x < grid_.nx; ++x) {
          EXPECT_EQ(part.block(grid_, v, m, members)[row * grid_.nx + x],
                    all.block(grid_, v, m, members)[(row + 4) * grid_.nx + x]);
        }
      }
    }
  }
}

TEST_F(Analysis, BetweenPlacesWithWeightsItIsInterpolated) {
  settings_.weight_spacing = 4;
  Band band = make_band(0, grid_.ny);
  analyse(grid_, members, network_, settings_, band);
  // Weights stand at rows 4 and 8 and columns 0 and 4.
  for (const int row : {4, 8}) {
    const double west = mean_at(band, 0, row, 0), east = mean_at(band, 0, row, 4);
    EXPECT_NEAR(mean_at(band, 0, row, 1), 0.75 * west + 0.25 * east, 1e-5);
  }
  EXPECT_NEAR(mean_at(band, 0, 5, 0), 0.75 * mean_at(band, 0, 4, 0) + 0.25 * mean_at(band, 0, 8, 0), 1e-5);
}

TEST_F(Analysis, ThicknessIsWeighedForWindsAsAsked) {
  constexpr int thickness = static_cast<int>(Analysed::thickness);
  network_.error_stddev[0] = 1e9;
  network_.error_stddev[thickness * 2] = 0.5;
  const auto gain = [&](double weight) {
    settings_.thickness_for_winds = weight;
    Band band = make_band(0, grid_.ny);
    analyse(grid_, members, network_, settings_, band);
    return (mean_at(band, 0, 5, 1) - 1) / (3.0 - 1);
  };
  EXPECT_NEAR(gain(1), 0.625 / (0.625 + 0.25), 1e-5);
  EXPECT_NEAR(gain(0.2), 0.625 / (0.625 + 0.25 / 0.2), 1e-5);
  EXPECT_NEAR(gain(0), 0, 1e-5);
}

TEST_F(Analysis, RelaxationKeepsTheSpreadThatWasAsked) {
  const auto spread = [&](double relaxation) {
    settings_.relaxation = relaxation;
    Band band = make_band(0, grid_.ny);
    analyse(grid_, members, network_, settings_, band);
    const auto at = [&](int m) { return double(band.block(grid_, 0, m, members)[5 * grid_.nx + 1]); };
    return at(members - 1) - at(0);
  };
  const double before = value_of(members - 1) - value_of(0), after = spread(0);
  EXPECT_LT(after, 0.7 * before);
  EXPECT_NEAR(spread(1), before, 1e-5);
  EXPECT_NEAR(spread(0.5), (before + after) / 2, 1e-5);
}

TEST_F(Analysis, InflationIsWhatTheInnovationsAskForWithinLimits) {
  settings_.max_inflation = 3;
  const auto inflation = [&](double innovation) {
    // All observations alike, so that each has variance 0.625 of the members against 1 of noise.
    network_.error_stddev.assign(observations, 1);
    observe(1 + innovation);
    Band band = make_band(0, grid_.ny);
    return analyse(grid_, members, network_, settings_, band);
  };
  for (const double found : inflation(1.5)) EXPECT_NEAR(found, (1.5 * 1.5 - 1) / 0.625, 1e-6);
  for (const double found : inflation(0.1)) EXPECT_EQ(found, 1);
  for (const double found : inflation(9)) EXPECT_EQ(found, 3);
}

TEST_F(Analysis, VapourNeverFallsBelowZero) {
  observe(-20);
  Band band = make_band(0, grid_.ny);
  analyse(grid_, members, network_, settings_, band);
  EXPECT_LT(mean_at(band, 0, 5, 1), -5);
  EXPECT_EQ(mean_at(band, vapour, 5, 1), 0);
}

}  // namespace
}  // namespace neve::ensemble
