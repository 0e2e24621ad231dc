#include "models/state_part.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include "models/layout_parts.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

PieceOf piece_of(const Parameter& parameter) {
  return parameter.piece.value_or(
      PieceOf{.shape = parameter.value.shape(), .layout = parameter.layout});
}

std::string measures(DType dtype, const std::vector<std::size_t>& shape) {
  return std::string(name_of(dtype)) + " " + text_of(shape);
}

const HostTensor& tensor_of(const NamedTensors& state, const StatePart& part,
                            const std::string& where) {
  const auto found = state.find(part.name);
  if (found == state.end()) {
    throw BadUse(where + ": there is no tensor \"" + part.name + "\" of " +
                 measures(part.data.dtype, part.whole()) + " among its " +
                 std::to_string(state.size()) +
                 ": give the state of this very model and optimizer");
  }
  const HostTensor& tensor = found->second;
  if (tensor.dtype != part.data.dtype || tensor.shape != part.whole()) {
    throw BadUse(where + ": tensor \"" + part.name + "\" is " +
                 measures(tensor.dtype, tensor.shape) + ", but this model needs " +
                 measures(part.data.dtype, part.whole()) + ": give the state of this very model");
  }
  return tensor;
}

}  // namespace

std::optional<std::size_t> place_in_whole(const StatePart& part, std::size_t i) {
  return place_in_whole(part.piece.layout, part.piece.shape, part.piece.first + i);
}

std::vector<StatePart> weight_parts(const std::vector<Parameter*>& parameters) {
  std::vector<StatePart> parts;
  for (const Parameter* p : parameters) {
    if (p->value) {
      parts.push_back({p->name, p->value.buffer(), piece_of(*p)});
    }
  }
  return parts;
}

std::vector<StatePart> optimizer_parts(Optimizer& optimizer) {
  std::vector<StatePart> parts;
  for (const OptimizerState& state : optimizer.state()) {
    for (const Tensor& tensor : state.tensors) {
      parts.push_back({tensor.name(), tensor.buffer(), piece_of(*state.parameter)});
    }
    parts.push_back(
        {state.parameter->name + ".step", buffer_of(std::span(state.steps, 1)), PieceOf{}});
  }
  return parts;
}

NamedTensors whole_state(const std::vector<StatePart>& parts) {
  NamedTensors state;
  for (const StatePart& part : parts) {
    const std::span bytes(part.data.data, part.data.bytes());
    state[part.name] = {part.data.dtype, part.whole(), {bytes.begin(), bytes.end()}};
  }
  return state;
}

void load_parts(const NamedTensors& state, const std::vector<StatePart>& parts,
                const std::string& where) {
  for (const StatePart& part : parts) {
    const HostTensor& tensor = tensor_of(state, part, where);
    const std::size_t size = size_of(tensor.dtype);
    for (std::size_t i = 0; i < part.data.count; ++i) {
      std::byte* element = part.data.data + i * size;
      if (const auto place = place_in_whole(part, i)) {
        std::memcpy(element, tensor.bytes.data() + *place * size, size);
      } else {
        std::memset(element, 0, size);
      }
    }
  }
}

void refuse_unknown_names(const NamedTensors& state, const std::vector<StatePart>& parts,
                          const std::string& where) {
  std::set<std::string> known;
  for (const StatePart& part : parts) {
    known.insert(part.name);
  }
  for (const auto& [name, tensor] : state) {
    if (!known.contains(name)) {
      throw BadUse(where + ": nothing in this model and its optimizer is called \"" + name +
                   "\" (" + measures(tensor.dtype, tensor.shape) + "; the file has " +
                   std::to_string(state.size()) + " tensors, this training " +
                   std::to_string(known.size()) +
                   "): give the state of this very model and optimizer");
    }
  }
}

}  // namespace ringside
