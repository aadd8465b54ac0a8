// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/files.hpp"

#include <cstring>

#include "parallel/transfer/mpi_type.hpp"
#include "preload/mpi/agreement.hpp"
#include "preload/mpi/done_request.hpp"
#include "preload/mpi/following.hpp"
#include "preload/mpi/inside.hpp"
#include "preload/mpi/make_plain.hpp"
#include "preload/mpi/packed.hpp"
#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

FileCounts counts;

// Of frames of single ranks' writes, until a collective call takes them.
constexpr uint64_t max_held_bytes = uint64_t{256} << 20;

template <class Work>
Outcome guarded_outcome(Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return own(failure("out of memory"));
  } catch (const std::exception& e) {
    return own(failure(e.what()));
  }
}

// Runs `work(file)` where the file is one of ours and not plain for good; MPI's own call otherwise. The error
// handler is the program's code: it runs when nothing of ours is held.
template <class Work>
int with_file(MPI_File handle, const Plain& plain, Work&& work) {
  const std::shared_ptr<OpenFile> file = Inside::is() ? nullptr : find_open(handle);
  if (file == nullptr) return plain(handle);
  Outcome outcome;
  {
    const Inside inside;
    const std::shared_ptr<OpenFile> content = file->leader ? file->leader : file;
    std::unique_lock lock(content->mutex);
    const Status followed = follow(*file);
    if (!followed.ok()) {
      outcome = own(followed);
    } else if (file->state == State::plain) {
      lock.unlock();
      return plain(file->native);
    } else {
      outcome = guarded_outcome([&] { return work(*file); });
    }
  }
  if (outcome.is_own) MPI_File_call_errhandler(handle, outcome.code);
  return outcome.code;
}

// Arguments that are beyond doubt; all others are MPI's to judge.
bool is_sound(const OpenFile& file, const Access& access) {
  if (access.count < 0 || access.type == MPI_DATATYPE_NULL) return false;
  if (access.is_write ? !file.writes() : !file.reads()) return false;
  if (access.pointer == Pointer::given && access.offset < 0) return false;
  const bool is_shared = access.pointer == Pointer::shared || access.pointer == Pointer::ordered;
  if ((file.mode & MPI_MODE_SEQUENTIAL) != 0 && !is_shared) return false;
  if (access.is_nonblocking && access.request == nullptr) return false;
  if (access.is_split && file.split_bytes) return false;
  MPI_Count bytes = 0;
  if (MPI_Type_size_x(access.type, &bytes) != MPI_SUCCESS || bytes < 0) return false;
  // MPI_BOTTOM goes with types that bring their addresses.
  return access.data != nullptr || access.count == 0 || !mpi::dtype_of(access.type);
}

void set_status(MPI_Status* status, uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE || status == nullptr) return;
  MPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  MPI_Status_set_cancelled(status, 0);
}

// After a call that frames have served. The pointer moves by what was asked for, also where a read met the
// end of the file (MPI 4.1, 14.4.1).
Outcome finish(OpenFile& file, const Access& access, uint64_t bytes) {
  if (access.pointer == Pointer::own) file.position += asked_bytes(access);
  if (access.is_split) {
    file.split_bytes = bytes;
  } else if (access.is_nonblocking) {
    return native(make_done_request(bytes, access.request));
  } else {
    set_status(access.status, bytes);
  }
  return {};
}

// The layer of the environment where the values are whole layers; in a line otherwise.
mpi::Transfer transfer_for(DType dtype, uint64_t count) {
  mpi::Transfer transfer = settings().transfer;
  transfer.dtype = dtype;
  uint64_t layer_values = 1;
  for (const uint64_t size : transfer.layer_shape) layer_values *= size;
  if (count % layer_values != 0) transfer.layer_shape.clear();
  return transfer;
}

void count_write(uint64_t bytes, const mpi::Moved& moved) {
  ++counts.writes;
  counts.value_bytes += bytes;
  counts.frame_bytes += moved.frame_bytes;
}

// Collective, of a file whose frames the ranks have agreed on.
Outcome write_frames(OpenFile& file, const Access& access, DType dtype) {
  const size_t value_bytes = dtype_bytes(dtype);
  const auto count = static_cast<uint64_t>(access.count);
  const uint64_t bytes = count * value_bytes;
  Result<uint64_t> place = count == 0 ? Result<uint64_t>(uint64_t{0}) : place_of(file, access);
  const uint64_t first = count == 0 ? 0 : (file.displacement + *place) / value_bytes;
  mpi::Moved moved;
  Status status = file.writer->write_all(transfer_for(dtype, count), first, access.data, count, moved);
  // Programs may read at once what any rank has written.
  if (status.ok() && file.reads()) status = file.writer->share_index();
  if (!status.ok()) return own(status, file.comm->rank() == 0);
  count_write(bytes, moved);
  return finish(file, access, bytes);
}

Outcome write_together(OpenFile& file, const Access& access, const Plain& plain) {
  const Result<Proposal> agreed = agree(file, propose(file, access));
  if (!agreed.ok()) return own(agreed.status());
  const Status settled = settle(file, *agreed);
  if (!settled.ok()) return own(settled, file.comm->rank() == 0);
  if (file.state != State::framed) return native(plain(file.native));
  const auto dtype = agreed->dtype ? agreed->dtype : dtype_of(file);
  return write_frames(file, access, dtype.value_or(DType::f32));
}

// This rank alone, into a framed file.
Outcome write_alone(OpenFile& file, const Access& access) {
  OpenFile& content = file.content();
  const uint64_t bytes = static_cast<uint64_t>(access.count) * type_bytes(access.type);
  if (bytes == 0) return finish(file, access, 0);
  const Result<uint64_t> place = place_of(file, access);
  if (!place.ok()) return own(place.status());
  const uint64_t at = file.displacement + *place;

  Reason reason = unsuitable(access, at);
  const auto dtype = mpi::dtype_of(access.type);
  if (content.writer == nullptr) reason = Reason::not_asked_for;
  if (reason == Reason::none && dtype != dtype_of(content)) reason = Reason::other_type;
  if (reason == Reason::none && file.leader) reason = Reason::opened_twice;
  if (reason == Reason::none && content.writer->held_bytes() > max_held_bytes) reason = Reason::too_much_held;
  // What comes behind something in the journal is later than that.
  if (reason != Reason::none || !content.journal.is_empty()) {
    const Status kept = pack({access.data, access.count, access.type}, [&](uint64_t before, ByteSpan part) {
      return content.journal.write(at + before, part);
    });
    if (!kept.ok()) return own(kept);
    if (content.objection == Reason::none) content.objection = reason;
    return finish(file, access, bytes);
  }
  const auto count = static_cast<uint64_t>(access.count);
  mpi::Moved moved;
  const Status written =
      content.writer->write(transfer_for(*dtype, count), at / dtype_bytes(*dtype), access.data, count, moved);
  if (!written.ok()) return own(written);
  count_write(bytes, moved);
  return finish(file, access, bytes);
}

Outcome write_to(OpenFile& file, const Access& access, const Plain& plain) {
  // Nonblocking collective calls may not wait for the other ranks.
  if (access.is_collective && !access.is_nonblocking && !file.leader)
    return write_together(file, access, plain);
  if (file.state == State::framed) return write_alone(file, access);
  if (access.count > 0 && file.objection == Reason::none) {
    file.objection = Reason::first_is_of_one_rank;
    if (access.pointer == Pointer::shared) file.objection = Reason::shared_pointer;
    if (access.is_nonblocking) file.objection = Reason::nonblocking;
  }
  return native(plain(file.native));
}

// Of a framed file.
Outcome read_now(OpenFile& file, const Access& access) {
  OpenFile& content = file.content();
  const uint64_t asked = static_cast<uint64_t>(access.count) * type_bytes(access.type);
  const Result<uint64_t> place = place_of(file, access);
  if (!place.ok()) return own(place.status());
  const uint64_t at = file.displacement + *place, end = size_of(content);
  const uint64_t bytes = std::min(asked, end > at ? end - at : 0);
  Status read;
  if (mpi::dtype_of(access.type) || access.type == MPI_BYTE) {
    read = read_bytes(content, at, {static_cast<std::byte*>(const_cast<void*>(access.data)), bytes});
  } else {
    read = unpack(
        {access.data, access.count, access.type}, bytes,
        [&](uint64_t before, std::span<std::byte> part) { return read_bytes(content, at + before, part); });
  }
  if (!read.ok()) return own(read);
  ++counts.reads;
  return finish(file, access, bytes);
}

Outcome read_from(OpenFile& file, const Access& access, const Plain& plain) {
  if (file.state != State::framed) return native(plain(file.native));
  const bool waits = access.is_collective && !access.is_nonblocking && !file.leader;
  if (access.pointer == Pointer::ordered) {
    const Status made = make_plain(file, Reason::shared_pointer);
    return made.ok() ? native(plain(file.native)) : own(made, file.comm->rank() == 0);
  }
  if (waits && file.writer != nullptr) {
    const Status shared = file.writer->share_index();
    if (!shared.ok()) return own(shared, file.comm->rank() == 0);
  }
  return read_now(file, access);
}

// Collective: a call that frames cannot serve. In a file without frames yet it stands against any.
Outcome give_up_frames(OpenFile& file, Reason reason, const Plain& plain) {
  if (file.state == State::undecided) {
    if (file.objection == Reason::none) file.objection = reason;
  } else if (!file.leader) {
    const Status made = make_plain(file, reason);
    if (!made.ok()) return own(made, file.comm->rank() == 0);
  }
  return native(plain(file.native));
}

}  // namespace

int access_file(MPI_File handle, const Access& access, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) {
    if (!is_sound(file, access)) return native(plain(file.native));
    return access.is_write ? write_to(file, access, plain) : read_from(file, access, plain);
  });
}

int end_split(MPI_File handle, MPI_Status* status, const Plain& plain) {
  const std::shared_ptr<OpenFile> file = Inside::is() ? nullptr : find_open(handle);
  if (file == nullptr || !file->split_bytes) return plain(file == nullptr ? handle : file->native);
  const Inside inside;
  set_status(status, *std::exchange(file->split_bytes, std::nullopt));
  return MPI_SUCCESS;
}

int seek_file(MPI_File handle, MPI_Offset offset, int whence, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    const bool is_known = whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
    if (file.state != State::framed || !is_known || (file.mode & MPI_MODE_SEQUENTIAL) != 0) {
      return native(plain(file.native));
    }
    int64_t from = 0;
    if (whence == MPI_SEEK_CUR) from = static_cast<int64_t>(file.position);
    if (whence == MPI_SEEK_END) {
      from = static_cast<int64_t>(size_of(file.content())) - static_cast<int64_t>(file.displacement);
    }
    const int64_t position = from + offset * static_cast<int64_t>(file.element_bytes);
    if (position < 0) return {MPI_ERR_ARG, true};
    file.position = static_cast<uint64_t>(position);
    return {};
  });
}

int file_position(MPI_File handle, MPI_Offset* offset, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) {
    if (file.state != State::framed || offset == nullptr || (file.mode & MPI_MODE_SEQUENTIAL) != 0) {
      return native(plain(file.native));
    }
    *offset = static_cast<MPI_Offset>(file.position / file.element_bytes);
    return Outcome{};
  });
}

int seek_file_shared(MPI_File handle, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    if (file.state != State::framed) return native(plain(file.native));
    return give_up_frames(file, Reason::shared_pointer, plain);
  });
}

int file_position_shared(MPI_File handle, MPI_Offset* offset, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    if (file.state != State::framed || offset == nullptr) return native(plain(file.native));
    Result<uint64_t> value = file.content().shared.value();
    if (!value.ok()) return own(value.status());
    *offset = static_cast<MPI_Offset>(*value / file.element_bytes);
    return {};
  });
}

int file_size(MPI_File handle, MPI_Offset* bytes, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) {
    if (file.state != State::framed || bytes == nullptr) return native(plain(file.native));
    *bytes = static_cast<MPI_Offset>(size_of(file.content()));
    return Outcome{};
  });
}

int set_file_size(MPI_File handle, MPI_Offset bytes, bool may_shrink, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    if (file.state != State::framed || bytes < 0 || !file.writes()) return native(plain(file.native));
    if (file.leader) return {MPI_ERR_FILE_IN_USE, true};
    if (bytes == 0 && may_shrink && file.writer != nullptr) {
      const Status emptied = make_empty(file);
      return emptied.ok() ? Outcome{} : own(emptied, file.comm->rank() == 0);
    }
    // Ranks may know of different sizes.
    uint64_t now = size_of(file);
    MPI_Allreduce(MPI_IN_PLACE, &now, 1, MPI_UINT64_T, MPI_MAX, file.comm->get());
    if (may_shrink && static_cast<uint64_t>(bytes) < now) return give_up_frames(file, Reason::cut_off, plain);
    file.min_bytes = std::max(now, static_cast<uint64_t>(bytes));
    return {};
  });
}

int set_file_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype element, MPI_Datatype filetype,
                  const char* representation, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) -> Outcome {
    const auto dtype = mpi::dtype_of(element);
    const bool is_whole = element == filetype && (dtype || element == MPI_BYTE) && displacement >= 0 &&
                          representation != nullptr && std::strcmp(representation, "native") == 0;
    if (file.state == State::undecided && !is_whole)
      return give_up_frames(file, Reason::view_with_holes, plain);
    if (file.state == State::framed && !file.leader) {
      int all_whole = is_whole ? 1 : 0;
      MPI_Allreduce(MPI_IN_PLACE, &all_whole, 1, MPI_INT, MPI_MIN, file.comm->get());
      if (all_whole == 0) return give_up_frames(file, Reason::view_with_holes, plain);
      const Status placed = file.shared.place(*file.comm, file.path);  // at the new view's beginning
      if (!placed.ok()) return own(placed, file.comm->rank() == 0);
    }
    if (file.leader && !is_whole) return {MPI_ERR_FILE_IN_USE, true};
    const int code = plain(file.native);
    if (code != MPI_SUCCESS) return native(code);
    file.displacement = static_cast<uint64_t>(displacement);
    file.element = element;
    file.element_bytes = type_bytes(element);
    file.position = 0;
    return {};
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
    const Status settled = settle_for_good(file);
    if (!settled.ok()) return own(settled, file.comm->rank() == 0);
    if (file.state != State::framed) return native(plain(file.native));
    const Status synced = [&]() -> Status {
      if (file.writer == nullptr) return {};
      NEVE_TRY(file.writer->sync());
      return file.reads() ? file.writer->share_index() : Status();
    }();
    return own(synced, file.comm->rank() == 0);
  });
}

FileCounts& file_counts() { return counts; }

}  // namespace neve::pmpi
