// The program's own formulas for the chapter's figures, by section.
#pragma once

#include <string>
#include <vector>

#include "scenarios/figure.hpp"
#include "scenarios/figure_inputs.hpp"

namespace ringside {

std::vector<Figure> data_parallel_figures(const FigureInputs& inputs);
std::vector<Figure> zero_figures(const FigureInputs& inputs);
std::vector<Figure> tensor_parallel_figures(const FigureInputs& inputs);
std::vector<Figure> pipeline_figures(const FigureInputs& inputs);
std::vector<Figure> context_parallel_figures(const FigureInputs& inputs);
// What contiguous blocks of a long causal sequence cost 4 cards: "1 : 3 : 5 : 7".
std::string contiguous_limit();
std::vector<Figure> expert_parallel_figures(const FigureInputs& inputs);
std::vector<Figure> mesh_figures(const FigureInputs& inputs);
std::vector<Figure> pitfall_figures(const FigureInputs& inputs);
std::vector<Figure> public_figures(const FigureInputs& inputs);

}  // namespace ringside
