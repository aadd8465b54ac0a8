// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/copy_structure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "io/datafile/attributes.hpp"
#include "io/datafile/chunk_index.hpp"
#include "io/datafile/stored_as_is.hpp"
#include "io/datafile/values.hpp"
#include "io/datafile/written_blocks.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/object_address.hpp"
#include "io/hdf5/stored_chunks.hpp"
#include "io/plotfile/file.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;
using hdf5::object_address;

Status hdf5_refuses(const std::string& what) {
  return failure(fmt::format("{} cannot be made: {}", what, last_error()));
}

Status copy_orders(hid_t from, hid_t to, bool is_group) {
  unsigned links = 0, attributes = 0, max_compact = 0, min_dense = 0, count = 0, length = 0;
  bool ok = H5Pget_attr_creation_order(from, &attributes) >= 0 &&
            H5Pset_attr_creation_order(to, attributes) >= 0 &&
            H5Pget_attr_phase_change(from, &max_compact, &min_dense) >= 0 &&
            H5Pset_attr_phase_change(to, max_compact, min_dense) >= 0;
  if (is_group) {
    size_t heap_bytes = 0;
    ok = ok && H5Pget_local_heap_size_hint(from, &heap_bytes) >= 0 &&
         H5Pset_local_heap_size_hint(to, heap_bytes) >= 0 && H5Pget_link_creation_order(from, &links) >= 0 &&
         H5Pset_link_creation_order(to, links) >= 0 &&
         H5Pget_link_phase_change(from, &max_compact, &min_dense) >= 0 &&
         H5Pset_link_phase_change(to, max_compact, min_dense) >= 0 &&
         H5Pget_est_link_info(from, &count, &length) >= 0 && H5Pset_est_link_info(to, count, length) >= 0;
  }
  return ok ? Status() : hdf5_refuses("its creation properties");
}

}  // namespace

class StructureCopy::Work {
 public:
  Work(hid_t source, hid_t target, const Contents& contents, const CopyPlan& plan, uint64_t& lost)
      : source_(source),
        target_(target),
        contents_(contents),
        plan_(plan),
        from_{source, &contents.path_of},
        to_{target, &contents.path_of},
        lost_(lost) {}

  Result<Handle> make_unlinked(size_t variable) {
    const VariablePlan& plan = plan_.variables[variable];
    auto made = create_dataset(plan, [this](hid_t type, hid_t space, hid_t creation) {
      return H5Dcreate_anon(target_, type, space, creation, H5P_DEFAULT);
    });
    if (!made.ok()) return made.status().in(plan.variable.path);
    return made;
  }

  Status link(size_t variable, hid_t dataset) {
    NEVE_TRY(make_until(variable));
    const Entry& entry = contents_.entries[next_entry_++];
    ++next_variable_;
    NEVE_ASSIGN(const Place place, place_of(entry));
    const herr_t linked =
        H5Olink(dataset, place.parent.id(), entry.name.c_str(), place.link.id(), H5P_DEFAULT);
    return linked < 0 ? hdf5_refuses("its link").in(entry.path) : Status();
  }

  Status finish() {
    NEVE_TRY(make_until(plan_.variables.size()));
    size_t variable = 0;
    for (const Entry& entry : contents_.entries) {
      const bool is_object = entry.kind == EntryKind::group || entry.kind == EntryKind::dataset ||
                             entry.kind == EntryKind::named_type;
      if (!is_object) continue;
      const Handle from = open_object(source_, entry);
      const Handle to(H5Oopen(target_, entry.path.c_str(), H5P_DEFAULT), H5Oclose);
      if (!from.valid() || !to.valid()) return hdf5_refuses(entry.path);
      NEVE_TRY(copy_comment(from.id(), to.id()).in(entry.path));
      NEVE_TRY(copy_attributes(
          from.id(), to.id(), entry.path, from_, to_, [this](hid_t type) { return type_in_target(type); },
          lost_));
      if (entry.kind != EntryKind::dataset) continue;
      const VariablePlan& plan = plan_.variables[variable++];
      if (!plan.is_coded) NEVE_TRY(copy_values(from.id(), to.id(), plan).in(entry.path));
    }
    return {};
  }

 private:
  // Where an entry's link is to stand.
  struct Place {
    Handle parent, link;
  };

  Result<Place> place_of(const Entry& entry) {
    Place place{Handle(H5Gopen2(target_, entry.parent.c_str(), H5P_DEFAULT), H5Gclose),
                Handle(H5Pcreate(H5P_LINK_CREATE), H5Pclose)};
    if (!place.parent.valid() || H5Pset_char_encoding(place.link.id(), entry.name_encoding) < 0) {
      return hdf5_refuses("its link");
    }
    return place;
  }

  // All entries before that of the dataset with this number, where they are not made yet: links keep the
  // order of their creation.
  Status make_until(size_t variable) {
    for (; next_entry_ < contents_.entries.size(); ++next_entry_) {
      const Entry& entry = contents_.entries[next_entry_];
      if (entry.path == "/") continue;
      const bool is_dataset = entry.kind == EntryKind::dataset;
      if (is_dataset && next_variable_ == variable) return {};
      const VariablePlan* const plan = is_dataset ? &plan_.variables[next_variable_++] : nullptr;
      NEVE_TRY(make(entry, plan).in(entry.path));
    }
    return {};
  }

  Status make(const Entry& entry, const VariablePlan* plan) {
    NEVE_ASSIGN(const Place place, place_of(entry));
    const hid_t parent = place.parent.id(), link = place.link.id();
    const char* const name = entry.name.c_str();
    herr_t linked = 0;
    switch (entry.kind) {
      case EntryKind::group:
        return make_group(entry, parent, link);
      case EntryKind::dataset:
        return create_dataset(*plan,
                              [&](hid_t type, hid_t space, hid_t creation) {
                                return H5Dcreate2(parent, name, type, space, link, creation, H5P_DEFAULT);
                              })
            .status();
      case EntryKind::named_type:
        return make_named_type(entry, parent, link);
      case EntryKind::hard_link:
        linked = H5Lcreate_hard(target_, entry.target.c_str(), parent, name, link, H5P_DEFAULT);
        break;
      case EntryKind::soft_link:
        linked = H5Lcreate_soft(entry.target.c_str(), parent, name, link, H5P_DEFAULT);
        break;
      case EntryKind::external_link:
        linked = H5Lcreate_external(entry.target_file.c_str(), entry.target.c_str(), parent, name, link,
                                    H5P_DEFAULT);
        break;
    }
    return linked < 0 ? hdf5_refuses("its link") : Status();
  }

  Status make_group(const Entry& entry, hid_t parent, hid_t link) {
    const Handle from(H5Gopen2(source_, entry.path.c_str(), H5P_DEFAULT), H5Gclose);
    const Handle properties(H5Gget_create_plist(from.id()), H5Pclose);
    // Not HDF5's list itself: of a group of many links it holds where these lie in the source, and a group
    // made with it would look for its own there.
    const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    NEVE_TRY(copy_orders(properties.id(), creation.id(), true));
    const Handle made(H5Gcreate2(parent, entry.name.c_str(), link, creation.id(), H5P_DEFAULT), H5Gclose);
    return made.valid() ? Status() : hdf5_refuses("the group");
  }

  Status make_named_type(const Entry& entry, hid_t parent, hid_t link) {
    const Handle from(H5Topen2(source_, entry.path.c_str(), H5P_DEFAULT), H5Tclose);
    NEVE_ASSIGN(const Handle made, type_in_target(from.id()));
    if (H5Olink(made.id(), parent, entry.name.c_str(), link, H5P_DEFAULT) < 0)
      return hdf5_refuses("the named type");
    return {};
  }

  // A committed type is committed in the target where it is first used, and gets its name when its link is
  // met.
  Result<Handle> type_in_target(hid_t type) {
    if (type_traits(type).has_references && address_bytes_ != sizeof(haddr_t)) {
      return usage_error(
          fmt::format("references in a file with addresses of {} bytes are not supported", address_bytes_));
    }
    if (H5Tcommitted(type) <= 0) return Handle(H5Tcopy(type), H5Tclose);
    NEVE_ASSIGN(const haddr_t address, object_address(type));
    const auto known = committed_.find(address);
    if (known != committed_.end()) {
      H5Iinc_ref(known->second.id());
      return Handle(known->second.id(), H5Tclose);
    }
    Handle copy(H5Tcopy(type), H5Tclose);
    const Handle creation(H5Tget_create_plist(type), H5Pclose);
    if (!copy.valid() || H5Tcommit_anon(target_, copy.id(), creation.id(), H5P_DEFAULT) < 0) {
      return hdf5_refuses("a named type");
    }
    const hid_t id = copy.id();
    committed_.emplace(address, std::move(copy));
    H5Iinc_ref(id);
    return Handle(id, H5Tclose);
  }

  // `create` takes type, extent and properties of the new dataset.
  Result<Handle> create_dataset(const VariablePlan& plan,
                                const std::function<hid_t(hid_t, hid_t, hid_t)>& create) {
    const Handle from(H5Dopen2(source_, plan.variable.path.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle source_type(H5Dget_type(from.id()), H5Tclose);
    const Handle space(H5Dget_space(from.id()), H5Sclose);
    NEVE_ASSIGN(const Handle type, type_in_target(source_type.id()));
    NEVE_ASSIGN(const Handle creation, dataset_creation(from.id(), source_type.id(), plan));
    Handle made(create(type.id(), space.id(), creation.id()), H5Dclose);
    if (!made.valid()) return hdf5_refuses("the dataset");
    return made;
  }

  // Of a dataset that does not keep its source's properties; empty: contiguous, as none that can grow may be.
  static Extent chunk_of(const VariablePlan& plan) {
    const Variable& variable = plan.variable;
    if ((plan.is_coded || plan.is_plain) && !plan.chunk.empty()) return plan.chunk;
    if (variable.dims == variable.max_dims) return {};
    return choose_chunk(variable.dims, Extent(variable.dims.size(), 1), variable.element_bytes,
                        default_chunk_bytes);
  }

  Result<Handle> dataset_creation(hid_t dataset, hid_t type, const VariablePlan& plan) {
    Handle from(H5Dget_create_plist(dataset), H5Pclose);
    if (!from.valid()) return hdf5_refuses("its creation properties");
    const bool is_elsewhere = plan.variable.is_external || plan.variable.layout == H5D_VIRTUAL;
    if (!plan.is_coded && !plan.is_plain && !is_elsewhere) {
      NEVE_TRY(stand_in_for_filters(from.id()));
      return from;
    }
    // A list of its own: chunks cannot be set where the values were kept in other files.
    Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    NEVE_TRY(copy_orders(from.id(), creation.id(), false));
    hbool_t times = 0;
    H5D_fill_time_t fill_time = H5D_FILL_TIME_IFSET;
    H5D_fill_value_t fill = H5D_FILL_VALUE_DEFAULT;
    bool ok = H5Pget_obj_track_times(from.id(), &times) >= 0 &&
              H5Pset_obj_track_times(creation.id(), times) >= 0 &&
              H5Pget_fill_time(from.id(), &fill_time) >= 0 &&
              H5Pset_fill_time(creation.id(), fill_time) >= 0 && H5Pfill_value_defined(from.id(), &fill) >= 0;
    if (ok && fill == H5D_FILL_VALUE_UNDEFINED) {
      ok = H5Pset_fill_value(creation.id(), type, nullptr) >= 0;
    } else if (ok && fill == H5D_FILL_VALUE_USER_DEFINED) {
      std::vector<std::byte> value(H5Tget_size(type));
      ok = H5Pget_fill_value(from.id(), type, value.data()) >= 0 &&
           H5Pset_fill_value(creation.id(), type, value.data()) >= 0;
    }
    const Extent made_in = chunk_of(plan);
    const std::vector<hsize_t> chunk(made_in.begin(), made_in.end());
    ok = ok &&
         (chunk.empty() || H5Pset_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data()) >= 0);
    if (ok && plan.is_coded) {
      const std::vector<uint32_t> words = hdf5::to_words(plan.filter());
      ok = H5Pset_filter(creation.id(), hdf5::neve_filter_id, H5Z_FLAG_MANDATORY, words.size(),
                         words.data()) >= 0;
    }
    if (!ok) return hdf5_refuses("its creation properties");
    return creation;
  }

  static Status copy_comment(hid_t from, hid_t to) {
    const ssize_t length = H5Oget_comment(from, nullptr, 0);
    if (length <= 0) return {};
    std::string comment(static_cast<size_t>(length), '\0');
    if (H5Oget_comment(from, comment.data(), comment.size() + 1) < 0 ||
        H5Oset_comment(to, comment.c_str()) < 0) {
      return hdf5_refuses("its comment");
    }
    return {};
  }

  Status copy_values(hid_t from, hid_t to, const VariablePlan& plan) {
    const Variable& variable = plan.variable;
    if (variable.extent == H5S_NULL || variable.raw_bytes() == 0) return {};
    if (variable.layout == H5D_CHUNKED && !plan.is_plain && !variable.has_pointers &&
        !variable.has_references) {
      return copy_stored_chunks(from, to, variable);
    }
    const Handle type(H5Dget_type(from), H5Tclose);
    Extent piece;
    if (!variable.dims.empty()) {
      const Extent unit = variable.chunk.empty() ? Extent(variable.dims.size(), 1) : variable.chunk;
      piece = choose_chunk(variable.dims, unit, variable.element_bytes, default_chunk_bytes);
    }
    const ChunkGrid pieces{variable.dims, piece};
    NEVE_ASSIGN(const std::vector<ElementBlock> blocks, written_blocks(from, variable));
    PieceWalk written(pieces, blocks);
    while (const auto number = written.next()) {
      const Extent first = pieces.first_element(*number);
      const Extent held = pieces.held(first);
      const Handle space = dense_space(held);
      NEVE_ASSIGN(Values values, Values::of(type.id(), space.id()));
      NEVE_TRY(read_elements(from, first, held, values.type(), values.data()));
      NEVE_TRY(translate_references(values, from_, to_, lost_));
      NEVE_TRY(write_elements(to, first, held, values.type(), values.data()));
    }
    return {};
  }

  // As they are stored: nothing is decoded.
  static Status copy_stored_chunks(hid_t from, hid_t to, const Variable& variable) {
    const ChunkGrid grid{variable.dims, variable.chunk};
    const Handle type(H5Dget_type(from), H5Tclose);
    std::vector<std::byte> bytes;
    NEVE_ASSIGN(const std::vector<ElementBlock> blocks, written_blocks(from, variable));
    PieceWalk written(grid, blocks);
    while (const auto number = written.next()) {
      const Extent first = grid.first_element(*number);
      const std::vector<hsize_t> offset(first.begin(), first.end());
      NEVE_ASSIGN(const auto stored, hdf5::stored_chunk_bytes(from, offset));
      if (!stored) continue;
      bytes.resize(*stored);
      if (variable.filters.empty()) {
        // H5Dread_chunk would read as much as the file's index says.
        const Extent held = grid.held(first);
        NEVE_TRY(read_elements(from, first, held, type.id(), bytes.data()));
        NEVE_TRY(write_elements(to, first, held, type.id(), bytes.data()));
        continue;
      }
      uint32_t mask = 0;
      if (H5Dread_chunk(from, H5P_DEFAULT, offset.data(), &mask, bytes.data()) < 0) {
        return corrupt(fmt::format("a chunk cannot be read: {}", last_error()));
      }
      if (H5Dwrite_chunk(to, H5P_DEFAULT, mask, offset.data(), bytes.size(), bytes.data()) < 0) {
        return failure(fmt::format("a chunk cannot be written: {}", last_error()));
      }
    }
    return {};
  }

  hid_t source_, target_;
  const uint64_t address_bytes_ = hdf5::address_bytes(source_);
  const Contents& contents_;
  const CopyPlan& plan_;
  ReferenceSpace from_, to_;
  uint64_t& lost_;
  std::map<haddr_t, Handle> committed_;  // by the address of the source's
  size_t next_entry_ = 0, next_variable_ = 0;
};

Result<TargetFile> TargetFile::create(hid_t source, const std::string& path, const CopyPlan& plan) {
  const Handle from(H5Fget_create_plist(source), H5Pclose);
  const Handle root(H5Gopen2(source, "/", H5P_DEFAULT), H5Gclose);
  const Handle of_root(H5Gget_create_plist(root.id()), H5Pclose);
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!from.valid() || !of_root.valid())
    return corrupt("its file properties cannot be read: " + last_error());
  hsize_t user_block_bytes = 0;
  H5F_info2_t info;
  NEVE_TRY(copy_orders(of_root.id(), creation.id(), true));
  if (H5Pget_userblock(from.id(), &user_block_bytes) < 0 ||
      H5Pset_userblock(creation.id(), user_block_bytes) < 0 || H5Fget_info2(source, &info) < 0 ||
      H5Pset_istore_k(creation.id(), best_half_rank(plan)) < 0) {
    return hdf5_refuses("the file's creation properties");
  }
  // Structures no newer than the source's: dense attributes and the like came with superblock 2 (HDF5 1.8).
  // Never the chunk indices of 1.10, which older readers do not know.
  const H5F_libver_t least = info.super.version >= 2 ? H5F_LIBVER_V18 : H5F_LIBVER_EARLIEST;
  if (H5Pset_libver_bounds(access.id(), least, H5F_LIBVER_LATEST) < 0) {
    return hdf5_refuses("the file's access properties");
  }
  TargetFile target;
  target.path_ = path;
  target.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (target.descriptor_ < 0)
    return failure(fmt::format("{} cannot be made: {}", path, std::strerror(errno)));
  NEVE_TRY(hdf5::use_skip_driver(access.id(), target.driver_.get(), hdf5::FreedSpace::reused));
  target.file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  if (!target.file_.valid()) return failure(fmt::format("{} cannot be made: {}", path, last_error()));
  return target;
}

TargetFile::TargetFile(TargetFile&& other) noexcept
    : path_(std::move(other.path_)),
      driver_(std::move(other.driver_)),
      file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

TargetFile::~TargetFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<uint64_t> TargetFile::put_chunk(hid_t dataset, const Extent& first, uint32_t filter_mask,
                                       std::span<const std::byte> bytes) {
  const std::vector<hsize_t> offset(first.begin(), first.end());
  const uint64_t writes_before = driver_->dropped_writes;
  driver_->drop_raw_data = true;
  const herr_t placed =
      H5Dwrite_chunk(dataset, H5P_DEFAULT, filter_mask, offset.data(), bytes.size(), bytes.data());
  driver_->drop_raw_data = false;
  if (placed < 0 || driver_->dropped_writes != writes_before + 1) {
    return failure(fmt::format("a chunk cannot be written: {}", last_error()));
  }
  const uint64_t address = driver_->last_dropped_address;
  NEVE_TRY(plotfile::write_fully(descriptor_, static_cast<int64_t>(address), bytes, path_));
  return address;
}

Status TargetFile::close() {
  const bool closed = file_.close();
  if (driver_->system_error != 0) {
    return failure(
        fmt::format("{}: {}: {}", path_, driver_->failed_operation, std::strerror(driver_->system_error)));
  }
  if (!closed) return failure(fmt::format("{} cannot be closed: {}", path_, last_error()));
  return {};
}

StructureCopy::StructureCopy(hid_t source, hid_t target, const Contents& contents, const CopyPlan& plan,
                             uint64_t& lost_references)
    : work_(std::make_unique<Work>(source, target, contents, plan, lost_references)) {}
StructureCopy::~StructureCopy() = default;

Result<Handle> StructureCopy::make_unlinked(size_t variable) { return work_->make_unlinked(variable); }
Status StructureCopy::link(size_t variable, hid_t dataset) { return work_->link(variable, dataset); }
Status StructureCopy::finish() { return work_->finish(); }

Status copy_user_block(hid_t source, const std::string& source_path, const std::string& target_path) {
  const Handle creation(H5Fget_create_plist(source), H5Pclose);
  hsize_t bytes = 0;
  if (H5Pget_userblock(creation.id(), &bytes) < 0) {
    return corrupt(fmt::format("{}: its user block cannot be measured: {}", source_path, last_error()));
  }
  if (bytes == 0) return {};
  NEVE_ASSIGN(const auto file, plotfile::File::open(source_path));
  std::vector<std::byte> block(bytes);
  NEVE_TRY(file->read(0, block));
  const int fd = ::open(target_path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return failure(fmt::format("cannot open {}: {}", target_path, std::strerror(errno)));
  const Status status = plotfile::write_fully(fd, 0, block, target_path);
  ::close(fd);
  return status;
}

}  // namespace neve::datafile
