// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mpi/links.hpp"

#include <filesystem>

#include "bench/harness/imitated_link.hpp"
#include "bench/harness/timed.hpp"
#include "parallel/transfer/ahead.hpp"
#include "parallel/transfer/block_encoder.hpp"

namespace neve::mpibench {
namespace {

using mpi::BlockEncoder;
using mpi::BlockPlan;
using mpi::Transfer;

// What a sending rank does before anything moves, and all its blocks, on its threads.
Status encode_all(const Field& field, const CallOptions& options) {
  Transfer transfer;
  transfer.dtype = field.dtype;
  transfer.values.bound = options.bound;
  transfer.values.encode.threads = options.threads;
  transfer.layer_shape = field.layer();
  NEVE_ASSIGN(const BlockPlan plan, mpi::plan_blocks(field.count(), dtype_bytes(field.dtype),
                                                     options.block_bytes, transfer.layer_shape));
  NEVE_ASSIGN(const auto whole, mpi::measure_alone(transfer, plan, field.values.data()));
  const BlockEncoder encoder(transfer, plan, field.values.data(), whole, 0);
  mpi::Ahead ahead(encoder);
  for (size_t block = 0; block < plan.blocks(); ++block) NEVE_TRY(ahead.take().status());
  return {};
}

// Of one kind of call, over the repeats.
struct Runs {
  std::vector<double> encode, link, plain, framed, factor;

  ThroughLink medians() const {
    return {apps::median_of(encode), apps::median_of(link), apps::median_of(plain), apps::median_of(framed),
            apps::median_of(factor)};
  }
};

class Links {
 public:
  Links(const mpi::Comm& comm, const Field& field, const CallOptions& options)
      : comm_(comm), field_(field), options_(options), calls_(comm, field, options) {}
  ~Links() { apps::imitate_link({}); }

  Status gather(double slowness, Bytes& all, Runs& runs) {
    NEVE_ASSIGN(const double encode, encoding_speed(1));
    apps::imitate_link({.into_rank = encode / slowness});
    NEVE_TRY(both(
        encode, slowness, runs, [&] { return calls_.gather_values(all.data()); },
        [&] { return calls_.gather_frames(all.data()); }));
    return {};
  }

  // Each rank has an equal share of the way into the file.
  Status write(double slowness, const std::string& folder, Runs& runs) {
    NEVE_ASSIGN(const double encode, encoding_speed(0));
    apps::imitate_link({.to_file = encode / slowness / comm_.size()});
    const std::string plain = folder + "/plain", framed = folder + "/framed";
    NEVE_TRY(both(
        encode, slowness, runs, [&] { return calls_.write_values(plain); },
        [&] { return calls_.write_frames(framed); }));
    NEVE_TRY(remove_together(comm_, plain));
    return remove_together(comm_, framed);
  }

 private:
  // Of the ranks from `first` on together.
  Result<double> encoding_speed(int first) {
    NEVE_ASSIGN(const double seconds, apps::timed_alone(comm_, "encoding", [&] {
                  return comm_.rank() < first ? Status() : encode_all(field_, options_);
                }));
    return static_cast<double>(field_.values.size()) * (comm_.size() - first) / seconds;
  }

  template <class Plain, class Framed>
  Status both(double encode, double slowness, Runs& runs, Plain&& plain, Framed&& framed) {
    NEVE_ASSIGN(const double plain_seconds, apps::timed(comm_, plain));
    NEVE_ASSIGN(const double seconds, apps::timed(comm_, framed));
    apps::imitate_link({});
    runs.encode.push_back(encode);
    runs.link.push_back(encode / slowness);
    runs.plain.push_back(plain_seconds);
    runs.framed.push_back(seconds);
    runs.factor.push_back(plain_seconds / seconds);
    return {};
  }

  const mpi::Comm& comm_;
  const Field& field_;
  CallOptions options_;
  Calls calls_;
};

}  // namespace

Result<std::vector<LinkPoint>> measure_links(const mpi::Comm& comm, const Field& field,
                                             const CallOptions& options, const LinkCase& links, Bytes& all) {
  std::vector<LinkPoint> points;
  Links measured(comm, field, options);
  for (const double slowness : links.slowness) {
    Runs gather, write;
    for (int repeat = 0; repeat < links.repeats; ++repeat) {
      NEVE_TRY(measured.gather(slowness, all, gather));
      NEVE_TRY(measured.write(slowness, links.folder, write));
    }
    points.push_back({slowness, gather.medians(), write.medians()});
  }
  return points;
}

Status remove_together(const mpi::Comm& comm, const std::string& path) {
  return mpi::agree(comm, mpi::guarded("removing " + path, [&]() -> Status {
                      if (comm.rank() == 0) std::filesystem::remove(path);
                      return {};
                    }));
}

}  // namespace neve::mpibench
