#include "runtime/comm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/errors.hpp"
#include "runtime/group_identity.hpp"
#include "runtime/reduce.hpp"

namespace ringside {

namespace {

bool overlap(Buffer a, Buffer b) {
  return a.stored() > 0 && b.stored() > 0 && a.data < b.data + b.bytes() &&
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

int Comm::node_of(int r) const {
  return owner_.cluster().node_of(world_rank(r));
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
  operation_ = owner_.operations().begin(
      {.signature = signature_, .group = id_, .group_name = std::string_view(name_)});
}

Work Comm::end() {
  if (on_step) {
    on_step();
  }
  launched_ = false;
  owner_.operations().end(operation_);
  owner_.record(stream_, signature_.operation, started_, stream_.now);
  return {owner_, stream_, stream_.now};
}

void Comm::next_step(std::string_view phase) {
  if (on_step) {
    on_step();
  }
  phase_ = phase;
  ++step_;
  owner_.operations().step(operation_, step_);
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
  const Left left = to == from && me_ < from ? Left::into : Left::incoming;
  exchange(to, out, from, into, [&](Buffer incoming) { reduce(incoming, into, op, left); });
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
  if (from.meta() != to.meta()) {
    throw BadUse("cannot copy " + std::to_string(from.count) + (from.meta() ? " meta" : " real") +
                 " elements of " + std::string(name_of(from.dtype)) + " to " +
                 (to.meta() ? "meta" : "real") + " ones");
  }
  if (from.stored() > 0) {
    std::memmove(to.data, from.data, from.bytes());
  }
}

void Comm::reduce(Buffer incoming, Buffer into, ReduceOp op, Left left) {
  if (into.dtype != DType::symbol) {
    return ringside::reduce(incoming, into, op, left);
  }
  const auto [a, b] =
      left == Left::incoming ? std::pair(incoming, into) : std::pair(into, incoming);
  owner_.symbols().combine(a, b, into, op, {owner_.id(), step_});
}

void Comm::reduce_all(std::span<const Buffer> operands, std::span<const Buffer> results,
                      ReduceOp op) {
  if (operands.empty() || operands.front().dtype != DType::symbol) {
    return ringside::reduce_all(operands, results, op);
  }
  std::vector<Symbol> sum(operands.front().count);
  const Buffer total = buffer_of(std::span(sum));
  copy(operands.front(), total);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    owner_.symbols().combine(total, operands[i], total, op, {owner_.id(), step_},
                             i + 1 == operands.size());
  }
  for (const Buffer& result : results) {
    copy(total, result);
  }
}

void Comm::finish_average(Buffer into, ReduceOp op) {
  if (into.dtype != DType::symbol) {
    return ringside::finish_average(into, op, size());
  }
  if (op == ReduceOp::avg) {
    owner_.symbols().divide(into, size(), {owner_.id(), step_});
  }
}

Tensor Comm::scratch(Buffer like, Backing backing) {
  return {owner_.memory(),   like.dtype,         {like.count},
          Category::buffers, name_ + ".scratch", backing};
}

Loan Comm::lend(int to, Buffer data) {
  Loan loan(*this, to, data);
  loan.message_ = post(to, data, 0, Payload::lent, loan.departed_);
  return loan;
}

Borrowed Comm::borrow(int from, Buffer like) {
  Message& message = take(from, like, 0);
  Borrowed borrowed(*this, from, message, payload_of(message, like));
  arrived(message.envelope);
  return borrowed;
}

Shared Comm::share(Buffer data) {
  Shared shared;
  shared.views_.assign(members_.size(), data);
  for (int k = 1; k < size(); ++k) {
    shared.sends_.push_back(isend((me_ + k) % size(), data));
  }
  for (int k = 1; k < size(); ++k) {
    const int from = (me_ + size() - k) % size();
    shared.borrowed_.push_back(borrow(from, data));
    shared.views_[static_cast<std::size_t>(from)] = shared.borrowed_.back().view();
  }
  return shared;
}

}  // namespace ringside
