// A wire carries messages from one rank to another: shared memory inside a node, sockets between
// nodes. Modelled times do not depend on it.
#pragma once

#include <memory>

#include "runtime/message.hpp"

namespace ringside {

class Wire {
 public:
  virtual ~Wire() = default;

  // The sender's side. Takes a message whose payload stays valid while it is under way, sees that
  // it reaches the mailbox of its destination, and returns at once. Each sender's order is kept.
  // The delivery becomes free (not acknowledged: the receiver or the wire has its copy) or taken
  // (acknowledged: the receiver has taken the payload), and the sender's bell rings for taken.
  virtual void push(Message& message) = 0;

  // The receiver's side: the payload of a message from this wire has been taken. The message is
  // gone after this call.
  virtual void release(Message& message) = 0;

  // The receiver's side, of a wire inside a node: what was lent is given back in its own message,
  // whose envelope becomes `back`. The delivery becomes taken, and the lender's bell rings.
  virtual void answer(Message& lent, const Envelope& back);

  // Returns when nothing of this rank's is left inside the wire.
  virtual void flush() {}
};

}  // namespace ringside
