#include "runtime/received_messages.hpp"

#include <bit>
#include <new>

namespace ringside {

namespace {

constexpr std::size_t line = 64;
constexpr std::size_t payload_at = (sizeof(ReceivedMessage) + line - 1) / line * line;
constexpr std::size_t page = 4096;
constexpr std::size_t most_spare = 64UL << 20;

std::size_t capacity_for(std::size_t bytes) {
  return bytes == 0 ? 0 : bytes < page ? std::bit_ceil(bytes) : (bytes + page - 1) / page * page;
}

}  // namespace

ReceivedMessages::~ReceivedMessages() {
  while (!all_.empty()) {
    destroy(*all_.back());
  }
}

ReceivedMessage& ReceivedMessages::make(std::size_t bytes) {
  const std::size_t capacity = capacity_for(bytes);
  const std::scoped_lock lock(mutex_);
  const auto spare = spare_.lower_bound(capacity);
  if (spare != spare_.end() && spare->first <= 2 * capacity) {
    ReceivedMessage& message = *spare->second;
    spare_bytes_ -= spare->first;
    spare_.erase(spare);
    return message;
  }
  all_.reserve(all_.size() + 1);
  void* memory = ::operator new(payload_at + capacity, std::align_val_t(line));
  auto* message = new (memory) ReceivedMessage;
  message->payload = static_cast<std::byte*>(memory) + payload_at;
  message->capacity = capacity;
  message->place = all_.size();
  all_.push_back(message);
  return *message;
}

void ReceivedMessages::give_back(ReceivedMessage& message) {
  const std::scoped_lock lock(mutex_);
  if (spare_bytes_ + message.capacity > most_spare) {
    destroy(message);
    return;
  }
  spare_bytes_ += message.capacity;
  spare_.emplace(message.capacity, &message);
}

void ReceivedMessages::destroy(ReceivedMessage& message) {
  all_[message.place] = all_.back();
  all_[message.place]->place = message.place;
  all_.pop_back();
  message.~ReceivedMessage();
  ::operator delete(&message, std::align_val_t(line));
}

}  // namespace ringside
