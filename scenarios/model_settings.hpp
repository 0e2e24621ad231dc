// The model that a scenario's settings describe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "models/model_config.hpp"
#include "models/published_model.hpp"
#include "models/recompute.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// Throws BadUse for a published model: nothing of it can be computed.
ModelConfig model_of(const Settings& settings);

// Whether it is a published model, which runs on meta memory.
bool at_true_scale(const Settings& settings);

// Whether the model is a mixture of experts that is computed with.
bool has_experts(const Settings& settings);

// The published model of model.config, as resolve() had it read.
const PublishedModel& counted_model_of(const Settings& settings);

// The same with the costs of costs.account.
PublishedModel published_model_of(const Settings& settings);

// The same scenario by the other account; none where the chapter has none, for experts.
std::optional<Settings> by_other_account(Settings settings);

Recompute recompute_of(const Settings& settings);

// Of weights and gradients.
DType element_type(const Settings& settings);

// Elements of every trained tensor, by layer in forward order.
std::vector<std::vector<std::size_t>> tensor_counts_of(const Settings& settings);
// Of the part that each rank has under parallel.tp, padding included. Throws BadUse where its ranks
// cannot share a tensor.
std::vector<std::vector<std::size_t>> part_counts_of(const Settings& settings);

// Bytes before the predicted one that a row of a batch has: a GPT sees the others by attention.
std::size_t context_of(const Settings& settings);

// Throws BadUse, with the numbers, for a model that cannot be made, or is too large to be trained
// here.
void check_model(const Settings& settings);

// "MLP", "GPT", "qwen3.8-27b".
std::string kind_name(const Settings& settings);

}  // namespace ringside
