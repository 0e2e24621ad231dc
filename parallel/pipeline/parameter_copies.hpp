// Parameters of which several devices of a pipeline have a copy: a tied table, of which the head
// has its own on the last stage, and with DualPipe, where every stage lives on two devices, all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/parameter.hpp"
#include "parallel/pipeline/schedule.hpp"
#include "runtime/comm.hpp"

namespace ringside {

class ParameterCopies {
 public:
  // `group`: the devices of the pipeline, of which every one makes this; it outlives it. `tied`:
  // the first and the last stage share the table.
  ParameterCopies(Comm& group, const Schedule& schedule, bool tied, std::string all_reduce);

  // The gradients of copies, whole or in pieces, become the sums over all copies. After the step's
  // last send: cross-stage operations before it could wait for each other.
  void sum_gradients(const std::vector<Parameter*>& parameters);

  // The devices that have the same stages; null: no other has.
  Comm* devices() const { return all_ ? holders_.get() : nullptr; }

  // Whether the parameter counts on this device: in the norm each counts once.
  bool counts_here(const Parameter& parameter) const;

 private:
  bool has_copies(const Parameter& parameter) const;

  std::string all_reduce_;
  bool all_ = false;               // all parameters have copies, not only the tied table
  std::unique_ptr<Comm> holders_;  // none: there are no copies of what is here
};

}  // namespace ringside
