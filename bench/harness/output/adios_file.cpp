// SPDX-License-Identifier: BSD-3-Clause
// ADIOS 1.13: one group an output, a global array each, by any of its transport methods. Some of these make
// several files, so that an output is a folder, with `data.bp` in it.
#include <mpi.h>
// After mpi.h, whose types they name.
#include <adios.h>
#include <adios_error.h>
#include <adios_read.h>
#include <adios_read_ext.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "bench/harness/output/containers.hpp"
#include "io/files/temporary_folder.hpp"
#include "parallel/comm/broadcast.hpp"
#include "parallel/file/openable_path.hpp"

// ADIOS's own, by which its transform szip tries to make values smaller. 0: it has.
extern "C" int compress_szip_pre_allocated(const void* values, uint64_t bytes, void* out, uint64_t* out_bytes,
                                           int dims, const uint64_t* shape);

namespace neve::apps {
namespace {

using Compression = Output::Compression;
using Container = Output::Container;

constexpr const char* group_name = "neve";
constexpr const char* file_name = "data.bp";
constexpr uint64_t mebibyte = uint64_t{1} << 20;

Status adios_failure(const std::string& what) {
  const char* const said = adios_get_last_errmsg();
  return failure(fmt::format("{}: ADIOS: {}", what, said == nullptr ? "no reason is given" : said));
}

// What is said on the way is in the return values as well.
constexpr const char* quiet = "verbose=0";

const char* method_of(const Output& output) {
  switch (output.container) {
    case Container::adios_posix:
      return "POSIX";
    case Container::adios_lustre:
      return "MPI_LUSTRE";
    case Container::adios_aggregate:
      return "MPI_AGGREGATE";
    default:
      return "MPI";
  }
}

// Without a number it would be one aggregator a rank, which is POSIX once more.
std::string parameters_of(const Output& output, int ranks) {
  if (output.container != Container::adios_aggregate) return quiet;
  return fmt::format("num_aggregators={};num_ost=1;{}", (ranks + 1) / 2, quiet);
}

bool is_transformed(const ArraySpec& spec, const Output& output) {
  if (output.compression == Compression::none) return false;
  // Its zfp knows no integers; they stay as they are.
  return output.compression != Compression::zfp || !is_integer(spec.dtype);
}

std::string transform_of(const ArraySpec& spec, const Output& output) {
  switch (output.compression) {
    case Compression::deflate:
      return fmt::format("zlib:{}", deflate_level);
    case Compression::szip:
      return "szip";
    case Compression::zfp:
      return fmt::format("zfp:accuracy={}", spec.bound_abs);
    default:
      return "none";
  }
}

ADIOS_DATATYPES type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return adios_real;
    case DType::f64:
      return adios_double;
    case DType::i8:
      return adios_byte;
    case DType::u8:
      return adios_unsigned_byte;
    case DType::i16:
      return adios_short;
    case DType::u16:
      return adios_unsigned_short;
    case DType::i32:
      return adios_integer;
    case DType::u32:
      return adios_unsigned_integer;
    case DType::i64:
      return adios_long;
    case DType::u64:
      return adios_unsigned_long;
  }
  return adios_unknown;
}

// ADIOS's zfp takes the first dimension for the one along which values lie next to each other, and finds
// nothing smooth in those of a C program. It is told the fastest first; the file says so in an attribute, for
// a reader that takes it as C's gets the values of a block in another order than its places have.
bool is_fastest_first(const ArraySpec& spec, const Output& output) {
  return output.compression == Compression::zfp && !output.c_order && is_transformed(spec, output);
}
constexpr const char* order_attribute = "order";
constexpr const char* fastest_first = "dimensions of every block: fastest first";

Shape declared(Shape shape, const ArraySpec& spec, const Output& output) {
  if (is_fastest_first(spec, output)) std::reverse(shape.begin(), shape.end());
  return shape;
}

// Values that a rank has not got it does not define.
bool is_held(const ArrayPart& part) { return value_count(part.count) > 0; }

Status define(int64_t group, const ArrayPart& part, const Output& output) {
  const auto listed = [&](const Shape& shape) {
    return fmt::format("{}", fmt::join(declared(shape, part.spec, output), ","));
  };
  const int64_t variable = adios_define_var(group, part.spec.name.c_str(), "", type_of(part.spec.dtype),
                                            listed(part.count).c_str(), listed(part.spec.shape).c_str(),
                                            listed(part.start).c_str());
  if (variable == 0) return adios_failure(part.spec.name);
  if (is_fastest_first(part.spec, output) &&
      adios_define_attribute(group, order_attribute, part.spec.name.c_str(), adios_string, fastest_first,
                             "") != err_no_error) {
    return adios_failure(part.spec.name + ": attribute " + order_attribute);
  }
  if (!is_transformed(part.spec, output)) return {};
  // One that this ADIOS does not know would be passed over, and values stored as they are.
  const std::string transform = transform_of(part.spec, output);
  return adios_set_transform(variable, transform.c_str()) == err_no_error
             ? Status()
             : adios_failure(fmt::format("{}: transform {}", part.spec.name, transform));
}

// As the transform calls it: one row of 64-bit numbers, into no more bytes than there are values.
Status check_shrinks_by_szip(const ArrayPart& part) {
  if (part.bytes() % sizeof(uint64_t) != 0) {
    return failure(fmt::format("{}: a rank has {} bytes; ADIOS's szip would lose those past a multiple of {}",
                               part.spec.name, part.bytes(), sizeof(uint64_t)));
  }
  uint64_t out_bytes = part.bytes();
  std::vector<std::byte> out(out_bytes);
  const uint64_t pixels = part.bytes() / sizeof(uint64_t);
  if (compress_szip_pre_allocated(part.values, part.bytes(), out.data(), &out_bytes, 1, &pixels) == 0)
    return {};
  return failure(
      fmt::format("{}: ADIOS's szip cannot make a rank's {} bytes smaller, and would end the program",
                  part.spec.name, part.bytes()));
}

// Collective. ADIOS is at work between its construction and its end.
class Session {
 public:
  explicit Session(const mpi::Comm& comm) : rank_(comm.rank()) { adios_init_noxml(comm.get()); }
  ~Session() {
    if (group_ != 0) adios_free_group(group_);
    adios_finalize(rank_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Status declare(std::span<const ArrayPart> parts, const Output& output, int ranks) {
    if (adios_declare_group(&group_, group_name, "", adios_stat_no) != err_no_error ||
        adios_select_method(group_, method_of(output), parameters_of(output, ranks).c_str(), "") !=
            err_no_error) {
      return adios_failure(output.name);
    }
    for (const ArrayPart& part : parts) {
      if (is_held(part)) NEVE_TRY(define(group_, part, output));
    }
    return {};
  }

 private:
  int rank_;
  int64_t group_ = 0;
};

// Collective.
Result<double> write_arrays(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                            const Output& output) {
  uint64_t bytes = 0;
  for (const ArrayPart& part : parts) bytes += part.bytes();
  Session session(comm);
  NEVE_TRY(mpi::agree(comm, session.declare(parts, output, comm.size())));
  // Room for what transforms make larger, which ADIOS does not think of: past it the program would end.
  const uint64_t room = output.compression == Compression::none ? bytes : 2 * bytes + mebibyte;
  adios_set_max_buffer_size(2 * room / mebibyte + 64);
  int64_t file = 0;
  NEVE_TRY(mpi::agree(comm, adios_open(&file, group_name, path.c_str(), "w", comm.get()) == err_no_error
                                ? Status()
                                : adios_failure(path)));
  uint64_t total = 0;
  Status status = adios_group_size(file, room, &total) == err_no_error ? Status() : adios_failure(path);
  // Transforms are made here; written is at the end.
  double seconds = 0;
  for (const ArrayPart& part : parts) {
    if (!status.ok() || !is_held(part)) continue;
    const double begin_seconds = MPI_Wtime();
    if (adios_write(file, part.spec.name.c_str(), part.values) != err_no_error) {
      status = adios_failure(path + ": " + part.spec.name);
    }
    if (is_transformed(part.spec, output)) seconds += MPI_Wtime() - begin_seconds;
  }
  const Status closed = adios_close(file) == err_no_error ? Status() : adios_failure(path + ": closing");
  NEVE_TRY(mpi::agree(comm, status.ok() ? closed : status));
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.get()),
                           "merging of times"));
  return seconds;
}

struct CloseFile {
  void operator()(ADIOS_FILE* file) const { adios_read_close(file); }
};
struct FreeInfo {
  void operator()(ADIOS_VARINFO* info) const { adios_free_varinfo(info); }
};
struct FreeTransform {
  void operator()(ADIOS_VARTRANSFORM* transform) const { adios_free_var_transform(transform); }
};
struct FreeSelection {
  void operator()(ADIOS_SELECTION* selection) const { adios_selection_delete(selection); }
};

class AdiosReader : public ArrayReader {
 public:
  AdiosReader(std::string path, std::span<const ArraySpec> arrays, const Output& output)
      : path_(std::move(path)), arrays_(arrays.begin(), arrays.end()), output_(output) {
    adios_read_init_method(ADIOS_READ_METHOD_BP, MPI_COMM_SELF, quiet);
  }
  ~AdiosReader() override {
    file_.reset();
    adios_read_finalize_method(ADIOS_READ_METHOD_BP);
  }
  AdiosReader(const AdiosReader&) = delete;
  AdiosReader& operator=(const AdiosReader&) = delete;

  Status open() {
    NEVE_ASSIGN(name_, mpi::OpenablePath::of(path_));
    file_.reset(adios_read_open_file(name_.c_str(), ADIOS_READ_METHOD_BP, MPI_COMM_SELF));
    return file_ ? Status() : adios_failure(path_);
  }

  Status read(size_t index, const Shape& start, const Shape& count, void* out) override {
    if (value_count(count) == 0) return {};
    const ArraySpec& spec = arrays_[index];
    const std::unique_ptr<ADIOS_VARINFO, FreeInfo> info(adios_inq_var(file_.get(), spec.name.c_str()));
    const Shape shape = declared(spec.shape, spec, output_);
    if (!info || info->type != type_of(spec.dtype) ||
        !std::equal(info->dims, info->dims + info->ndim, shape.begin(), shape.end())) {
      return corrupt(fmt::format("{}: {} is not the array that was written", path_, spec.name));
    }
    const std::unique_ptr<ADIOS_VARTRANSFORM, FreeTransform> transform(
        adios_inq_var_transform(file_.get(), info.get()));
    if (!transform || (transform->transform_type > 0) != is_transformed(spec, output_)) {
      return corrupt(fmt::format("{}: {} is not stored by the transform that was asked for, {}", path_,
                                 spec.name, transform_of(spec, output_)));
    }
    // A block as a whole: of parts of one whose fastest dimension is first ADIOS would mistake the places.
    const Shape first = declared(start, spec, output_), sizes = declared(count, spec, output_);
    const std::unique_ptr<ADIOS_SELECTION, FreeSelection> selection(
        adios_selection_boundingbox(static_cast<int>(first.size()), first.data(), sizes.data()));
    if (adios_schedule_read(file_.get(), selection.get(), spec.name.c_str(), 0, 1, out) != err_no_error ||
        adios_perform_reads(file_.get(), 1) != err_no_error) {
      return corrupt(adios_failure(path_ + ": " + spec.name).message());
    }
    return {};
  }

  // Of an array with a transform: what was stored of each region, which is a block's or empty.
  Result<std::vector<uint64_t>> block_bytes(const ArraySpec& spec, std::span<const PartPlace> regions) {
    const Blocks logical = blocks_of(spec);
    adios_read_set_data_view(file_.get(), PHYSICAL_DATA_VIEW);
    const Blocks physical = blocks_of(spec);
    adios_read_set_data_view(file_.get(), LOGICAL_DATA_VIEW);
    if (!logical || !physical || logical->sum_nblocks != physical->sum_nblocks || physical->ndim != 1) {
      return corrupt(adios_failure(path_ + ": blocks of " + spec.name).message());
    }
    std::vector<uint64_t> bytes(regions.size(), 0);
    for (size_t r = 0; r < regions.size(); ++r) {
      if (value_count(regions[r].count) == 0) continue;
      const Shape start = declared(regions[r].start, spec, output_);
      for (int b = 0; b < logical->sum_nblocks; ++b) {
        const uint64_t* const at = logical->blockinfo[b].start;
        if (std::equal(start.begin(), start.end(), at)) bytes[r] = physical->blockinfo[b].count[0];
      }
      if (bytes[r] == 0) return corrupt(fmt::format("{}: {} has no block of rank {}", path_, spec.name, r));
    }
    return bytes;
  }

 private:
  using Blocks = std::unique_ptr<ADIOS_VARINFO, FreeInfo>;

  // Nothing where they cannot be had.
  Blocks blocks_of(const ArraySpec& spec) {
    Blocks info(adios_inq_var(file_.get(), spec.name.c_str()));
    if (info && adios_inq_var_blockinfo(file_.get(), info.get()) != 0) info.reset();
    return info;
  }

  std::string path_;
  mpi::OpenablePath name_;  // of path_, for ADIOS, which hands it to MPI
  std::vector<ArraySpec> arrays_;
  Output output_;
  std::unique_ptr<ADIOS_FILE, CloseFile> file_;
};

Result<files::Parts> replaces_nothing(const std::string&, const std::string& name) {
  return usage_error(name + " exists; it is not replaced");
}

// Rank 0.
Result<uint64_t> bytes_below(const std::string& folder) {
  std::error_code error;
  uint64_t bytes = 0;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error)) bytes += it->file_size(error);
  }
  return error ? Result<uint64_t>(failure(folder + ": " + error.message())) : bytes;
}

}  // namespace

Status check_adios(const mpi::Comm& comm, std::span<const ArrayPart> parts, const Output& output) {
  if (output.compression != Compression::szip) return {};
  return mpi::agree(comm, mpi::guarded(output.name, [&]() -> Status {
                      for (const ArrayPart& part : parts) {
                        if (is_held(part)) NEVE_TRY(check_shrinks_by_szip(part));
                      }
                      return {};
                    }));
}

Result<Written> write_adios(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                            const Output& output) {
  std::optional<files::TemporaryFolder> temporary;  // rank 0
  std::string folder;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("open", [&]() -> Status {
                        if (comm.rank() != 0) return {};
                        NEVE_ASSIGN(files::TemporaryFolder beside,
                                    files::TemporaryFolder::beside(path, replaces_nothing));
                        folder = beside.path();
                        temporary.emplace(std::move(beside));
                        return {};
                      })));
  NEVE_TRY(mpi::broadcast(comm, folder));
  mpi::OpenablePath name;  // ADIOS hands it to MPI
  NEVE_TRY(mpi::agree(comm, mpi::guarded("open", [&]() -> Status {
                        NEVE_ASSIGN(name, mpi::OpenablePath::of(folder + "/" + file_name));
                        return {};
                      })));
  Written written;
  NEVE_ASSIGN(written.compress_seconds, write_arrays(comm, name.text(), parts, output));
  NEVE_TRY(mpi::agree(comm, mpi::guarded("rename", [&]() -> Status {
                        if (comm.rank() != 0) return {};
                        NEVE_ASSIGN(written.bytes, bytes_below(folder));
                        return temporary->commit();
                      })));
  NEVE_TRY(mpi::mpi_status(MPI_Bcast(&written.bytes, 1, MPI_UINT64_T, 0, comm.get()),
                           "broadcast of the file size"));
  return written;
}

Result<std::unique_ptr<ArrayReader>> open_adios(const std::string& path, std::span<const ArraySpec> arrays,
                                                const Output& output) {
  auto reader =
      std::make_unique<AdiosReader>((std::filesystem::path(path) / file_name).string(), arrays, output);
  NEVE_TRY(reader->open());
  return std::unique_ptr<ArrayReader>(std::move(reader));
}

Result<std::vector<uint64_t>> adios_block_bytes(const std::string& path, const ArraySpec& spec,
                                                const Output& output, std::span<const PartPlace> regions) {
  AdiosReader reader((std::filesystem::path(path) / file_name).string(), std::span(&spec, 1), output);
  NEVE_TRY(reader.open());
  return reader.block_bytes(spec, regions);
}

}  // namespace neve::apps
