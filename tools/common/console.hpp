// SPDX-License-Identifier: BSD-3-Clause
// What people see: messages and progress on stderr, tables on stdout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neve::cli {

// "neve: `text`" on stderr.
void say(const std::string& text);
// "neve `command`: `text`" on stderr: "neve convert: ...", "neve bench struct: ...". Without a command:
// "neve: ...".
void say(const std::string& command, const std::string& text);
std::string said(const std::string& command, const std::string& text);  // that line

// One line on stderr that is rewritten as work gets done; nothing when stderr is not a terminal. Where
// NEVE_PROGRESS_FD is the number of an open file, it takes lines "PHASE FRACTION" instead: a program that has
// started this one shows them in its own way.
class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();
  void show(const std::string& phase, double fraction);

 private:
  bool shown_ = false;
  bool is_terminal_ = false;
  int listener_ = -1;
  int last_percent_ = -1;
  std::string last_phase_;
};

// Columns as wide as they need; the first is set left, the others right, but for a last one of running text.
class Table {
 public:
  explicit Table(std::vector<std::string> heads, bool last_is_text = false)
      : rows_{std::move(heads)}, last_is_text_(last_is_text) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  bool last_is_text_;
};

// "1 box", "3 boxes". `many`: the plural of `one` where that takes more than an s.
std::string counted(uint64_t count, std::string_view one, std::string_view many = {});
std::string human_bytes(uint64_t bytes);  // "2.8 MiB"
std::string human_ratio(double ratio);    // "12.3"
// "12.30 times smaller", "2.86 times larger".
std::string human_change(double ratio);
std::string human_error(double error);   // "1.2e-05"
std::string human_psnr(double psnr_db);  // "64.8", "exact" for an infinite one

}  // namespace neve::cli
