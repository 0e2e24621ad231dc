// How a Comm sends and receives: envelopes, ports and modelled time, and the check that both sides
// mean the same.
#include <algorithm>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"
#include "runtime/group_identity.hpp"

namespace ringside {

namespace {

void check_tag(std::int64_t tag) {
  if (tag < 0 && tag != return_tag) {
    throw BadUse("there is no tag " + std::to_string(tag) + ": tags are 0 or more");
  }
}

// The operation, and what its data is: "all_reduce (ring, sum) #3 of 1 i64, \"tokens\"".
std::string labelled(const Signature& signature) {
  const std::string_view label = signature.label;
  return text_of(signature) + (label.empty() ? "" : ", \"" + std::string(label) + "\"");
}

}  // namespace

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
  e.meta = data.meta();
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

// The send port is booked, and the log told.
Envelope Comm::departing(int to, Buffer data, std::int64_t tag) {
  Envelope e = envelope_to(to, data, tag);
  e.t0 = e.t1 = ready();
  if (e.link != LinkClass::self) {
    const Time duration =
        owner_.cluster().link(e.link).duration(static_cast<std::int64_t>(e.bytes));
    Port& port = owner_.send_port(e.link);
    port.forget(owner_.now());
    const Booking booking = port.book(stream_.index, e.t0, duration);
    e.t0 = booking.start;
    e.t1 = booking.end;
  }
  owner_.traffic().sent(e);
  return e;
}

Message* Comm::post(int to, Buffer data, std::int64_t tag, Payload mode, Time& departed) {
  const Envelope e = departing(to, data, tag);
  departed = e.t1;
  return owner_.endpoint().post(e, data, mode);
}

void Comm::check(const Envelope& e, int from, Buffer into) const {
  const bool together = !launched_ || same_operation(e.signature, signature_);
  if (together && e.count == into.count && e.meta == into.meta() &&
      (e.count == 0 || e.bytes == into.bytes()) && (launched_ || e.signature.dtype == into.dtype)) {
    return;
  }
  const std::string us = "group " + name_ + ": rank " + std::to_string(owner_.id());
  const std::string peer = "rank " + std::to_string(world_rank(from));
  if (!together) {
    throw Desync(us + " is in " + labelled(signature_) + ", but " + peer +
                 ", from which it receives, is in " + labelled(e.signature));
  }
  const auto& s = e.signature;
  if (e.count == into.count && e.meta != into.meta()) {
    throw Desync(us + " expects " + std::to_string(into.count) + (into.meta() ? " meta" : " real") +
                 " elements of " + std::string(name_of(into.dtype)) + " from " + peer +
                 ", which sent " + (e.meta ? "meta" : "real") + " ones in " + labelled(s) +
                 ": both sides must hold data, or neither");
  }
  const std::string where =
      launched_ ? labelled(s) + ", step " + std::to_string(e.step) +
                      "; both sides must cut the same chunks: compare what one sends with what the "
                      "other expects"
                : std::string(s.operation) + " #" + std::to_string(s.sequence) + " step " +
                      std::to_string(e.step);
  throw Desync(us + " expects " + std::to_string(into.count) + " elements of " +
               std::string(name_of(into.dtype)) + " from " + peer + ", which sent " +
               std::to_string(e.count) + " of " + std::string(name_of(s.dtype)) + " in " + where);
}

// The message that `from` has sent, once it has come; checked against what is expected.
Message& Comm::take(int from, Buffer into, std::int64_t tag) {
  if (from < 0 || from >= size()) {
    throw BadUse("group " + name_ + " has ranks 0 to " + std::to_string(size() - 1) +
                 ": there is no rank " + std::to_string(from) + " to receive from");
  }
  check_tag(tag);
  Message& message = owner_.endpoint().take(id_, world_rank(from), tag_of(tag),
                                            wait_record("recv", from, tag, into.bytes()));
  check(message.envelope, from, into);
  if (on_take) {
    on_take(message.envelope, payload_of(message, into));
  }
  return message;
}

Buffer Comm::payload_of(const Message& message, Buffer like) {
  return {message.envelope.meta ? nullptr : message.payload, like.count, like.dtype,
          message.envelope.chunk};
}

// The receive port is booked, and the stream moves to the arrival. A sender that is late moves the
// arrival, not the port.
void Comm::arrived(const Envelope& e) {
  Time arrival = e.t1;
  if (e.link != LinkClass::self) {
    const Link link = owner_.cluster().link(e.link);
    Port& port = owner_.receive_port(e.link);
    port.forget(owner_.now());
    const Booking booking = port.book(stream_.index, add(e.t0, link.latency),
                                      link.duration(static_cast<std::int64_t>(e.bytes)));
    arrival = std::max(booking.end, add(e.t1, link.latency));
  }
  owner_.traffic().received(e, arrival, owner_.wall_ns());
  reached(arrival);
}

}  // namespace ringside
