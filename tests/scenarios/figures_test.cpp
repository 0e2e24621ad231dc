// The chapter's figures: the program's own formulas against the table's exact column, which the
// program does not read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <regex>

#include "scenarios/figure_sections.hpp"
#include "scenarios/figure_words.hpp"
#include "scenarios/figures_verb.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

struct Quantity {
  double value;
  std::string unit;
};

// "0.21875 ratio (= 7/32)": one number with a unit, and perhaps the fraction that it is.
std::optional<Quantity> quantity_of(const std::string& exact) {
  const auto space = exact.find(' ');
  const auto fraction = exact.find(" (= ");
  if (space == std::string::npos || exact.find_first_not_of("0123456789.") != space) {
    return std::nullopt;
  }
  const auto unit =
      exact.substr(space + 1, fraction == std::string::npos ? fraction : fraction - space - 1);
  if (unit.find_first_of("(:>") != std::string::npos) {
    return std::nullopt;
  }
  if (fraction == std::string::npos) {
    return Quantity{std::stod(exact), unit};
  }
  const auto slash = exact.find('/', fraction);
  return Quantity{std::stod(exact.substr(fraction + 4)) / std::stod(exact.substr(slash + 1)), unit};
}

// The table has 15 digits.
bool same(double a, double b) {
  return std::abs(a - b) <= 5e-15 * std::abs(b);
}

// "" when a figure is what the table's exact column says, or says no number.
std::string difference(const Figure& figure, const FigureRow& row) {
  const auto quantity = quantity_of(row.exact);
  if (!quantity) {
    return figure.exact ? figure.id + " is a number, and not in the table" : "";
  }
  if (!figure.exact || !same(*figure.exact, quantity->value) || figure.unit != quantity->unit) {
    return figure.id + " is " + std::to_string(figure.exact.value_or(-1)) + " " + figure.unit +
           ", not " + row.exact;
  }
  return "";
}

TEST(Figures, AreTheTablesExactValues) {
  const auto figures = judged_figures({.execute = false});
  int numbers = 0;
  for (const JudgedFigure& judged : figures) {
    EXPECT_EQ(difference(judged.figure, judged.row), "");
    numbers += judged.figure.exact ? 1 : 0;
  }
  EXPECT_EQ(numbers, 100);
}

TEST(Figures, AreAllOfTheTable) {
  const auto figures = judged_figures({.execute = false});
  std::vector<std::string> missing;
  std::size_t at = 0;
  for (const FigureRow& row : figure_table()) {
    if (at < figures.size() && figures[at].row.id == row.id) {
      ++at;
    } else {
      missing.push_back(row.id);
    }
  }
  EXPECT_EQ(missing, std::vector<std::string>{});
}

TEST(Figures, OfTheExactColumnTheFormIsKnown) {
  EXPECT_EQ(quantity_of("97234997832 B")->value, 97'234'997'832);
  EXPECT_EQ(quantity_of("1.75 x (= 7/4)")->unit, "x");
  EXPECT_EQ(quantity_of("0.466666666666667 ratio (= 7/15)")->value, 7.0 / 15);
  for (const auto* text : {"-", "10:26:42:58 pairs (sum 136)", "1.78e-15 (seed dependent)",
                           "45634027520 > 24437144096 B", "2ND forward + 4ND backward"}) {
    EXPECT_FALSE(quantity_of(text)) << text;
  }
}

// Negative control: a config with one number changed gives other figures.
TEST(Figures, OfAnotherModelAreOtherNumbers) {
  std::string text = content(RINGSIDE_SOURCE_DIR "/models/configs/qwen3.8-27b.json");
  const std::string layers = "\"num_hidden_layers\": 64";
  text.replace(text.find(layers), layers.size(), "\"num_hidden_layers\": 60");
  const TemporaryFolder folder;
  std::ofstream(folder / "shorter.json") << text;
  FigureInputs inputs;
  inputs.anchor = published_model(read_published_config(folder / "shorter.json"));
  std::vector<std::string> others;
  for (const Figure& figure : zero_figures(inputs)) {
    for (const FigureRow& row : figure_table()) {
      if (row.id == figure.id && !difference(figure, row).empty()) {
        others.push_back(row.id);
      }
    }
  }
  EXPECT_EQ(others, (std::vector<std::string>{"ZR01", "ZR02", "ZR03", "ZR04", "ZR09", "ZR10"}));
}

TEST(Figures, ThatDifferFail) {
  const FigureRow row{"DP06", "DP", "", "", "55.6 GB", "formula"};
  const auto verdict = [&](const std::string& shown, std::optional<Executed> executed) {
    return JudgedFigure{row, number("DP06", "", 55'562'855'904, "B", shown), executed}.verdict();
  };
  EXPECT_EQ(verdict("55.6 GB", {}), "pass");
  EXPECT_EQ(verdict("55.7 GB", {}), "fail");
  EXPECT_EQ(verdict("55.6 GB", Executed{.mean = 55'562'855'904}), "pass");
  EXPECT_EQ(verdict("55.6 GB", Executed{.mean = 55'562'855'905}), "fail");
  const Figure pairs = statement("CP06", "", "pairs 10 : 26", true, "55.6 GB");
  EXPECT_EQ((JudgedFigure{row, pairs, Executed{.seen = "pairs 10 : 26"}}).verdict(), "pass");
  EXPECT_EQ((JudgedFigure{row, pairs, Executed{.seen = "pairs 10 : 27"}}).verdict(), "fail");
  EXPECT_EQ((JudgedFigure{row, quoted("DP06", ""), {}}).verdict(), "not_applicable");
  EXPECT_EQ((JudgedFigure{row, statement("DP06", "", "", false, "55.6 GB"), {}}).verdict(), "fail");
}

// What the chapter chose, or what is so by definition, would be compared with itself.
TEST(Figures, ThatAreGivenAreNotCounted) {
  std::vector<std::string> all;
  int pass = 0;
  for (const JudgedFigure& judged : judged_figures({.execute = false})) {
    pass += judged.verdict() == "pass" ? 1 : 0;
    if (judged.verdict() == "not_applicable") {
      EXPECT_EQ(judged.provenance(), "published") << judged.row.id;
      if (judged.figure.exact) {
        all.push_back(judged.row.id);
      }
    }
  }
  EXPECT_EQ(all, (std::vector<std::string>{"DP05", "DP14", "DP15", "DP25", "TP10", "CP01", "EP08",
                                           "EP09", "EP10", "ME06", "ME07", "ME08", "ME09", "PU13",
                                           "PU16", "PU27"}));
  EXPECT_EQ(pass, 98);
}

// The formula knows the config alone, the job the tensors: a layer less is seen.
TEST(Figures, OfExpertsAreNotTheSumThatTheJobCounts) {
  const PublishedModel model = published_model("deepseek-v3");
  const auto figures = expert_parallel_figures({});
  const auto experts = std::ranges::find(figures, "EP02", &Figure::id);
  EXPECT_EQ(*experts->exact, 58.0 * 256 * 3 * 7168 * 2048);
  EXPECT_EQ(*experts->exact, static_cast<double>(model.count("routed_experts")));
}

TEST(Figures, ThatPaddingDoesNotExplainFail) {
  const FigureRow row{"DP08", "DP", "", "", "109.4 GB", "formula"};
  const auto verdict = [&](std::int64_t counted) {
    return JudgedFigure{
        row, number("DP08", "", 1000, "B", "109.4 GB"),
        Executed{.mean = 1000,
                 .padded = PaddedTraffic{.without = 64'000, .adds = 8, .counted = counted}}}
        .verdict();
  };
  EXPECT_EQ(verdict(64'008), "pass");
  EXPECT_EQ(verdict(64'009), "fail");
}

// By true counting: the mean over ranks whose chunks differ by an element.
TEST(Figures, AreExecutedAtTrueScale) {
  const auto executed = executed_figures({});
  EXPECT_EQ(executed.at("DP07").mean, 97'234'997'832);
  EXPECT_EQ(executed.at("DP08").mean, 109'389'372'561);
  EXPECT_LT(executed.at("DP08").least, executed.at("DP08").most);
  EXPECT_EQ(executed.at("DP09").mean, 388'939'991'328);
  EXPECT_EQ(executed.at("DP19").least, 8);
  EXPECT_EQ(executed.at("DP21").least, 14);
  EXPECT_EQ(executed.at("DP21").most, 14);
  EXPECT_EQ(executed.at("DP10").mean, 3'500'459'921'952);
  EXPECT_EQ(executed.at("DP12").mean, 1.94469995664);
  EXPECT_EQ(executed.at("EP01").least, 4);
  EXPECT_EQ(executed.at("EP01").most, 4);
  EXPECT_EQ(executed.at("EP02").mean, 653'908'770'816);
  EXPECT_EQ(executed.at("EP03").mean, 1'307'817'541'632);
  EXPECT_EQ(executed.at("EP04").most, 4);
  EXPECT_EQ(executed.at("EP05").mean, 8);
  EXPECT_EQ(executed.at("TP03").least, 18'790'481'920);
  EXPECT_EQ(executed.at("TP03").most, 18'790'481'920);
  EXPECT_EQ(executed.at("DP03").mean, 444'502'847'232);
  EXPECT_EQ(executed.at("ZR01").mean, 152'797'853'736);
  EXPECT_EQ(executed.at("ZR02").mean, 104'180'354'820);
  EXPECT_EQ(executed.at("ZR03").mean, 55'562'855'904);
  EXPECT_EQ(executed.at("ZR04").mean, 145'852'496'748);
  EXPECT_EQ(executed.at("ZR05").mean, 1.5);
  EXPECT_EQ(executed.at("ZR06").mean, 0.5);
  EXPECT_EQ(executed.at("ZR07").mean, 2);
  EXPECT_EQ(executed.at("ZR08").mean, 3);
  EXPECT_EQ(executed.at("ZR09").mean, 24'437'144'096);
  EXPECT_EQ(executed.at("ME01").mean, 2'684'354'560);
  EXPECT_EQ(executed.at("ME02").mean, 58'247'210'464);
  EXPECT_EQ(executed.at("PF01").mean, 16);
  EXPECT_EQ(executed.at("PF04").mean, 2);
  EXPECT_EQ(executed.at("PF05").mean, 7.0 / 15);
  EXPECT_EQ(executed.at("PP02").least, 8);
  EXPECT_EQ(executed.at("PP02").most, 8);
  EXPECT_EQ(executed.at("PP03").least, 41'943'040);
  EXPECT_EQ(executed.at("PP03").most, 41'943'040);
  EXPECT_EQ(executed.at("PP04").mean, 7.0 / 32);
  EXPECT_EQ(executed.at("PP05").mean, 7.0 / 39);
  EXPECT_EQ(executed.at("PP06").mean, 7.0 / 128);
  EXPECT_EQ(executed.at("PP07").mean, 7.0 / 8);
  EXPECT_EQ(executed.at("PP08").mean, 7.0 / 8);
  EXPECT_EQ(executed.at("PP09").mean, 7.0 / 15);
  EXPECT_EQ(executed.at("PP12").mean, 1.0 / 3);
  EXPECT_EQ(executed.at("PP13").mean, 8);
  EXPECT_EQ(executed.at("PP15").mean, 2);
  EXPECT_EQ(executed.at("CP02").mean, 67'108'864);
  EXPECT_EQ(executed.at("CP03").mean, 7);
  EXPECT_EQ(executed.at("CP04").least, 469'762'048);
  EXPECT_EQ(executed.at("CP04").most, 469'762'048);
  EXPECT_EQ(executed.at("CP05").mean, 85'899'345'920);
  EXPECT_EQ(executed.at("CP06").seen, "pairs 10 : 26 : 42 : 58");
  EXPECT_EQ(executed.at("CP07").seen, "pairs 34 : 34 : 34 : 34");
  for (const auto& [id, figure] : executed) {
    EXPECT_EQ(figure.padded.has_value(), id == "DP08" || id == "DP10") << id;
  }
}

// What is counted in buckets is what is counted without, and 2 bytes for each time that padding is
// sent. A bucket is a layer; what it lacks to a multiple of 64 is its padding.
TEST(Figures, OnManyRanksAreWhatPaddingAddsApart) {
  std::int64_t elements = 0;
  for (const PublishedLayer& layer : published_model("qwen3.8-27b").layers) {
    elements += static_cast<std::int64_t>((64 - layer.parameters() % 64) % 64);
  }
  const FigureInputs inputs;
  const auto ring = in_padded_buckets(inputs, 64, "ring", 64 * 109'389'372'561);
  const auto naive = in_padded_buckets(inputs, 64, "naive", 3'500'459'921'952);
  EXPECT_GT(elements, 0);
  EXPECT_EQ(ring.elements, elements);
  EXPECT_EQ(ring.counted, 64 * 109'389'372'561 + 2 * 2 * 63 * elements);
  EXPECT_EQ(naive.counted, 3'500'459'921'952 + 2 * 63 * elements);
  EXPECT_TRUE(ring.holds() && naive.holds());
  EXPECT_FALSE(in_padded_buckets(inputs, 64, "naive", 3'500'459'921'951).holds()) << "the control";
}

// No byte of a Chinese character: those begin with E3 to E9.
TEST(FiguresVerb, AnEnglishTableHasNoChinese) {
  EXPECT_EQ(in_english("16,384 张"), "16,384 GPUs");
  EXPECT_EQ(in_english("8 张卡"), "8 cards");
  EXPECT_EQ(in_english("1 : 3 : 5 : 7"), "1 : 3 : 5 : 7");
  const auto chinese = [](const std::string& text) {
    return std::ranges::any_of(
        text, [](char c) { return std::uint8_t(c) >= 0xE3 && std::uint8_t(c) <= 0xE9; });
  };
  EXPECT_TRUE(chinese("16,384 张"));
  for (const FigureRow& row : figure_table()) {
    EXPECT_FALSE(chinese(in_english(row.shown))) << row.id << " " << row.shown;
  }
}

TEST(FiguresVerb, PrintsThemAndTheirVerdict) {
  const auto text = run_program("figures");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_TRUE(std::regex_search(text.out, std::regex("DP07 +executed +97,234,997,832 +B")));
  EXPECT_TRUE(has(text.out, "verdict: pass"));
  const auto section = run_program("figures ZeRO --formulas");
  EXPECT_TRUE(has(section.out, "ZR01"));
  EXPECT_FALSE(has(section.out, "DP07"));
}

TEST(FiguresVerb, GivesOneDocument) {
  const auto document = run_program("figures --json").document();
  EXPECT_EQ(document["verb"], "figures");
  EXPECT_EQ(document["verdict"], "pass");
  for (const auto& figure : document["figures"]) {
    for (const auto* key :
         {"id", "provenance", "exact", "executed", "unit", "shown", "chapter", "verdict"}) {
      EXPECT_TRUE(figure.contains(key)) << figure;
    }
    if (figure["id"] == "DP05") {
      EXPECT_EQ(figure["provenance"], "published");
      EXPECT_TRUE(figure["exact"].is_null());
      EXPECT_EQ(figure["verdict"], "not_applicable");
    }
    if (figure["id"] == "DP07") {
      EXPECT_EQ(figure["provenance"], "executed");
      EXPECT_EQ(figure["exact"], 97'234'997'832);
      EXPECT_EQ(figure["executed"], 97'234'997'832);
      EXPECT_EQ(figure["unit"], "B");
      EXPECT_EQ(figure["shown"], "97.2 GB");
    }
    EXPECT_EQ(figure.contains("padding"), figure["id"] == "DP08" || figure["id"] == "DP10");
    if (figure.contains("padding")) {
      const auto& padding = figure["padding"];
      EXPECT_EQ(
          padding["without_bytes"].get<std::int64_t>() + padding["adds_bytes"].get<std::int64_t>(),
          padding["counted_bytes"].get<std::int64_t>());
    }
  }
}

TEST(FiguresVerb, RefusesASectionThatDoesNotExist) {
  const auto refused = run_program("figures ZERO3");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(has(refused.err, "SECTION ZERO3: must be one of DP, ZeRO, TP")) << refused.err;
}

}  // namespace
}  // namespace ringside
