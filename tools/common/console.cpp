// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "tools/common/visible.hpp"

namespace neve::cli {

namespace {

// Where it cannot be written there is nobody left to tell, which must not end a command (fmt::print throws).
void print_error(const std::string& text) { std::fputs(text.c_str(), stderr); }

// The file of NEVE_PROGRESS_FD; below 0 where there is none.
int listening_file() {
  const char* const text = std::getenv("NEVE_PROGRESS_FD");
  if (text == nullptr || *text < '0' || *text > '9') return -1;
  const int file = std::atoi(text);
  return fcntl(file, F_GETFD) < 0 ? -1 : file;
}

// Who no longer listens is no reason to end.
void tell(int listener, const std::string& line) {
  static_cast<void>(write(listener, line.data(), line.size()) < 0);
}

}  // namespace

void say(const std::string& text) { say("", text); }

void say(const std::string& command, const std::string& text) { print_error(said(command, text)); }

std::string said(const std::string& command, const std::string& text) {
  return fmt::format("neve{}{}: {}\n", command.empty() ? "" : " ", command, visible(text));
}

Progress::Progress(bool wanted) {
  if (wanted) listener_ = listening_file();
  is_terminal_ = wanted && listener_ < 0 && isatty(STDERR_FILENO) == 1;
}

Progress::~Progress() {
  if (shown_) print_error("\r\x1b[K");
}

void Progress::show(const std::string& phase, double fraction) {
  if (!is_terminal_ && listener_ < 0) return;
  const int percent = static_cast<int>(100 * std::clamp(fraction, 0.0, 1.0));
  if (percent == last_percent_ && phase == last_phase_) return;
  last_percent_ = percent;
  last_phase_ = phase;
  if (listener_ >= 0) return tell(listener_, fmt::format("{} {:.2f}\n", phase, 0.01 * percent));
  shown_ = true;
  constexpr int bar_width = 30;
  const int filled = percent * bar_width / 100;
  print_error(fmt::format("\r\x1b[K{:<8} [{:#<{}}{:.<{}}] {:3d} %", phase, "", filled, "", bar_width - filled,
                          percent));
  std::fflush(stderr);
}

std::string Table::text() const {
  std::vector<std::vector<std::string>> rows = rows_;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = visible_line(cell);
  }
  std::vector<size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (last_is_text_ && i + 1 == width.size()) {
        out += "  " + row[i];
        continue;
      }
      out += i == 0 ? fmt::format("{:<{}}", row[i], width[i]) : fmt::format("  {:>{}}", row[i], width[i]);
    }
    out += '\n';
  }
  return out;
}

std::string counted(uint64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

std::string human_bytes(uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string human_ratio(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 100 ? 2 : 0); }

std::string human_change(double ratio) {
  const bool is_larger = ratio > 0 && ratio < 1;
  return human_ratio(is_larger ? 1 / ratio : ratio) + (is_larger ? " times larger" : " times smaller");
}

std::string human_error(double error) { return error == 0 ? "0" : fmt::format("{:.3g}", error); }

std::string human_psnr(double psnr_db) {
  return std::isinf(psnr_db) ? "exact" : std::isnan(psnr_db) ? "-" : fmt::format("{:.1f}", psnr_db);
}

}  // namespace neve::cli
