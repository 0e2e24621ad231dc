#include "runtime/group_identity.hpp"

#include "runtime/errors.hpp"

namespace ringside {

namespace {

// FNV-1a (Fowler, Noll, Vo): the same on every rank without a word exchanged.
std::uint64_t hash(std::uint64_t seed, std::string_view bytes) {
  for (const char byte : bytes) {
    seed = (seed ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  }
  return seed;
}

}  // namespace

std::uint64_t identity(const std::string& name, const std::vector<int>& members) {
  const std::string_view ranks(reinterpret_cast<const char*>(members.data()),
                               members.size() * sizeof(int));
  return hash(hash(14695981039346656037U, name), ranks);
}

void check_members(const std::string& name, const std::vector<int>& members, int world) {
  std::vector<bool> seen(static_cast<std::size_t>(world));
  for (const int member : members) {
    if (member < 0 || member >= world) {
      throw BadUse("group " + name + " names rank " + std::to_string(member) +
                   ", but the job has " + std::to_string(world) + " ranks, 0 to " +
                   std::to_string(world - 1));
    }
    if (seen[static_cast<std::size_t>(member)]) {
      throw BadUse("group " + name + " names rank " + std::to_string(member) + " twice");
    }
    seen[static_cast<std::size_t>(member)] = true;
  }
}

bool same_operation(const Signature& a, const Signature& b) {
  return a.sequence == b.sequence && a.count == b.count && a.root == b.root && a.dtype == b.dtype &&
         a.reduction == b.reduction && a.operation.same(b.operation) &&
         a.algorithm.same(b.algorithm);
}

std::string text_of(const Signature& signature) {
  std::string text = std::string(signature.operation) + " (" + std::string(signature.algorithm);
  if (signature.reduction != ReduceOp::none) {
    text += ", " + std::string(name_of(signature.reduction));
  }
  text += ") #" + std::to_string(signature.sequence) + " of " + std::to_string(signature.count) +
          " " + std::string(name_of(signature.dtype));
  return signature.root < 0 ? text : text + " from root " + std::to_string(signature.root);
}

}  // namespace ringside
