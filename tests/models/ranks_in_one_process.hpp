// A cut model without communication: its ranks are threads, and the seam adds up what they hold.
#pragma once

#include <barrier>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "models/seam.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {

struct MeetingPlace {
  explicit MeetingPlace(int ranks) : barrier(ranks), tensors(static_cast<std::size_t>(ranks)) {}

  std::barrier<> barrier;
  std::vector<Tensor> tensors;
};

// All-reduce in rank order, at enter_backward and leave: Megatron-LM's f and g.
class SummingSeam : public Seam {
 public:
  SummingSeam(MeetingPlace& place, int rank, DeviceMemory& memory)
      : place_(place), rank_(static_cast<std::size_t>(rank)), memory_(memory) {}

  Tensor enter_backward(Tensor partial_grad, std::string_view /*label*/) override {
    return sum(partial_grad);
  }

  Tensor leave(Tensor partial, std::string_view /*label*/) override { return sum(partial); }

  void largest_over_vocabulary(const Tensor& values, std::string_view /*label*/) override {
    combine(values, [](double a, double b) { return std::max(a, b); });
  }

  void sum_over_vocabulary(const Tensor& values, std::string_view /*label*/) override {
    combine(values, std::plus<>());
  }

 protected:
  Tensor sum(const Tensor& part) {
    Tensor copy(memory_, DType::f64, part.shape(), Category::activations, "sum");
    std::ranges::copy(part.as<double>(), copy.as<double>().begin());
    combine(copy, std::plus<>());
    return copy;
  }

  // The rows of all ranks, one after the other.
  Tensor gather(const Tensor& part) {
    place_.tensors[rank_] = part;
    place_.barrier.arrive_and_wait();
    std::vector<double> rows;
    for (const Tensor& tensor : place_.tensors) {
      const auto elements = tensor.as<double>();
      rows.insert(rows.end(), elements.begin(), elements.end());
    }
    place_.barrier.arrive_and_wait();
    return made(rows, part.shape().back());
  }

  // This rank's rows: the first ranks have one more where they do not divide.
  Tensor rows_of_rank(const Tensor& whole) {
    const std::size_t rows = whole.shape().front();
    const std::size_t ranks = place_.tensors.size();
    const auto first = [&](std::size_t rank) {
      return rank * (rows / ranks) + std::min(rank, rows % ranks);
    };
    const std::size_t width = whole.shape().back();
    const auto mine =
        whole.as<double>().subspan(first(rank_) * width, (first(rank_ + 1) - first(rank_)) * width);
    return made({mine.begin(), mine.end()}, width);
  }

 private:
  Tensor made(const std::vector<double>& elements, std::size_t width) {
    Tensor tensor(memory_, DType::f64, {elements.size() / width, width}, Category::activations,
                  "rows");
    std::ranges::copy(elements, tensor.as<double>().begin());
    return tensor;
  }

  template <class Op>
  void combine(const Tensor& mine, Op op) {
    place_.tensors[rank_] = mine;
    place_.barrier.arrive_and_wait();
    auto all = copy_of<double>(place_.tensors.front());
    for (std::size_t r = 1; r < place_.tensors.size(); ++r) {
      std::ranges::transform(all, place_.tensors[r].as<double>(), all.begin(), op);
    }
    place_.barrier.arrive_and_wait();
    std::ranges::copy(all, mine.as<double>().begin());
  }

  MeetingPlace& place_;
  std::size_t rank_;
  DeviceMemory& memory_;
};

// With sequence parallelism: outside the seams a rank has a part of the tokens (Korthikanti et al.
// 2022, section 4.2.2).
class SequenceSeam : public SummingSeam {
 public:
  using SummingSeam::SummingSeam;

  Tensor enter(Tensor x, std::size_t /*tokens*/, std::string_view /*label*/) override {
    return gather(x);
  }

  Tensor enter_backward(Tensor partial_grad, std::string_view /*label*/) override {
    return rows_of_rank(sum(partial_grad));
  }

  Tensor leave(Tensor partial, std::string_view /*label*/) override {
    return rows_of_rank(sum(partial));
  }

  Tensor leave_backward(Tensor grad, std::size_t /*tokens*/, std::string_view /*label*/) override {
    return gather(grad);
  }
};

// fn(rank, its device, its seam), all at once.
template <class SeamKind = SummingSeam>
void run_cut(int ranks, const std::function<void(int, SingleDevice&, std::shared_ptr<Seam>)>& fn) {
  MeetingPlace place(ranks);
  std::vector<std::unique_ptr<SingleDevice>> devices;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    devices.push_back(std::make_unique<SingleDevice>());
    threads.emplace_back([&, r, d = devices.back().get()] {
      fn(r, *d, std::make_shared<SeamKind>(place, r, d->memory));
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  place.tensors.clear();
}

}  // namespace ringside
