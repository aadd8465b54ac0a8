// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/cb2_write.hpp"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "bench/apps/chombo/box_calls.hpp"
#include "bench/apps/chombo/cb2_exchange.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/write.hpp"
#include "io/hdf5/skeleton.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/file/space.hpp"

namespace neve::chombo {
namespace {

using mpi::Comm;

class Cb2Write {
 public:
  Cb2Write(const Comm& comm, const std::string& path, const mpi::Hints& hints, const Way& way,
           const Contents& contents, const FileLayout& layout, WayReport& report)
      : comm_(comm),
        path_(path),
        hints_(hints),
        way_(way),
        contents_(contents),
        layout_(Cb2Layout::of(layout, comm.size())),
        report_(report) {}

  // Collective.
  Status run() {
    NEVE_TRY(agree(comm_, mpi::guarded("plan", [&] { return prepare(); })));
    NEVE_TRY(calls_->make_even(comm_));
    report_.write.plan_seconds = stopwatch_.lap();
    NEVE_TRY(agree(comm_, mpi::guarded("write", [&] { return open(); })));
    NEVE_TRY(agree(comm_, mpi::injected_fault(mpi::Phase::write, comm_.rank())));
    Status status = write_values();
    report_.write.write_seconds = stopwatch_.lap();
    if (status.ok()) status = mpi::guarded("sync", [&] { return sync(); });
    NEVE_TRY(agree(comm_, status));
    report_.write.sync_seconds = stopwatch_.lap();
    NEVE_TRY(agree(comm_, mpi::guarded("skeleton", [&] { return write_structure(); })));
    report_.write.place_seconds = stopwatch_.lap();
    return {};
  }

 private:
  Status prepare() {
    all_ = contents_.datasets();
    calls_.emplace(all_, way_.aggregate_boxes);
    calls_->make_buffer();
    uint64_t largest_dataset = 0;
    for (const ValueDataset& dataset : all_) largest_dataset = std::max(largest_dataset, dataset.bytes);
    exchange_.emplace(comm_, layout_, largest_dataset);
    report_.peak_buffer_bytes = calls_->buffer_bytes() + exchange_->buffer_bytes();
    report_.write.hints = hints_;
    if (comm_.rank() != 0) return {};
    NEVE_TRY(mpi::create_file(path_, hints_));
    return mpi::reserve_space(path_, contents_.values_end());
  }

  Status open() {
    if (static_cast<uint64_t>(comm_.rank()) >= layout_.aggregators) return {};
    file_ = files::Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    return file_.is_open() ? Status() : files::system_failure(path_);
  }

  // Collective: every rank makes as many calls, whatever has failed before.
  Status write_values() {
    Status status;
    for (size_t d = 0; d < all_.size(); ++d) {
      for (size_t call = 0; call < calls_->count(d); ++call) {
        const Pieces pieces = calls_->pieces(d, call);
        const Status written =
            exchange_->write(file_.number(), path_, pieces, calls_->copy(pieces), all_[d].address);
        if (status.ok()) status = written;
        ++report_.write.mpi_writes;
        report_.write.data_bytes += bytes_of(pieces);
      }
    }
    return status;
  }

  Status sync() {
    NEVE_TRY(mpi::injected_fault(mpi::Phase::sync, comm_.rank()));
    return file_.is_open() ? files::sync_file(file_.number(), path_) : Status();
  }

  Status write_structure() const {
    NEVE_TRY(mpi::injected_fault(mpi::Phase::skeleton, comm_.rank()));
    if (comm_.rank() != 0) return {};
    const Hierarchy& hierarchy = contents_.hierarchy();
    const uint64_t end = contents_.values_end();
    if (contents_.file() == FileKind::plot) {
      return hdf5::write_skeleton(path_, hierarchy, contents_.plotfile_placements(true), {}, end).status();
    }
    return hdf5::write_checkpoint_skeleton(path_, hierarchy, contents_.checkpoint_placements(true), end)
        .status();
  }

  const Comm& comm_;
  const std::string& path_;
  const mpi::Hints& hints_;
  const Way& way_;
  const Contents& contents_;
  Cb2Layout layout_;
  WayReport& report_;

  mpi::Stopwatch stopwatch_;
  std::vector<ValueDataset> all_;
  std::optional<BoxCalls> calls_;
  std::optional<Cb2Exchange> exchange_;
  files::Descriptor file_;
};

}  // namespace

Status write_by_cb2(const Comm& comm, const std::string& path, const mpi::Hints& hints, const Way& way,
                    const Contents& contents, const FileLayout& layout, WayReport& report) {
  return Cb2Write(comm, path, hints, way, contents, layout, report).run();
}

}  // namespace neve::chombo
