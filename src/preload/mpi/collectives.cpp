// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/status/guarded.hpp"
#include "neve/transfer.h"
#include "preload/mpi/call_sites.hpp"
#include "preload/mpi/inside.hpp"
#include "preload/mpi/parts.hpp"
#include "preload/mpi/settings.hpp"
#include "preload/mpi/value_type.hpp"

namespace neve::pmpi {
namespace {

bool is_of_counts(const Collective& call) { return call.send.is_of_counts || call.recv.is_of_counts; }

// Of each kind of call, once for each way in which it is made.
enum class Way : uint8_t { blocking, nonblocking };
void say_once(Kind kind, Way way, const std::string& why) {
  static std::array<std::array<std::atomic<bool>, 5>, 2> said{};
  if (said[static_cast<size_t>(way)][static_cast<size_t>(kind)].exchange(true)) return;
  say(fmt::format("{}{} is passed through as it is: {}", way == Way::nonblocking ? "nonblocking " : "",
                  name_of(kind, false), why));
}

// What all ranks know alike is said by one.
bool is_first(MPI_Comm comm) {
  int rank = 0;
  return MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == 0;
}

// What this rank's arguments come to.
struct Arguments {
  bool is_sound = false;
  std::vector<Part> sent, received;
  std::optional<ValueType> sent_type, received_type;  // where there are values
  uint64_t bytes = 0;                                 // as Offer says
};

uint64_t largest_part(const std::vector<Part>& parts, MPI_Datatype type) {
  int64_t most = 0;
  for (const Part& part : parts) most = std::max(most, part.count);
  return most == 0 ? 0 : static_cast<uint64_t>(most) * type_bytes(type);
}

// Calls that are not of counts: of one part, of the side whose count every rank has to give alike.
uint64_t bytes_of_part(const Collective& call, const Place& place) {
  const bool is_received =
      sends_in_place(call, place) || (call.kind == Kind::scatter && place.rank != call.root);
  const Side& side = is_received ? call.recv : call.send;
  return side.count <= 0 ? 0 : static_cast<uint64_t>(side.count) * type_bytes(side.type);
}

// A rank's own part has as many bytes on both sides.
bool is_own_part_sound(const Collective& call, const Place& place, const Arguments& mine) {
  if (mine.sent.empty() || mine.received.empty()) return true;
  const auto own = static_cast<size_t>(place.rank);
  const Part& sent = mine.sent.size() > 1 ? mine.sent[own] : mine.sent[0];
  const Part& received = mine.received.size() > 1 ? mine.received[own] : mine.received[0];
  return largest_part({sent}, call.send.type) == largest_part({received}, call.recv.type);
}

// Parts and bytes: what costs nothing.
Arguments read_arguments(const Collective& call, const Place& place) {
  Arguments mine;
  const bool sends = !sends_in_place(call, place), receives = !receives_in_place(call, place);
  const auto sent = read_parts(call.send, sends ? parts_sent(call, place) : 0);
  const auto received = read_parts(call.recv, receives ? parts_received(call, place) : 0);
  if (sent) mine.sent = *sent;
  if (received) mine.received = *received;
  mine.bytes = is_of_counts(call) ? std::max(largest_part(mine.sent, call.send.type),
                                             largest_part(mine.received, call.recv.type))
                                  : bytes_of_part(call, place);
  const bool is_one_buffer = !mine.sent.empty() && !mine.received.empty() && call.send.data == call.recv.data;
  mine.is_sound = sent && received && !is_one_buffer && is_own_part_sound(call, place, mine);
  return mine;
}

// Whether all values of this rank are of one type that frames hold.
bool find_types(const Collective& call, Arguments& mine) {
  const auto find = [](const Side& side, const std::vector<Part>& parts, std::optional<ValueType>& type) {
    if (largest_part(parts, side.type) == 0) return true;
    type = value_type_of(side.type);
    return type.has_value();
  };
  if (!find(call.send, mine.sent, mine.sent_type)) return false;
  if (!find(call.recv, mine.received, mine.received_type)) return false;
  return !mine.sent_type || !mine.received_type || mine.sent_type->dtype == mine.received_type->dtype;
}

// A call that the ranks have agreed to compress.
class Carried {
 public:
  Carried(const Collective& call, const Place& place, const Arguments& mine, DType dtype)
      : call_(call), place_(place), mine_(mine), dtype_(dtype) {}

  // Collective: whether the values have arrived, on all ranks or on none. Where they have not, what is lost
  // is time, and the buffers are as MPI's own call needs them.
  bool move() {
    const Status prepared = guarded("buffers", [&] { return prepare(); });
    neve_mpi_reached reached = {};
    const double begin = MPI_Wtime();
    const int code = guarded_call(prepared.ok() ? named_type(dtype_) : MPI_DATATYPE_NULL, reached);
    if (code != NEVE_OK) {
      if (!prepared.ok()) say_once(call_.kind, Way::blocking, prepared.message());
      if (prepared.ok() && place_.rank == 0) say_once(call_.kind, Way::blocking, neve_last_error());
      if (prepared.ok()) restore();
      return false;
    }
    if (place_.rank == 0) {
      count_call({call_.kind, is_of_counts(call_), dtype_, place_.ranks, reached.value_bytes}, reached,
                 MPI_Wtime() - begin);
    }
    return true;
  }

  // To where the program wants it. An error is this rank's alone.
  Status put() {
    if (!recv_ || !recv_->is_packed()) return {};
    for (size_t part = 0; part < recv_->size(); ++part) {
      const bool stays = call_.kind == Kind::gather && sends_in_place(call_, place_) &&
                         static_cast<int>(part) == place_.rank;
      if (!stays) NEVE_TRY(recv_->unpack(part));
    }
    return {};
  }

 private:
  Status prepare() {
    const auto is_dense = [](const std::optional<ValueType>& type) { return !type || type->is_dense; };
    if (!receives_in_place(call_, place_)) {
      recv_.emplace(call_.recv, mine_.received, mine_.received_type, !is_dense(mine_.received_type));
    }
    if (!sends_in_place(call_, place_)) {
      send_.emplace(call_.send, mine_.sent, mine_.sent_type, !is_dense(mine_.sent_type));
      return send_->is_packed() ? send_->pack_all() : Status();
    }
    if (call_.kind == Kind::gather) return {};  // root's own stay where they are
    std::vector<Part> own = mine_.received;
    if (call_.kind == Kind::allgather) own = {mine_.received[static_cast<size_t>(place_.rank)]};
    send_.emplace(call_.recv, std::move(own), mine_.received_type, true);
    return send_->pack_all();
  }

  // What an unfinished call has put over values that were to be sent.
  void restore() {
    if (!send_ || !sends_in_place(call_, place_) || !recv_ || recv_->is_packed()) return;
    for (size_t part = 0; part < send_->size(); ++part) {
      const Status status = guarded("buffers", [&] { return send_->unpack(part); });
      if (!status.ok()) say(status.message());
    }
  }

  void choose_layer(neve_mpi_options& options) {
    const std::vector<uint64_t>& asked = settings().transfer.layer_shape;
    uint64_t layer_values = 1;
    for (const uint64_t size : asked) layer_values *= size;
    bool fits = !asked.empty();
    int64_t most = 0;
    for (size_t part = 0; send_ && part < send_->size(); ++part) {
      fits = fits && send_->counts()[part] % layer_values == 0;
    }
    const bool in_place = sends_in_place(call_, place_);
    for (const Part& part : in_place ? mine_.received : mine_.sent) most = std::max(most, part.count);
    const std::optional<ValueType>& type = in_place ? mine_.received_type : mine_.sent_type;
    if (fits) {
      layer_ = asked;
    } else if (type) {
      layer_ =
          layer_of(*type, static_cast<uint64_t>(most), mpi::block_bytes_of(settings().transfer.block_bytes));
    }
    options.layer_ndim = static_cast<int>(layer_.size());
    options.layer_shape = layer_.data();
  }

  int guarded_call(MPI_Datatype type, neve_mpi_reached& reached) {
    neve_compress_options values = NEVE_COMPRESS_OPTIONS_INIT;
    values.threads = settings().transfer.values.encode.threads;
    values.options = settings().options.c_str();
    neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
    options.values = &values;
    options.block_bytes = settings().transfer.block_bytes;
    options.reached = &reached;
    if (type == MPI_DATATYPE_NULL) return call_library(type, {}, {}, options);  // an error on all ranks
    choose_layer(options);
    const Buffer sent = send_ ? Buffer{send_->data(), send_->counts(), send_->displs()}
                              : Buffer{MPI_IN_PLACE, nullptr, nullptr};
    const Buffer received = recv_ ? Buffer{recv_->data(), recv_->counts(), recv_->displs()}
                                  : Buffer{MPI_IN_PLACE, nullptr, nullptr};
    return call_library(type, sent, received, options);
  }

  struct Buffer {
    void* data = nullptr;
    const uint64_t* counts = nullptr;
    const uint64_t* displs = nullptr;
  };

  // Where a side has one part: that part's place and count.
  static std::byte* first(const Buffer& buffer, DType dtype) {
    if (buffer.displs == nullptr) return static_cast<std::byte*>(buffer.data);
    return static_cast<std::byte*>(buffer.data) + buffer.displs[0] * dtype_bytes(dtype);
  }
  static uint64_t count(const Buffer& buffer) { return buffer.counts == nullptr ? 0 : buffer.counts[0]; }

  int call_library(MPI_Datatype type, const Buffer& sent, const Buffer& received,
                   const neve_mpi_options& options) const {
    const char* const bound = settings().bound.c_str();
    const MPI_Comm comm = call_.comm;
    const int root = call_.root;
    switch (call_.kind) {
      case Kind::gather:
        return neve_mpi_gatherv(first(sent, dtype_), count(sent), type, received.data, received.counts,
                                received.displs, root, comm, bound, &options);
      case Kind::allgather:
        return neve_mpi_allgatherv(first(sent, dtype_), count(sent), type, received.data, received.counts,
                                   received.displs, comm, bound, &options);
      case Kind::alltoall:
        return neve_mpi_alltoallv(sent.data, sent.counts, sent.displs, type, received.data, received.counts,
                                  received.displs, comm, bound, &options);
      case Kind::scatter:
        return neve_mpi_scatterv(sent.data, sent.counts, sent.displs, type, first(received, dtype_),
                                 count(received), root, comm, bound, &options);
      case Kind::bcast:
        break;
    }
    const Buffer& mine = place_.rank == root ? sent : received;
    return neve_mpi_bcast(first(mine, dtype_), count(mine), type, root, comm, bound, &options);
  }

  const Collective& call_;
  const Place& place_;
  const Arguments& mine_;
  DType dtype_;
  std::optional<Values> send_, recv_;
  std::vector<uint64_t> layer_;
};

Offer offer_of(const Collective& call, const Arguments& mine) {
  Offer offer{call.kind,     is_of_counts(call), call.comm,  call.root,
              mine.is_sound, std::nullopt,       mine.bytes, {nullptr, 0, MPI_FLOAT}};
  if (mine.received_type) offer.dtype = mine.received_type->dtype;
  if (!mine.sent_type) return offer;
  offer.dtype = mine.sent_type->dtype;
  const auto largest = std::max_element(mine.sent.begin(), mine.sent.end(),
                                        [](const Part& a, const Part& b) { return a.count < b.count; });
  MPI_Aint lower = 0, extent = 0;
  if (MPI_Type_get_extent(call.send.type, &lower, &extent) != MPI_SUCCESS) return offer;
  auto* const data = static_cast<std::byte*>(call.send.data) + largest->displ * extent;
  offer.sent = {data, largest->count, call.send.type};
  return offer;
}

// Collective; nothing where MPI's own call is to be made.
std::optional<int> carry(const Collective& call, const Place& place, const std::function<int()>& plain) {
  // A call that is MPI's as a rule takes no longer than it needs to find that out.
  if (!is_of_counts(call) && is_left_to_mpi(call.kind, false, call.comm, bytes_of_part(call, place)))
    return {};
  Arguments mine = read_arguments(call, place);
  if (is_of_counts(call) && is_left_to_mpi(call.kind, true, call.comm, mine.bytes)) return {};
  mine.is_sound = mine.is_sound && find_types(call, mine);
  const Offer offer = offer_of(call, mine);
  const Decision decision = agree_to_compress(offer, plain);
  if (!decision.dtype) return decision.native_code;
  const double begin = MPI_Wtime();
  Carried carried(call, place, mine, *decision.dtype);
  if (!carried.move()) return {};
  note_seconds(offer, MPI_Wtime() - begin);
  const Status put = guarded("buffers", [&] { return carried.put(); });
  if (put.ok()) return MPI_SUCCESS;
  say(fmt::format("{}: {}", name_of(call.kind, is_of_counts(call)), put.message()));
  return MPI_ERR_NO_MEM;
}

}  // namespace

int collective(const Collective& call, const std::function<int()>& plain) {
  if (Inside::is() || !settings().wants(call.kind) || call.comm == MPI_COMM_NULL) return plain();
  const Inside inside;
  int is_inter = 0;
  Place place;
  if (MPI_Comm_test_inter(call.comm, &is_inter) != MPI_SUCCESS) return plain();
  if (is_inter != 0) {
    if (is_first(call.comm)) say_once(call.kind, Way::blocking, "it moves values between two groups");
    return plain();
  }
  MPI_Comm_rank(call.comm, &place.rank);
  MPI_Comm_size(call.comm, &place.ranks);
  if (call.root < 0 || call.root >= place.ranks) return plain();  // MPI's own error
  if (place.ranks == 1) return plain();                           // nothing moves
  const std::optional<int> code = carry(call, place, plain);
  return code ? *code : plain();
}

int pass_nonblocking(Kind kind, const Side& side, MPI_Comm comm, const std::function<int()>& plain) {
  if (Inside::is() || !settings().wants(kind) || comm == MPI_COMM_NULL) return plain();
  const Inside inside;
  const bool has_values = side.count > 0 && side.type != MPI_DATATYPE_NULL;
  const uint64_t bytes = has_values ? static_cast<uint64_t>(side.count) * type_bytes(side.type) : 0;
  if (bytes > 0 && bytes >= settings().min_bytes && value_type_of(side.type) && is_first(comm)) {
    say_once(kind, Way::nonblocking, "frames need calls that wait");
  }
  return plain();
}

}  // namespace neve::pmpi
