// The documents' samples are what the program prints: figures that are exact are compared, figures
// that are rounding are not (another compiler may round otherwise).
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

const std::filesystem::path root = RINGSIDE_SOURCE_DIR;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// The report in a document: indented by four, from its headline to its verdict.
std::vector<std::string> sample_in(const std::string& document) {
  std::vector<std::string> sample;
  for (const auto& line : lines_of(content(root / document))) {
    if (!sample.empty() || line.starts_with("    dp/gradient_equivalence: 8 ranks")) {
      sample.push_back(line.substr(std::min<std::size_t>(4, line.size())));
      if (sample.back().starts_with("  verdict:")) {
        break;
      }
    }
  }
  return sample;
}

// What of a line is exact. Of what rounding makes, only that it is there; of a deliberate fault
// three digits, which are far above rounding.
std::string exact(const std::string& line) {
  static const std::regex rounding(
      R"(^(  (?:f32|f64|shards_averaged|adamw)\.\w+ +)\S+( +< \S+ +\w+).*)");
  static const std::regex wall(", wall .*");
  static const std::regex folder("run folder: .*");
  auto kept = std::regex_replace(line, rounding, "$1$2");
  kept = std::regex_replace(kept, wall, "");
  return std::regex_replace(kept, folder, "run folder");
}

// Lines of `sample` that `printed` does not have, in this order.
std::string stale(const std::vector<std::string>& sample, const std::vector<std::string>& printed) {
  std::string missing;
  std::size_t at = 0;
  for (const auto& line : sample) {
    if (has(line, "…")) {
      continue;
    }
    std::size_t found = at;
    while (found < printed.size() && exact(printed[found]) != exact(line)) {
      ++found;
    }
    if (found == printed.size()) {
      missing += line + "\n";
    } else {
      at = found + 1;
    }
  }
  return missing;
}

class Documents : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::make_unique<TemporaryFolder>();
    ended() = run_program("run dp/gradient_equivalence --out run", "", folder()->path());
  }

  static void TearDownTestSuite() { folder().reset(); }

  static Ended& ended() {
    static Ended run;
    return run;
  }

  static std::unique_ptr<TemporaryFolder>& folder() {
    static std::unique_ptr<TemporaryFolder> made;
    return made;
  }
};

TEST_F(Documents, TheirSampleReportsAreWhatIsPrinted) {
  const auto printed = lines_of(ended().out);
  for (const auto* document : {"README.md", "README.zh.md"}) {
    const auto sample = sample_in(document);
    ASSERT_GT(sample.size(), 30U) << document;
    EXPECT_EQ(stale(sample, printed), "") << document << " is stale; the run printed\n"
                                          << ended().out;
  }
}

TEST_F(Documents, AStaleSampleIsSeen) {
  const auto printed = lines_of(ended().out);
  auto sample = sample_in("README.md");
  const auto row = std::find_if(sample.begin(), sample.end(), [](const auto& line) {
    return line.starts_with("  control.contribution_lost ");
  });
  ASSERT_NE(row, sample.end());
  *row = std::regex_replace(*row, std::regex("0\\.[0-9]+ "), "0.12345 ");
  EXPECT_TRUE(has(stale(sample, printed), "control.contribution_lost "));
}

TEST_F(Documents, TheSampleOfALogIsALineOfIt) {
  std::string sample;
  for (const auto& line : lines_of(content(root / "docs/formats.md"))) {
    if (line.starts_with("    {\"group\"")) {
      sample = line.substr(4);
    }
  }
  ASSERT_FALSE(sample.empty());
  const auto without_wall = [](const std::string& line) {
    return line.substr(0, line.find("\"wall_ns\""));
  };
  const auto log = lines_of(content(*folder() / "run/traffic.jsonl"));
  EXPECT_TRUE(std::any_of(log.begin(), log.end(), [&](const auto& line) {
    return without_wall(line) == without_wall(sample);
  })) << sample;
}

}  // namespace
}  // namespace ringside
