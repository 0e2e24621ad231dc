#include "runtime/wait_record.hpp"

namespace ringside {

std::string text_of(const WaitRecord& what) {
  const std::string_view kind = what.kind;
  if (kind == "finish") {
    return "finish: its function has returned, and waits for the others";
  }
  const bool sends = kind == "send";
  std::string text(kind);
  if (what.peer >= 0) {
    text += (sends ? " to rank " : " from rank ") + std::to_string(what.peer);
  }
  if (const std::string_view group = what.group; !group.empty()) {
    text += " in group " + std::string(group);
  }
  if (const std::string_view operation = what.operation; !operation.empty()) {
    text += ", " + std::string(operation) + " (" + std::string(what.algorithm) + ") #" +
            std::to_string(what.sequence) + ", step " + std::to_string(what.step);
  } else if (what.peer >= 0) {
    text += ", tag " + std::to_string(what.tag);
  }
  if (what.peer >= 0) {
    text += ", " + to_string(Bytes{static_cast<std::int64_t>(what.bytes)});
  }
  return sends ? text + ": no receive was posted" : text;
}

}  // namespace ringside
