// SPDX-License-Identifier: BSD-3-Clause
// What neve_report stands for.
#pragma once

#include <memory>

#include "neve/plotfile_writer.hpp"
#include "neve/report.h"

struct neve_report {
  neve::WriteReport report;
};

namespace neve::capi {

// A report that a caller has asked for, or not. It has its memory before the write, so that no rank lacks it
// behind one that has succeeded.
class WantedReport {
 public:
  explicit WantedReport(neve_report** out) : out_(out) {
    if (out_ != nullptr) *out_ = nullptr;
  }
  // Before the write; throws where there is no memory.
  void make() {
    if (out_ != nullptr) made_ = std::make_unique<neve_report>();
  }
  // What the write came to.
  Status take(Result<WriteReport>&& written) {
    if (!written.ok() || out_ == nullptr) return written.status();
    made_->report = std::move(*written);
    *out_ = made_.release();
    return {};
  }

 private:
  neve_report** out_;
  std::unique_ptr<neve_report> made_;
};

}  // namespace neve::capi
