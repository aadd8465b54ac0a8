// SPDX-License-Identifier: BSD-3-Clause
// Everything about a file but reads and writes.
#include "preload/mpi/files.hpp"

#include <cstring>

#include "preload/mpi/agreement.hpp"
#include "preload/mpi/make_plain.hpp"
#include "preload/mpi/native_calls.hpp"
#include "preload/mpi/with_file.hpp"

namespace neve::pmpi {
namespace {

bool is_sequential(const OpenFile& file) { return (file.mode & MPI_MODE_SEQUENTIAL) != 0; }
bool is_whence(int whence) {
  return whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
}

// Bytes of the view before where a seek leads; less than 0 where it is no place.
int64_t sought(OpenFile& file, MPI_Offset offset, int whence, uint64_t current) {
  const uint64_t element = file.view.element_bytes();
  uint64_t from = whence == MPI_SEEK_CUR ? current : 0;
  if (whence == MPI_SEEK_END && element > 0) {
    from = (file.view.bytes_before(size_of(file.content())) + element - 1) / element * element;
  }
  return static_cast<int64_t>(from) + offset * static_cast<int64_t>(element);
}

MPI_Offset in_elements(const OpenFile& file, uint64_t bytes) {
  return static_cast<MPI_Offset>(bytes / std::max<uint64_t>(1, file.view.element_bytes()));
}

// Collective, of a call that frames cannot serve.
Outcome give_up_frames(OpenFile& file, Reason reason, const Plain& plain) {
  const Status met = file.leader ? Status() : meet(file, {reason, 0});
  if (!met.ok()) return own(met, file.comm->rank() == 0);
  const int code = plain(file.native);
  if (file.state != State::plain) return native(code);
  const Status handed = hand_over_pointers(file);
  return handed.ok() ? native(code) : own(handed, file.comm->rank() == 0);
}

// Another file's followers cannot cut it.
Outcome grow_leader(OpenFile& file, uint64_t bytes, bool may_shrink) {
  OpenFile& content = file.content();
  if (may_shrink && bytes < size_of(content)) return {MPI_ERR_FILE_IN_USE, true};
  content.min_bytes = std::max(content.min_bytes, bytes);
  return {};
}

// Collective: what any rank has written can be read by all. MPI asks for a sync before; but without frames it
// mostly works.
Status show_to_all(OpenFile& file) {
  if (file.state != State::framed || file.writer == nullptr || !file.reads()) return {};
  return file.writer->share_index();
}

// Of a file of frames.
Status resize(OpenFile& file, uint64_t bytes, bool may_shrink) {
  if (may_shrink) {
    NEVE_TRY(file.writer->set_size(bytes));
    file.min_bytes = bytes;
  } else {
    file.min_bytes = std::max(file.min_bytes, bytes);
    file.writer->extend(bytes);
  }
  return show_to_all(file);
}

// Collective, and true on all ranks alike: where the shared pointer stands, in bytes of the view.
Result<uint64_t> shared_position(OpenFile& file) {
  // From here on no rank moves it by a call that came before this one.
  MPI_Barrier(file.comm->get());
  uint64_t position = 0;
  Status known;
  if (file.comm->rank() == 0) {
    const Result<uint64_t> value = file.shared.value();
    known = value.status();
    if (value.ok()) position = *value;
  }
  NEVE_TRY(mpi::agree(*file.comm, known));
  NEVE_TRY(mpi::mpi_status(MPI_Bcast(&position, 1, MPI_UINT64_T, 0, file.comm->get()), "a file pointer"));
  return position;
}

// Collective: the view that a call sets; nothing where boxes cannot tell it.
Result<std::optional<FileView>> asked_view(OpenFile& file, MPI_Offset displacement, MPI_Datatype element,
                                           MPI_Datatype filetype) {
  if (is_sequential(file) && displacement == MPI_DISPLACEMENT_CURRENT) {
    NEVE_ASSIGN(const uint64_t position, shared_position(file));
    displacement = static_cast<MPI_Offset>(file.view.place_of(position));
  }
  return FileView::of(displacement, element, filetype);
}

// Collective: the pointers of a view that has just been set.
Outcome begin_view(OpenFile& file, FileView view) {
  file.view = std::move(view);
  file.position = 0;
  const Status placed = file.shared.place(*file.comm, file.path);
  return placed.ok() ? Outcome{} : own(placed, file.comm->rank() == 0);
}

}  // namespace

int seek_file(MPI_File handle, MPI_Offset offset, int whence, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    if (!is_whence(whence) || is_sequential(file)) return native(plain(file.native));
    const int64_t position = sought(file, offset, whence, file.position);
    if (position < 0) return {MPI_ERR_ARG, true};
    file.position = static_cast<uint64_t>(position);
    return {};
  });
}

int file_position(MPI_File handle, MPI_Offset* offset, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) {
    if (offset == nullptr || is_sequential(file)) return native(plain(file.native));
    *offset = in_elements(file, file.position);
    return Outcome{};
  });
}

int seek_file_shared(MPI_File handle, MPI_Offset offset, int whence, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    if (!is_whence(whence) || is_sequential(file)) return native(plain(file.native));
    if (!file.leader) {
      Status met = meet(file, propose(file));
      if (met.ok()) met = show_to_all(file);
      if (!met.ok()) return own(met, file.comm->rank() == 0);
    }
    const Result<uint64_t> current = shared_position(file);
    if (!current.ok()) return own(current.status(), file.comm->rank() == 0);
    int64_t position = file.comm->rank() == 0 ? sought(file, offset, whence, *current) : 0;
    MPI_Bcast(&position, 1, MPI_INT64_T, 0, file.comm->get());
    if (position < 0) return {MPI_ERR_ARG, true};
    Status placed = file.shared.place(*file.comm, file.path, static_cast<uint64_t>(position));
    if (placed.ok() && file.state == State::plain) placed = hand_over_pointers(file);
    return placed.ok() ? Outcome{} : own(placed, file.comm->rank() == 0);
  });
}

int file_position_shared(MPI_File handle, MPI_Offset* offset, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    if (offset == nullptr) return native(plain(file.native));
    const Result<uint64_t> value = file.shared.value();
    if (!value.ok()) return own(value.status());
    *offset = in_elements(file, *value);
    return {};
  });
}

int file_size(MPI_File handle, MPI_Offset* bytes, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) {
    if (bytes == nullptr) return native(plain(file.native));
    *bytes = static_cast<MPI_Offset>(size_of(file.content()));
    return Outcome{};
  });
}

int set_file_size(MPI_File handle, MPI_Offset bytes, bool may_shrink, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    if (bytes < 0 || !file.writes()) return native(plain(file.native));
    const auto size = static_cast<uint64_t>(bytes);
    if (file.leader) return grow_leader(file, size, may_shrink);
    const bool has_writer = file.state != State::framed || file.writer != nullptr;
    const Status met = meet(file, {has_writer ? file.objection : Reason::not_asked_for, 0});
    if (!met.ok()) return own(met, file.comm->rank() == 0);
    if (file.state == State::framed) {
      return own(resize(file, size, may_shrink), file.comm->rank() == 0);
    }
    const int code = plain(file.native);
    const Status handed = file.state == State::plain ? hand_over_pointers(file) : Status();
    return handed.ok() ? native(code) : own(handed, file.comm->rank() == 0);
  });
}

int set_file_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype element, MPI_Datatype filetype,
                  const char* representation, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    const bool is_native = representation != nullptr && std::strcmp(representation, "native") == 0;
    Result<std::optional<FileView>> asked = asked_view(file, displacement, element, filetype);
    if (!asked.ok()) return own(asked.status(), file.comm->rank() == 0);
    const bool is_known = is_native && *asked;
    if (file.leader && !is_known) return {MPI_ERR_FILE_IN_USE, true};
    if (!file.leader) {
      Proposal mine = propose(file);
      if (!is_known) mine.objection = Reason::other_view;
      Status met = meet(file, mine);
      if (met.ok()) met = show_to_all(file);
      if (!met.ok()) return own(met, file.comm->rank() == 0);
    }
    const int code = plain(file.native);
    if (file.state == State::plain) {
      file.shared.forget();
      return native(code);
    }
    return code == MPI_SUCCESS ? begin_view(file, std::move(**asked)) : native(code);
  });
}

int set_file_atomicity(MPI_File handle, bool is_on, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) {
    if (!is_on || !file.writes()) return native(plain(file.native));
    return give_up_frames(file, Reason::atomicity, plain);
  });
}

int ask_file(MPI_File handle, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) { return native(plain(file.native)); });
}

int set_file_errhandler(MPI_File handle, const Plain& plain) {
  const int code = plain(handle);
  const std::shared_ptr<OpenFile> file = Inside::is() ? nullptr : find_open(handle);
  return file == nullptr || file->native == handle || code != MPI_SUCCESS ? code : plain(file->native);
}

int sync_file(MPI_File handle, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    if (file.leader) return {};  // it is in memory or beside the file; the other handle makes it last
    if (!file.writes()) {
      const Status seen = look_again(file);
      return seen.ok() ? native(plain(file.native)) : own(seen, file.comm->rank() == 0);
    }
    const Status met = meet(file);
    if (!met.ok()) return own(met, file.comm->rank() == 0);
    if (file.state != State::framed) return native(plain(file.native));
    const Status synced = [&]() -> Status {
      if (file.writer == nullptr) return {};
      NEVE_TRY(file.writer->sync());
      return show_to_all(file);
    }();
    return own(synced, file.comm->rank() == 0);
  });
}

}  // namespace neve::pmpi
