#include "scenarios/explain_json.hpp"

#include "scenarios/definition_sentence.hpp"
#include "scenarios/diagnosis_json.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/printed_json.hpp"

namespace ringside {

namespace {

using Json = nlohmann::ordered_json;

Json value_of(const ShownValues& values, Symbol symbol, std::size_t index) {
  if (symbol.nothing()) {
    return nullptr;
  }
  return values.style() == ValueStyle::integers ? Json(values.number(symbol))
                                                : Json(values.text(symbol, index));
}

Json json_of(const ShownValues& values, const Holdings& holds) {
  auto ranks = Json::array();
  for (const auto& rank : holds) {
    auto row = Json::array();
    for (std::size_t i = 0; i < rank.size(); ++i) {
      row.push_back(value_of(values, rank[i], i));
    }
    ranks.push_back(std::move(row));
  }
  return ranks;
}

Json json_of(const Story& story, const ShownValues& values, const ToldMessage& message) {
  auto elements = Json::array();
  auto carries = Json::array();
  for (const Symbol symbol : message.carried) {
    const Symbol first = story.expressions.leaves(symbol).front();
    elements.push_back(first.nothing() ? Json() : Json(first.index()));
    carries.push_back(value_of(values, symbol, first.nothing() ? 0 : first.index()));
  }
  return {{"src", message.src},
          {"dst", message.dst},
          {"chunk", message.chunk},
          {"elements", elements},
          {"bytes", message.bytes},
          {"link", name_of(message.link)},
          {"carries", carries},
          {"taken_in_step", message.taken.empty() ? Json() : Json(std::stoi(message.taken))}};
}

Json json_of(const Story& story, const ShownValues& values, std::size_t index) {
  const ToldStep& step = story.steps[index];
  Json json{{"step", index}, {"phase", step.phase}};
  auto& own = json["own_steps"] = Json::array();
  for (int r = 0; r < story.asked.ranks; ++r) {
    own.push_back(step.own.contains(r) ? Json(step.own.at(r)) : Json());
  }
  auto& messages = json["messages"] = Json::array();
  for (const ToldMessage& message : step.messages) {
    messages.push_back(json_of(story, values, message));
  }
  json["holds"] = json_of(values, step.holds);
  auto& changed = json["changed"] = Json::array();
  for (const auto& rank : step.changed) {
    auto& elements = changed.emplace_back(Json::array());
    for (std::size_t i = 0; i < rank.size(); ++i) {
      if (rank[i]) {
        elements.push_back(i);
      }
    }
  }
  json["sent_bytes"] = step.sent;
  json["received_bytes"] = step.received;
  json["all_sent_bytes"] = step.bytes_so_far();
  return json;
}

std::string_view verdict_of(const Story& story) {
  if (story.died) {
    return failure_of(story.died).verdict;
  }
  return story.fault.empty() ? "pass" : "fail";
}

Json head_of(const Story& story, const ShownValues& values) {
  const auto& asked = story.asked;
  return {{"verb", "explain"},
          {"verdict", verdict_of(story)},
          {"operation", asked.row.operation},
          {"algorithm", asked.row.algorithm},
          {"ranks", asked.ranks},
          {"gpus_per_node", asked.gpus_per_node == 0 ? asked.ranks : asked.gpus_per_node},
          {"count", asked.count},
          {"redop", name_of(asked.op)},
          {"root", asked.row.rooted ? asked.root : -1},
          {"element_bytes", told_element_bytes},
          {"values", values.style() == ValueStyle::integers ? "integers" : "symbols"},
          {"inputs", values.inputs()}};
}

}  // namespace

std::string json_text_of(const Story& story, const ShownValues& values, std::optional<int> only) {
  Json document = head_of(story, values);
  document["start"] = json_of(values, story.start);
  auto& steps = document["steps"] = Json::array();
  for (std::size_t s = 0; s < story.steps.size(); ++s) {
    if (!only || s == static_cast<std::size_t>(*only)) {
      steps.push_back(json_of(story, values, s));
    }
  }
  document["definition"] = definition_sentence(story.asked.call());
  document["judged"] = story.judged;
  document["wrong"] = story.wrong;
  document["fault"] = story.fault.empty() ? Json() : Json(story.fault);
  if (story.diagnosis) {
    document["diagnosis"] = json_of(*story.diagnosis);
  }
  return printed_json(document);
}

}  // namespace ringside
