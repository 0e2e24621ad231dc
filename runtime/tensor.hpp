// A tensor in device memory: shape, type, storage. Views share the storage. A meta tensor has all
// of these but the elements: its bytes are in the ledger, and nothing is stored.
//
// A tensor whose collective was launched and not waited for is in flight: touching it is an error
// that names the missing wait.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/device_memory.hpp"

namespace ringside {

class Tensor {
 public:
  Tensor() = default;
  // Zero-filled, or meta when the memory is.
  Tensor(DeviceMemory& memory, DType dtype, std::vector<std::size_t> shape, Category category,
         std::string name);
  Tensor(DeviceMemory& memory, DType dtype, std::vector<std::size_t> shape, Category category,
         std::string name, Backing backing);

  // Elements [first, first + product of shape) of this tensor, in the same storage.
  Tensor view(std::size_t first, std::vector<std::size_t> shape, std::string name) const;

  const std::vector<std::size_t>& shape() const { return shape_; }

  std::size_t count() const { return count_; }

  std::size_t bytes() const { return count_ * size_of(dtype_); }

  DType dtype() const { return dtype_; }

  const std::string& name() const { return name_; }

  explicit operator bool() const { return storage_ != nullptr; }

  // Whether there are no elements behind it.
  bool meta() const;

  // The elements. Throws BadUse while the storage is in flight.
  Buffer buffer() const;

  // Throws BadUse of a meta tensor too.
  template <class T>
  std::span<T> as() const {
    require_elements();
    return buffer().as<T>();
  }

  // Marks the whole storage as in flight under `operation`; an empty text clears the mark.
  void mark_in_flight(std::string operation) const;

 private:
  void require_elements() const;

  struct Storage;
  std::shared_ptr<Storage> storage_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::vector<std::size_t> shape_;
  DType dtype_ = DType::f32;
  std::string name_;
};

}  // namespace ringside
