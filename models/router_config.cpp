#include "models/router_config.hpp"

#include <string>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

using std::to_string;

void require_groups(const RouterConfig& c, std::size_t experts, std::size_t top_k) {
  if (c.groups == 0 || experts % c.groups != 0) {
    throw BadUse("experts = " + to_string(experts) + " cannot be cut into " + to_string(c.groups) +
                 " groups: router_groups must divide the experts");
  }
  const std::size_t eligible = c.top_groups * (experts / c.groups);
  if (c.top_groups > c.groups) {
    throw BadUse("router_top_groups = " + to_string(c.top_groups) + " of router_groups = " +
                 to_string(c.groups) + ": it may be 0 (no limit) to " + to_string(c.groups));
  }
  if (c.top_groups > 0 && eligible < top_k) {
    throw BadUse("a token that goes to " + to_string(c.top_groups) + " of " + to_string(c.groups) +
                 " groups chooses among " + to_string(eligible) + " experts, but top_k is " +
                 to_string(top_k) + " and there are " + to_string(experts) + " experts");
  }
}

}  // namespace

void require_usable(const RouterConfig& c, std::size_t experts, std::size_t top_k) {
  if (top_k < 1 || top_k > experts) {
    throw BadUse("top_k = " + to_string(top_k) + " experts cannot be chosen of " +
                 to_string(experts) + ": top_k may be 1 to " + to_string(experts));
  }
  require_groups(c, experts, top_k);
  if (c.capacity < 0 || c.balance < 0 || c.bias_rate < 0) {
    throw BadUse("capacity, balance and bias_rate of a router must not be below 0; they are " +
                 to_string(c.capacity) + ", " + to_string(c.balance) + " and " +
                 to_string(c.bias_rate));
  }
  if (c.hot > experts) {
    throw BadUse("hot = " + to_string(c.hot) + " of experts = " + to_string(experts) +
                 ": it may be 0 to " + to_string(experts));
  }
}

}  // namespace ringside
