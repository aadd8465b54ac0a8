// SPDX-License-Identifier: BSD-3-Clause
// Messages of the process to itself. Those of one communicator and tag arrive in the order in which they were
// sent.
#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "alone/datatype.hpp"
#include "alone/errors.hpp"
#include "alone/request.hpp"

namespace neve::alone {
namespace {

struct Message {
  MPI_Comm comm;
  int tag;
  std::vector<std::byte> bytes;
};

// What was sent before its receive, and the other way round.
std::deque<Message>& sent() {
  static std::deque<Message> all;
  return all;
}
std::deque<Request*>& awaited() {
  static std::deque<Request*> all;
  return all;
}

template <class Queue, class Fits>
auto find(Queue& queue, const Fits& fits) {
  return std::find_if(queue.begin(), queue.end(), fits);
}

void arrive(Request& request, const void* values, int count, MPI_Datatype type) {
  request.result = copy_values(values, count, type, request.values, request.room, request.type);
  request.status = {0, request.tag, request.result,
                    static_cast<MPI_Count>(static_cast<uint64_t>(count) * type->bytes)};
  request.is_done = true;
}

Message copy_of(const void* values, int count, MPI_Datatype type, MPI_Comm comm, int tag) {
  Message message{comm, tag, std::vector<std::byte>(static_cast<uint64_t>(count) * type->bytes)};
  std::byte* to = message.bytes.data();
  Bytes source(*type, reinterpret_cast<MPI_Aint>(values), static_cast<uint64_t>(count));
  for (Run run = source.next(for_ever); run.bytes > 0; run = source.next(for_ever)) {
    to = std::copy_n(reinterpret_cast<const std::byte*>(run.at), run.bytes, to);
  }
  return message;
}

// Of a request that is done: its result, and what becomes of it.
int take(MPI_Request& request, MPI_Status* status) {
  const int result = request->result;
  if (status != nullptr) *status = request->status;
  delete request;
  request = MPI_REQUEST_NULL;
  return result;
}

bool is_done(const Request* request) { return request == nullptr || request->is_done; }

}  // namespace

int finished(int result, MPI_Request* request) {
  if (result != MPI_SUCCESS) return result;
  return guarded([&] {
    auto made = std::make_unique<Request>();
    made->is_done = true;
    *request = made.release();
    return MPI_SUCCESS;
  });
}

}  // namespace neve::alone

using namespace neve::alone;

int MPI_Isend(const void* values, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return guarded([&]() -> int {
    if (to != 0) return bad_rank;
    if (count < 0) return bad_argument;
    const auto receive = find(awaited(), [&](const Request* r) { return r->comm == comm && r->tag == tag; });
    if (receive == awaited().end()) {
      sent().push_back(copy_of(values, count, type, comm, tag));
    } else {
      arrive(**receive, values, count, type);
      awaited().erase(receive);
    }
    return finished(MPI_SUCCESS, request);
  });
}

int MPI_Irecv(void* values, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return guarded([&]() -> int {
    if (from != 0) return bad_rank;
    auto made = std::make_unique<Request>(Request{values, count, type, comm, tag, false, MPI_SUCCESS, {}});
    const auto message = find(sent(), [&](const Message& m) { return m.comm == comm && m.tag == tag; });
    if (message == sent().end()) {
      awaited().push_back(made.get());
    } else {
      if (message->bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
        return message_too_long;
      arrive(*made, message->bytes.data(), static_cast<int>(message->bytes.size()), MPI_BYTE);
      sent().erase(message);
    }
    *request = made.release();
    return MPI_SUCCESS;
  });
}

int MPI_Testall(int count, MPI_Request* requests, int* are_done, MPI_Status* statuses) {
  *are_done = std::all_of(requests, requests + count, is_done) ? 1 : 0;
  return *are_done != 0 ? MPI_Waitall(count, requests, statuses) : MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    if (!requests[i]->is_done) {
      std::erase(awaited(), requests[i]);
      requests[i]->result = nobody_sends;
    }
    const int one = take(requests[i], statuses == MPI_STATUSES_IGNORE ? nullptr : statuses + i);
    if (result == MPI_SUCCESS) result = one;
  }
  return result;
}
