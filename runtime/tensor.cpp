#include "runtime/tensor.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/errors.hpp"

namespace ringside {

struct Tensor::Storage {
  Storage(DeviceMemory& memory_of, std::size_t size, Category kind, std::string_view name,
          Backing backing)
      : memory(memory_of),
        bytes(size),
        category(kind),
        data(memory.allocate(bytes, category, name, backing)) {
    if (data != nullptr) {
      std::memset(data, 0, bytes);
    }
  }

  ~Storage() { memory.release(data, bytes, category); }

  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  DeviceMemory& memory;
  std::size_t bytes;
  Category category;
  std::byte* data;
  std::string in_flight;
};

namespace {

// Elements of a shape; throws BadUse where their bytes cannot be counted.
std::size_t product(const std::vector<std::size_t>& shape, const std::string& name) {
  constexpr std::size_t most = std::numeric_limits<std::int64_t>::max() / 8;
  std::size_t count = 1;
  for (const auto extent : shape) {
    if (extent == 0) {
      return 0;
    }
    count = count > most / extent ? most + 1 : count * extent;
  }
  if (count > most) {
    std::string text;
    for (const auto extent : shape) {
      text += (text.empty() ? "" : " x ") + std::to_string(extent);
    }
    throw BadUse("tensor \"" + name + "\" would have " + text + " elements, more than " +
                 std::to_string(most));
  }
  return count;
}

}  // namespace

Tensor::Tensor(DeviceMemory& memory, DType dtype, std::vector<std::size_t> shape, Category category,
               std::string name)
    : Tensor(memory, dtype, std::move(shape), category, std::move(name), memory.backing()) {}

Tensor::Tensor(DeviceMemory& memory, DType dtype, std::vector<std::size_t> shape, Category category,
               std::string name, Backing backing)
    : count_(product(shape, name)),
      shape_(std::move(shape)),
      dtype_(dtype),
      name_(std::move(name)) {
  storage_ = std::make_shared<Storage>(memory, bytes(), category, name_, backing);
}

Tensor Tensor::view(std::size_t first, std::vector<std::size_t> shape, std::string name) const {
  Tensor part = *this;
  part.first_ = first_ + first;
  part.count_ = product(shape, name);
  if (first > count_ || part.count_ > count_ - first) {
    throw BadUse("tensor \"" + name_ + "\" has " + std::to_string(count_) +
                 " elements: there is no view of " + std::to_string(part.count_) + " from " +
                 std::to_string(first));
  }
  part.shape_ = std::move(shape);
  part.name_ = std::move(name);
  return part;
}

bool Tensor::meta() const {
  return storage_ && storage_->data == nullptr;
}

void Tensor::require_elements() const {
  if (meta()) {
    throw BadUse("tensor \"" + name_ +
                 "\" is meta: it has a shape and a type, and no elements to "
                 "read or write. Only real device memory stores them");
  }
}

Buffer Tensor::buffer() const {
  if (!storage_) {
    throw BadUse("a tensor without storage was touched");
  }
  if (!storage_->in_flight.empty()) {
    throw BadUse("tensor \"" + name_ + "\" is in flight in " + storage_->in_flight +
                 ": wait() for that work before touching it");
  }
  std::byte* data = storage_->data;
  return {data == nullptr ? nullptr : data + first_ * size_of(dtype_), count_, dtype_};
}

void Tensor::mark_in_flight(std::string operation) const {
  storage_->in_flight = std::move(operation);
}

}  // namespace ringside
