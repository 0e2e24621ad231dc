// Every operation by its definition, computed without any rank: what a call must leave behind, and
// the one function that judges an algorithm, built in or planted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/barrier.hpp"
#include "runtime/comm.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

struct Call {
  std::string_view operation;
  std::size_t count = 0;
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::none;
  int root = 0;

  std::string text() const {
    return std::string(operation) + " of " + std::to_string(count) + " " +
           std::string(name_of(dtype)) + ", " + std::string(name_of(op)) + ", root " +
           std::to_string(root);
  }
};

using RunCall = std::function<void(Comm&, Buffer data, Buffer out)>;

// Small whole numbers, exact in every type and sum, without a pattern in rank or place.
inline std::int64_t number(const Call& call, int rank, std::size_t i) {
  auto mixed = static_cast<std::uint64_t>(i) * 8 + static_cast<std::uint64_t>(rank) + 1;
  mixed = (mixed ^ (mixed >> 4)) * 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9U >> 33;
  const bool negative = call.dtype != DType::u8;
  if (call.op == ReduceOp::prod && size_of(call.dtype) == 2) {
    return mixed % 4 == 0 ? -1 : static_cast<std::int64_t>(1 + mixed % 2);  // exact in 8 bits
  }
  if (call.op == ReduceOp::prod) {
    return negative && mixed % 4 == 0 ? -1 : static_cast<std::int64_t>(1 + mixed % 3);
  }
  return static_cast<std::int64_t>(mixed % 23) - (negative ? 11 : 0);
}

// Where chunk `index` starts: the first n mod p chunks have one element more.
inline std::size_t chunk_start(std::size_t n, int p, int index) {
  std::size_t start = 0;
  for (int c = 0; c < index; ++c) {
    start += n / static_cast<std::size_t>(p);
    start += static_cast<std::size_t>(c) < n % static_cast<std::size_t>(p) ? 1U : 0U;
  }
  return start;
}

template <class T>
T reduction(const Call& call, int p, std::size_t i) {
  std::int64_t result = number(call, 0, i);
  for (int r = 1; r < p; ++r) {
    const std::int64_t value = number(call, r, i);
    result = call.op == ReduceOp::prod  ? result * value
             : call.op == ReduceOp::min ? std::min(result, value)
             : call.op == ReduceOp::max ? std::max(result, value)
                                        : result + value;
  }
  using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
  const Wide total = static_cast<Wide>(result);
  return call.op == ReduceOp::avg ? static_cast<T>(total / static_cast<Wide>(p))
                                  : static_cast<T>(total);
}

template <class T>
T element(std::int64_t value) {
  if constexpr (sizeof(T) == 2) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// The chunk that a rank gives to an operation, or gets from it: all, unless it is its own only.
inline bool gives_own_chunk(const Call& call) {
  return call.operation == "all_gather" || call.operation == "gather";
}

constexpr int untouched = 77;  // what no operation may change, and what it must overwrite

template <class T>
std::vector<T> input(const Call& call, int p, int rank) {
  std::vector<T> data(call.count, element<T>(untouched));
  const bool own_chunk = gives_own_chunk(call);
  const std::size_t first = own_chunk ? chunk_start(call.count, p, rank) : 0;
  const std::size_t last = own_chunk ? chunk_start(call.count, p, rank + 1) : call.count;
  for (std::size_t i = first; i < last; ++i) {
    data[i] = element<T>(number(call, rank, i));
  }
  return data;
}

// What `data` (all_to_all: `out`) holds afterwards; `judged` says from where to where it is stated.
template <class T>
std::vector<T> result(const Call& call, int p, int rank) {
  std::vector<T> data(call.count);
  const std::size_t each = call.count / static_cast<std::size_t>(p);
  int owner = 0;
  for (std::size_t i = 0; i < call.count; ++i) {
    while (i >= chunk_start(call.count, p, owner + 1)) {
      ++owner;
    }
    const bool root = rank == call.root;
    if (call.operation == "all_reduce" || call.operation == "reduce_scatter" ||
        (call.operation == "reduce" && root)) {
      data[i] = reduction<T>(call, p, i);
    } else if (call.operation == "all_gather" || (call.operation == "gather" && root)) {
      data[i] = element<T>(number(call, owner, i));
    } else if (call.operation == "gather") {
      data[i] = element<T>(owner == rank ? number(call, rank, i) : untouched);
    } else if (call.operation == "all_to_all") {
      data[i] = element<T>(
          number(call, owner, static_cast<std::size_t>(rank) * each + i % std::max(each, 1UL)));
    } else if (call.operation == "broadcast" || (call.operation == "scatter" && owner == rank)) {
      data[i] = element<T>(number(call, call.root, i));
    } else {  // barrier, and what rooted operations leave as it was
      data[i] = element<T>(number(call, rank, i));
    }
  }
  return data;
}

template <class T>
std::string text(T value) {
  if constexpr (sizeof(T) == 2) {
    return std::to_string(static_cast<float>(value));
  } else {
    return std::to_string(value);
  }
}

template <class T>
std::string first_difference(const Call& call, Comm& comm, std::span<const T> got) {
  const int rank = comm.rank();
  const bool own_chunk = call.operation == "reduce_scatter";
  const int p = comm.size();
  const std::size_t first = own_chunk ? chunk_start(call.count, p, rank) : 0;
  const std::size_t last = own_chunk ? chunk_start(call.count, p, rank + 1) : call.count;
  const auto expected = result<T>(call, p, rank);
  for (std::size_t i = first; i < last; ++i) {
    if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0) {
      return call.text() + ": rank " + std::to_string(rank) + " of " + std::to_string(p) + " has " +
             text(got[i]) + " at element " + std::to_string(i) + ", not " + text(expected[i]);
    }
  }
  return "";
}

// `data` between two elements that nobody may touch.
template <class T>
struct Guarded {
  Guarded(Rank& rank, const Call& call, const std::vector<T>& values)
      : tensor(rank.memory(), call.dtype, {call.count + 2}, Category::buffers, "guarded") {
    auto elements = tensor.as<T>();
    elements.front() = elements.back() = element<T>(untouched);
    std::copy(values.begin(), values.end(), elements.begin() + 1);
  }

  Buffer buffer() const { return tensor.buffer().slice(1, tensor.count() - 2); }

  bool intact() const {
    return tensor.as<T>().front() == element<T>(untouched) &&
           tensor.as<T>().back() == element<T>(untouched);
  }

  Tensor tensor;
};

template <class T>
std::string judge_as(Comm& comm, const Call& call, const RunCall& run) {
  const auto before = input<T>(call, comm.size(), comm.rank());
  const Guarded<T> data(comm.owner(), call, before);
  const Guarded<T> out(comm.owner(), call, std::vector<T>(call.count, element<T>(untouched)));
  run(comm, data.buffer(), out.buffer());
  if (!data.intact() || !out.intact()) {
    return call.text() + ": rank " + std::to_string(comm.rank()) + " wrote past the end";
  }
  const bool moved = call.operation == "all_to_all";
  const auto kept = data.buffer().template as<T>();
  if (moved && !std::equal(kept.begin(), kept.end(), before.begin())) {
    return call.text() + ": the input was changed";
  }
  return first_difference<T>(call, comm, (moved ? out : data).buffer().template as<T>());
}

// Messages of operations before this one, which nobody has received. (Ranks that are ahead may have
// sent theirs of the next barrier.)
inline std::size_t left_over(Comm& comm) {
  const auto messages = comm.owner().endpoint().unreceived();
  return static_cast<std::size_t>(std::count_if(
      messages.begin(), messages.end(),
      [](const Envelope& e) { return std::string_view(e.signature.operation) != "barrier"; }));
}

// Runs an algorithm on known numbers; "" when this rank ends with what the definition says, the
// first fault otherwise. Inside a node, also that no message is left that nobody received: between
// two barriers, when all of the operation has come and nothing of the next one has.
inline std::string judge(Comm& comm, const Call& call, const RunCall& run) {
  std::string fault;
  switch (call.dtype) {
    case DType::f32:
      fault = judge_as<float>(comm, call, run);
      break;
    case DType::f64:
      fault = judge_as<double>(comm, call, run);
      break;
    case DType::bf16:
      fault = judge_as<Bf16>(comm, call, run);
      break;
    case DType::f16:
      fault = judge_as<F16>(comm, call, run);
      break;
    case DType::symbol:
      fault = "symbols are proved, not judged by numbers";
      break;
    case DType::i32:
      fault = judge_as<std::int32_t>(comm, call, run);
      break;
    case DType::i64:
      fault = judge_as<std::int64_t>(comm, call, run);
      break;
    case DType::u8:
      fault = judge_as<std::uint8_t>(comm, call, run);
      break;
  }
  if (comm.owner().cluster().nodes(comm.owner().size()) > 1) {
    return fault;
  }
  barrier(comm);
  if (fault.empty() && left_over(comm) > 0) {
    fault = call.text() + ": a message was left that nobody received";
  }
  barrier(comm);
  return fault;
}

}  // namespace ringside
