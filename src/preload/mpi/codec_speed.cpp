// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/codec_speed.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/codecs/frame_values.hpp"
#include "core/status/guarded.hpp"
#include "parallel/transfer/block_encoder.hpp"
#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

constexpr uint64_t sample_bytes = uint64_t{1} << 20;

double seconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Twice, and the faster one: the first makes buffers that stay.
Result<CodecSpeeds> measure(const Bytes& sample, DType dtype) {
  mpi::Transfer transfer = settings().transfer;
  transfer.dtype = dtype;
  transfer.layer_shape.clear();
  transfer.block_bytes = 0;
  transfer.values.encode.threads = 1;
  const Bound asked = transfer.values.bound;
  if (asked.mode == BoundMode::ratio) transfer.values.bound = {BoundMode::rel, 1e-3};
  const uint64_t count = sample.size() / dtype_bytes(dtype);
  NEVE_ASSIGN(const mpi::BlockPlan plan, mpi::plan_blocks(count, dtype_bytes(dtype), 0, {}));
  CodecSpeeds speeds{INFINITY, INFINITY, 0};
  Bytes decoded(sample.size());
  for (int run = 0; run < 2; ++run) {
    Result<Bytes> frame = Status();
    const double encoded = seconds_of([&] {
      frame = [&]() -> Result<Bytes> {
        NEVE_ASSIGN(const auto whole, mpi::measure_alone(transfer, plan, sample.data()));
        return mpi::BlockEncoder(transfer, plan, sample.data(), whole, 0).encode(0);
      }();
    });
    NEVE_TRY(frame.status());
    Status read;
    const double back = seconds_of([&] { read = decode_values(*frame, dtype, count, decoded.data()); });
    NEVE_TRY(read);
    const auto bytes = static_cast<double>(sample.size());
    speeds = {std::min(speeds.encode, encoded / bytes), std::min(speeds.decode, back / bytes),
              static_cast<double>(frame->size()) / bytes};
  }
  if (asked.mode == BoundMode::ratio) speeds.share = 1 / asked.value;
  return speeds;
}

}  // namespace

Result<Bytes> take_sample(const Elements& values) {
  Bytes sample;
  const uint64_t each = type_bytes(values.type);
  if (each == 0 || values.count <= 0) return sample;
  const auto most = static_cast<int64_t>(std::max<uint64_t>(1, sample_bytes / each));
  NEVE_TRY(pack({values.data, std::min(values.count, most), values.type}, [&](uint64_t at, ByteSpan part) {
    sample.resize(std::max<size_t>(sample.size(), at + part.size()));
    std::copy(part.begin(), part.end(), sample.begin() + static_cast<ptrdiff_t>(at));
    return Status();
  }));
  return sample;
}

std::optional<CodecSpeeds> sample_speeds(const Elements& values, DType dtype) {
  std::optional<CodecSpeeds> found;
  // Where it fails the call will, too, and says why.
  (void)guarded("sample", [&]() -> Status {
    NEVE_ASSIGN(Bytes sample, take_sample(values));
    sample.resize(sample.size() / dtype_bytes(dtype) * dtype_bytes(dtype));
    if (sample.empty()) return {};
    NEVE_ASSIGN(found, measure(sample, dtype));
    return {};
  });
  return found;
}

}  // namespace neve::pmpi
