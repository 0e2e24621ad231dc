#include "models/chapter_account.hpp"

#include "runtime/errors.hpp"

namespace ringside {

namespace {

bool of_text(const PublishedLayer& layer) {
  return layer.kind != LayerKind::embedding && layer.kind != LayerKind::vision &&
         layer.kind != LayerKind::prediction;
}

// A tied head multiplies with the table too.
bool counts(const PublishedLayer& layer, const PublishedTensor& tensor) {
  return of_text(layer) && (tensor.trained || !tensor.stored);
}

}  // namespace

std::size_t text_parameters(const PublishedModel& model) {
  std::size_t sum = 0;
  for (const PublishedLayer& layer : model.layers) {
    for (const PublishedTensor& tensor : layer.tensors) {
      sum += counts(layer, tensor) ? tensor.count() : 0;
    }
  }
  return sum;
}

PublishedModel by_chapter_account(PublishedModel model) {
  if (model.config.experts) {
    throw BadUse("the chapter's account of compute counts every parameter of the text, but " +
                 model.config.name +
                 " sends a token to some of its experts: take costs.account = counted");
  }
  for (PublishedLayer& layer : model.layers) {
    for (PublishedTensor& tensor : layer.tensors) {
      tensor.products = counts(layer, tensor) ? tensor.count() : 0;
    }
  }
  return model;
}

}  // namespace ringside
