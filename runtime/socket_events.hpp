// What the connections of a socket wire ask of it and tell it; all in its own thread.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/frame.hpp"
#include "runtime/received_messages.hpp"

namespace ringside {

struct OutgoingFrame {
  FrameHead head;
  const std::byte* payload = nullptr;  // read where it lies, when it is written
  std::uint64_t length = 0;
  Message* message = nullptr;  // none: not one of the rank's
};

class SocketEvents {
 public:
  // The frame is in the hands of the system, or will never be.
  virtual void written(const OutgoingFrame& frame) = 0;
  virtual void dropped(const OutgoingFrame& frame) = 0;

  // Whether a peer that says hello belongs to this job and has not said so before.
  virtual bool welcome(const FrameHeader& hello) = 0;
  virtual ReceivedMessage& room_for(std::uint64_t bytes) = 0;
  virtual void received(ReceivedMessage& message) = 0;
  virtual void damaged(ReceivedMessage& message) = 0;
  // Whether there was such a message to be acknowledged.
  virtual bool acknowledged(std::uint64_t number) = 0;

  // A connection broke. An orderly end is none of a peer that has finished.
  virtual void broken(int peer, const std::string& why) = 0;
  virtual void ended(int peer, const std::string& why) = 0;

  // No descriptor is free: gives up some that are of no use to the job.
  virtual void free_descriptors() = 0;

 protected:
  ~SocketEvents() = default;
};

}  // namespace ringside
