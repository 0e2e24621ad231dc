#include "scenarios/own_part.hpp"

#include <map>

#include "models/gpt.hpp"
#include "models/layout_parts.hpp"

namespace ringside {

std::vector<std::size_t> places_in_whole(const TrainingPlan& plan, Model& model) {
  DeviceMemory nothing(1 << 20, Backing::meta);
  ComputeClock clock;
  const auto whole = make_gpt({nothing, clock}, std::get<GptConfig>(plan.model), 0);
  std::map<std::string, std::size_t> place;
  for (const Parameter* p : flatten(whole->layers())) {
    place.emplace(p->name, place.size());
  }
  std::vector<std::size_t> places;
  for (const Parameter* p : flatten(model.layers())) {
    places.push_back(place.at(p->name));
  }
  return places;
}

TensorValues cut(const std::vector<PieceOf>& parts, const TensorValues& wholes) {
  TensorValues values(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (!wholes[p].empty()) {
      values[p] = parts_of({parts[p]}, {wholes[p]}).front();
    }
  }
  return values;
}

TensorValues picked(const TensorValues& all, const std::vector<std::size_t>& places) {
  TensorValues values;
  for (const std::size_t place : places) {
    values.push_back(all[place]);
  }
  return values;
}

}  // namespace ringside
