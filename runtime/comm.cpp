#include "runtime/comm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "runtime/errors.hpp"
#include "runtime/group_identity.hpp"
#include "runtime/reduce.hpp"

namespace ringside {

namespace {

void check_tag(std::int64_t tag) {
  if (tag < 0) {
    throw BadUse("there is no tag " + std::to_string(tag) + ": tags are 0 or more");
  }
}

bool overlap(Buffer a, Buffer b) {
  return a.bytes() > 0 && b.bytes() > 0 && a.data < b.data + b.bytes() &&
         b.data < a.data + a.bytes();
}

}  // namespace

Comm::Comm(Rank& rank, std::string name, std::vector<int> members)
    : owner_(rank),
      name_(std::move(name)),
      members_(std::move(members)),
      stream_(rank.new_stream(name_)) {
  check_members(name_, members_, rank.size());
  const auto me = std::find(members_.begin(), members_.end(), rank.id());
  if (me == members_.end()) {
    throw BadUse("rank " + std::to_string(rank.id()) + " is no member of group " + name_);
  }
  me_ = static_cast<int>(me - members_.begin());
  const auto who = identity(name_, members_);
  id_ = who + rank.group_instance(who);
}

Time Comm::ready() {
  return launched_ ? stream_.now : std::max(stream_.now, owner_.now());
}

void Comm::reached(Time t) {
  stream_.advance_to(t);
  if (!launched_) {
    owner_.advance_to(t);
  }
}

void Comm::begin(const Signature& signature) {
  if (launched_) {
    throw BadUse("group " + name_ + ": " + std::string(signature.operation) +
                 " was launched inside " + std::string(signature_.operation));
  }
  stream_.advance_to(owner_.now());
  ++stream_.launches;
  started_ = stream_.now;
  signature_ = signature;
  signature_.sequence = operations_++;
  phase_ = {};
  step_ = -1;
  launched_ = true;
}

Work Comm::end() {
  launched_ = false;
  owner_.record(stream_, signature_.operation, started_, stream_.now);
  return {owner_, stream_, stream_.now};
}

void Comm::next_step(std::string_view phase) {
  phase_ = phase;
  ++step_;
}

Envelope Comm::envelope_to(int to, Buffer data, std::int64_t tag) {
  if (to < 0 || to >= size()) {
    throw BadUse("group " + name_ + " has ranks 0 to " + std::to_string(size() - 1) +
                 ": there is no rank " + std::to_string(to) + " to send to");
  }
  check_tag(tag);
  const int destination = world_rank(to);
  Envelope e{.group = id_,
             .tag = tag_of(tag),
             .source = owner_.id(),
             .destination = destination,
             .group_name = std::string_view(name_),
             .count = data.count,
             .bytes = data.bytes(),
             .link = owner_.cluster().link_class(owner_.id(), destination)};
  e.chunk = data.chunk;
  if (launched_) {
    e.signature = signature_;
    e.phase = phase_;
    e.step = std::max(step_, 0);
  } else {
    ++stream_.launches;
    e.signature = {.sequence = single_sends_++,
                   .count = data.count,
                   .operation = std::string_view("send"),
                   .dtype = data.dtype};
  }
  return e;
}

WaitRecord Comm::wait_record(std::string_view kind, int peer, std::int64_t tag,
                             std::size_t bytes) const {
  WaitRecord what{.kind = kind,
                  .peer = world_rank(peer),
                  .tag = tag,
                  .bytes = bytes,
                  .group = std::string_view(name_)};
  if (launched_) {
    what.operation = signature_.operation;
    what.algorithm = signature_.algorithm;
    what.sequence = signature_.sequence;
    what.step = std::max(step_, 0);
  }
  return what;
}

Message* Comm::post(int to, Buffer data, std::int64_t tag, Payload mode, Time& departed) {
  Envelope e = envelope_to(to, data, tag);
  e.t0 = e.t1 = ready();
  if (e.link != LinkClass::self) {
    const Time duration =
        owner_.cluster().link(e.link).duration(static_cast<std::int64_t>(e.bytes));
    const Booking booking = owner_.send_port(e.link).book(stream_.index, e.t0, duration);
    e.t0 = booking.start;
    e.t1 = booking.end;
  }
  departed = e.t1;
  owner_.traffic().sent(e);
  return owner_.endpoint().post(e, data, mode);
}

void Comm::check(const Envelope& e, int from, Buffer into) const {
  if (launched_ && !same_operation(e.signature, signature_)) {
    throw Desync("group " + name_ + ": rank " + std::to_string(owner_.id()) + " is in " +
                 text_of(signature_) + ", but rank " + std::to_string(world_rank(from)) +
                 ", from which it receives, is in " + text_of(e.signature));
  }
  if (e.count == into.count && (e.count == 0 || e.bytes == into.bytes()) &&
      (launched_ || e.signature.dtype == into.dtype)) {
    return;
  }
  throw Desync("group " + name_ + ": rank " + std::to_string(owner_.id()) + " expects " +
               std::to_string(into.count) + " elements of " + std::string(name_of(into.dtype)) +
               " from rank " + std::to_string(world_rank(from)) + ", which sent " +
               std::to_string(e.count) + " of " + std::string(name_of(e.signature.dtype)) + " in " +
               std::string(e.signature.operation) + " #" + std::to_string(e.signature.sequence) +
               " step " + std::to_string(e.step));
}

template <class Take>
void Comm::receive(int from, Buffer into, std::int64_t tag, Take&& take) {
  if (from < 0 || from >= size()) {
    throw BadUse("group " + name_ + " has ranks 0 to " + std::to_string(size() - 1) +
                 ": there is no rank " + std::to_string(from) + " to receive from");
  }
  check_tag(tag);
  Message& message = owner_.endpoint().take(id_, world_rank(from), tag_of(tag),
                                            wait_record("recv", from, tag, into.bytes()));
  const Envelope e = message.envelope;
  check(e, from, into);
  take(Buffer{message.payload, into.count, into.dtype});
  owner_.endpoint().release(message);
  Time arrival = e.t1;
  if (e.link != LinkClass::self) {
    const Link link = owner_.cluster().link(e.link);
    Port& port = owner_.receive_port(e.link);
    const Booking booking = port.book(stream_.index, add(e.t0, link.latency),
                                      link.duration(static_cast<std::int64_t>(e.bytes)));
    arrival = std::max(booking.end, add(e.t1, link.latency));
    port.extend(stream_.index, arrival);
  }
  owner_.traffic().received(e, arrival, owner_.wall_ns());
  reached(arrival);
}

void Comm::send(int to, Buffer data, std::int64_t tag) {
  isend(to, data, tag).wait();
}

void Comm::recv(int from, Buffer data, std::int64_t tag) {
  receive(from, data, tag, [&](Buffer incoming) { copy(incoming, data); });
}

void Comm::recv_reduce(int from, Buffer into, ReduceOp op) {
  receive(from, into, 0, [&](Buffer incoming) { reduce(incoming, into, op); });
}

void Comm::send_recv(int to, Buffer out, int from, Buffer in) {
  exchange(to, out, from, in, [&](Buffer incoming) { copy(incoming, in); });
}

void Comm::send_recv_reduce(int to, Buffer out, int from, Buffer into, ReduceOp op) {
  exchange(to, out, from, into, [&](Buffer incoming) { reduce(incoming, into, op); });
}

// The send is booked first, and both ends join at the end: the directions do not wait for each
// other.
template <class Take>
void Comm::exchange(int to, Buffer out, int from, Buffer in, Take&& take) {
  Request sending(*this, to, 0, out);
  sending.receives_ = false;
  sending.message_ =
      post(to, out, 0, overlap(out, in) ? Payload::copied : Payload::in_place, sending.departed_);
  receive(from, in, 0, take);
  sending.wait();
}

Request Comm::isend(int to, Buffer data, std::int64_t tag) {
  Request sending(*this, to, tag, data);
  sending.receives_ = false;
  sending.message_ = post(to, data, tag, Payload::in_place, sending.departed_);
  return sending;
}

Request Comm::irecv(int from, Buffer data, std::int64_t tag) {
  return {*this, from, tag, data};
}

void Comm::copy(Buffer from, Buffer to) {
  if (from.count != to.count || from.dtype != to.dtype) {
    throw BadUse("cannot copy " + std::to_string(from.count) + " elements of " +
                 std::string(name_of(from.dtype)) + " to " + std::to_string(to.count) + " of " +
                 std::string(name_of(to.dtype)));
  }
  if (from.bytes() > 0) {
    std::memmove(to.data, from.data, from.bytes());
  }
}

// Everybody tells rank 0, which tells everybody: (colour, key) of each rank.
std::unique_ptr<Comm> Comm::split(int colour, int key) {
  std::vector<std::int64_t> table(2 * static_cast<std::size_t>(size()));
  const auto row = [&](int r) {
    return buffer_of(std::span(table)).slice(2 * static_cast<std::size_t>(r), 2);
  };
  row(me_).as<std::int64_t>()[0] = colour;
  row(me_).as<std::int64_t>()[1] = key;
  launch({.count = table.size(), .operation = std::string_view("split"), .dtype = DType::i64}, [&] {
    next_step("gather");
    for (int r = 1; r < size() && me_ == 0; ++r) {
      recv(r, row(r));
    }
    if (me_ != 0) {
      send(0, row(me_));
    }
    next_step("broadcast");
    for (int r = 1; r < size() && me_ == 0; ++r) {
      send(r, buffer_of(std::span(table)));
    }
    if (me_ != 0) {
      recv(0, buffer_of(std::span(table)));
    }
  }).wait();
  std::vector<std::pair<std::int64_t, int>> mine;  // (key, group rank)
  for (int r = 0; r < size(); ++r) {
    const auto pair = row(r).as<std::int64_t>();
    if (pair[0] == colour) {
      mine.emplace_back(pair[1], r);
    }
  }
  std::sort(mine.begin(), mine.end());
  std::vector<int> members;
  for (const auto& [k, r] : mine) {
    members.push_back(world_rank(r));
  }
  return std::make_unique<Comm>(owner_, name_ + "/" + std::to_string(colour), std::move(members));
}

}  // namespace ringside
