// Figures of section pitfalls that are measured on running jobs.
#include <algorithm>
#include <numeric>

#include "models/meta_layer.hpp"
#include "models/text.hpp"
#include "parallel/tensor_seam.hpp"
#include "runtime/launch.hpp"
#include "scenarios/figures_executed.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

// Of the text's layers: what stands beside them is not cut.
bool of_keys(std::string_view name) {
  return name.starts_with("model.language_model.") && name.ends_with(".k_proj.weight");
}

// The anchor cut over the ranks: elements of the weights that make keys, on all ranks together,
// over those of the whole model.
Executed copies_of_keys(const FigureInputs& inputs) {
  const JobOptions options{.cluster = inputs.cluster, .memory = Backing::meta};
  const auto held = run_ranks(inputs.ranks, options, [&](Rank& rank) {
    const auto seam = make_tensor_seam(rank.world(), rank.memory(), {});
    const auto model = make_meta_model({rank.memory(), rank.clock()}, inputs.anchor, DType::bf16,
                                       {rank.id(), rank.size()}, seam);
    std::int64_t elements = 0;
    for (const Parameter* p : flatten(model->layers())) {
      elements += of_keys(p->name) ? static_cast<std::int64_t>(p->value.count()) : 0;
    }
    return elements;
  });
  std::int64_t whole = 0;
  for (const PublishedLayer& layer : inputs.anchor.layers) {
    for (const PublishedTensor& tensor : layer.tensors) {
      whole += of_keys(tensor.name) ? std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                                      std::int64_t{1}, std::multiplies<>())
                                    : 0;
    }
  }
  const double copies =
      static_cast<double>(std::accumulate(held.begin(), held.end(), std::int64_t{0})) /
      static_cast<double>(whole);
  return {.mean = copies,
          .least = copies,
          .most = copies,
          .summed = "elements of k_proj on all ranks, over those of the model"};
}

// The scenario's own job: of its first step, what no device can be working.
Executed bubble_of_few_microbatches() {
  Settings s = load_scenario(find_scenario("pitfalls/few_microbatches"));
  resolve(s);
  const std::string text = builtin_text();
  const auto outcome =
      run_training({.settings = s, .options = {}}, text, reference_of(s, plan_of(s, text)));
  Time start = outcome.ranks.front().front().start;
  Time end{0};
  for (const auto& rank : outcome.ranks) {
    start = std::min(start, rank.front().start);
    end = std::max(end, rank.front().backward_end);
  }
  const Time work = s.parallel.microbatches *
                    (s.costs.forward + s.costs.input_gradient + s.costs.weight_gradient);
  const double share = static_cast<double>((end - start - work).count()) /
                       static_cast<double>((end - start).count());
  return {.mean = share,
          .least = share,
          .most = share,
          .summed = "pitfalls/few_microbatches: waiting over the modelled time of its first step"};
}

}  // namespace

std::map<std::string, Executed> executed_pitfall_figures(const FigureInputs& inputs) {
  return {{"PF04", copies_of_keys(inputs)}, {"PF05", bubble_of_few_microbatches()}};
}

}  // namespace ringside
