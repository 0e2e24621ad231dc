#include "models/published_config_keys.hpp"

#include <algorithm>
#include <array>

namespace ringside {

namespace {

// docs/models.md shows this table, line by line; a test holds the two together.
constexpr auto keys = std::to_array<std::string_view>(
    {// what the file is, and who reads it
     "auto_map", "model_type", "tokenizer_class", "transformers_version", "unsloth_fixed",
     "unsloth_version", "use_cache",
     // how numbers are kept: a checkpoint may hold scales beside the tensors of the model
     "dtype", "mamba_ssm_dtype", "quantization_config", "torch_dtype", "use_bfloat16",
     // tokens
     "bos_token_id", "eos_token_id", "image_token_id", "pad_token_id", "sep_token_id",
     "unk_token_id", "video_token_id", "vision_end_token_id", "vision_start_token_id",
     // positions are turned by angles that nobody stores, and windows only mask
     "max_position_embeddings", "max_sequence_length", "max_window_layers", "mrope_section",
     "partial_rotary_factor", "rope_interleave", "rope_parameters", "rope_scaling", "rope_theta",
     "sliding_window", "use_sliding_window",
     // functions without parameters
     "attention_dropout", "hidden_act", "hidden_dropout", "layer_norm_eps", "rms_norm_eps",
     "routed_scaling_factor", "scoring_func",
     // training, and how the weights began
     "aux_loss_alpha", "initializer_range", "norm_topk_prob", "output_router_logits",
     "router_aux_loss_coef", "seq_aux",
     // how others ran it
     "ep_size", "pretraining_tp",
     // generation
     "chunk_size_feed_forward", "diversity_penalty", "do_sample", "early_stopping",
     "length_penalty", "max_length", "min_length", "num_beam_groups", "num_beams",
     "num_return_sequences", "output_attentions", "output_hidden_states", "repetition_penalty",
     "return_dict", "temperature", "top_k", "top_p", "typical_p",
     // classes of a head that only other architectures have
     "id2label", "label2id",
     // what follows from other keys, and heads that only share out what is there
     "num_heads", "qk_head_dim"});

}  // namespace

std::span<const std::string_view> keys_without_tensors() {
  return keys;
}

bool changes_no_tensor(std::string_view key) {
  return key.starts_with('_') || std::ranges::find(keys, key) != keys.end();
}

}  // namespace ringside
