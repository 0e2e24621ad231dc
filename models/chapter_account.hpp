// The chapter's account of compute: 2 N' floating-point operations a token forward and 4 N'
// backward, where N' counts the parameters of the text's layers, the final norm and the head
// (Kaplan and others 2020, section 2.1: 2 N and 6 N in all). The counted account, by contrast, is
// what the layers charge for their matrix products (meta_layer.hpp).
#pragma once

#include "models/published_model.hpp"

namespace ringside {

// N': 25,624,600,064 of qwen3.8-27b. Without embedding, vision tower and prediction of more tokens.
std::size_t text_parameters(const PublishedModel& model);

// The model with costs by the chapter's account: a token costs each layer of the text one
// multiplication a parameter, and the others nothing. Throws BadUse for a mixture of experts, of
// which the chapter has no such account.
PublishedModel by_chapter_account(PublishedModel model);

}  // namespace ringside
