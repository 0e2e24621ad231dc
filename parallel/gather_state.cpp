#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <sstream>

#include "parallel/full_state.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::size_t product(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// ---- what a rank has, in words for rank 0 ------------------------------------------------------

void write(std::ostream& out, const std::vector<std::size_t>& shape) {
  out << shape.size();
  for (const std::size_t extent : shape) {
    out << ' ' << extent;
  }
  out << ' ';
}

std::vector<std::size_t> read_shape(std::istream& in) {
  std::size_t dimensions = 0;
  in >> dimensions;
  std::vector<std::size_t> shape(dimensions);
  for (std::size_t& extent : shape) {
    in >> extent;
  }
  return shape;
}

std::string described(const std::vector<StatePart>& parts) {
  std::ostringstream out;
  for (const auto& [name, data, piece] : parts) {
    out << name << ' ' << name_of(data.dtype) << ' ' << data.count << ' ' << piece.first << ' '
        << piece.layout.dimension << ' ' << piece.layout.first << ' ';
    write(out, piece.shape);
    write(out, piece.layout.whole);
    out << '\n';
  }
  return out.str();
}

std::vector<StatePart> parts_in(const std::string& description) {
  std::istringstream in(description);
  std::vector<StatePart> parts;
  StatePart part;
  std::string dtype;
  while (in >> part.name >> dtype >> part.data.count >> part.piece.first >>
         part.piece.layout.dimension >> part.piece.layout.first) {
    part.data.dtype = parse_dtype(dtype);
    part.piece.shape = read_shape(in);
    part.piece.layout.whole = read_shape(in);
    parts.push_back(part);
  }
  return parts;
}

// ---- rank 0 ------------------------------------------------------------------------------------

class Assembly {
 public:
  void add(const StatePart& part, int rank);
  NamedTensors take();

 private:
  NamedTensors state_;
  std::map<std::string, std::vector<bool>> filled_;
};

void Assembly::add(const StatePart& part, int rank) {
  const auto [entry, first_seen] =
      state_.try_emplace(part.name, HostTensor{part.data.dtype, part.whole(), {}});
  HostTensor& tensor = entry->second;
  std::vector<bool>& filled = filled_[part.name];
  const std::size_t size = size_of(tensor.dtype);
  if (first_seen) {
    filled.resize(product(tensor.shape));
    tensor.bytes.resize(filled.size() * size);
  } else if (tensor.shape != part.whole() || tensor.dtype != part.data.dtype) {
    throw BadUse("tensor \"" + part.name + "\" is " + text_of(tensor.shape) +
                 " on the ranks before rank " + std::to_string(rank) + ", but " +
                 text_of(part.whole()) + " there: all ranks must cut one model");
  }
  for (std::size_t i = 0; i < part.data.count; ++i) {
    const auto place = place_in_whole(part, i);
    if (!place) {
      continue;
    }
    std::byte* const there = tensor.bytes.data() + *place * size;
    const std::byte* const here = part.data.data + i * size;
    if (filled.at(*place) && std::memcmp(there, here, size) != 0) {
      throw BadUse("tensor \"" + part.name + "\": element " + std::to_string(*place) +
                   " has other bits on rank " + std::to_string(rank) +
                   " than on a rank before it: copies must be equal; look at what reduces their "
                   "gradients");
    }
    std::memcpy(there, here, size);
    filled[*place] = true;
  }
}

NamedTensors Assembly::take() {
  for (const auto& [name, filled] : filled_) {
    const auto missing = std::count(filled.begin(), filled.end(), false);
    if (missing > 0) {
      throw BadUse("tensor \"" + name + "\": " + std::to_string(missing) + " of its " +
                   std::to_string(filled.size()) +
                   " elements are on no rank: every rank must give all parts that it has");
    }
  }
  return std::move(state_);
}

void receive_from(Comm& group, int rank, Assembly& assembly) {
  std::int64_t length = 0;
  group.recv(rank, buffer_of(std::span(&length, 1)));
  std::vector<std::uint8_t> description(static_cast<std::size_t>(length));
  group.recv(rank, buffer_of(std::span(description)));
  for (StatePart& part : parts_in({description.begin(), description.end()})) {
    std::vector<std::byte> elements(part.data.bytes());
    part.data.data = elements.data();
    group.recv(rank, part.data);
    assembly.add(part, group.world_rank(rank));
  }
}

void send_to_first(Comm& group, const std::vector<StatePart>& parts) {
  const std::string text = described(parts);
  std::vector<std::uint8_t> description(text.begin(), text.end());
  auto length = static_cast<std::int64_t>(description.size());
  group.send(0, buffer_of(std::span(&length, 1)));
  group.send(0, buffer_of(std::span(description)));
  for (const StatePart& part : parts) {
    group.send(0, part.data);
  }
}

}  // namespace

NamedTensors gather_state(Comm& group, const std::vector<StatePart>& parts) {
  if (group.rank() != 0) {
    send_to_first(group, parts);
    return {};
  }
  Assembly assembly;
  for (const StatePart& part : parts) {
    assembly.add(part, group.world_rank(0));
  }
  for (int rank = 1; rank < group.size(); ++rank) {
    receive_from(group, rank, assembly);
  }
  return assembly.take();
}

}  // namespace ringside
