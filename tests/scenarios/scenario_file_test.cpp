// Scenario files: what is refused and how, and that resolved settings load back equal.
#include "scenarios/scenario_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "scenarios/overrides.hpp"
#include "scenarios/setting_keys.hpp"
#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

TEST(ScenarioFile, AllThatComeWithTheProgramAreSound) {
  const auto files = list_scenarios();
  EXPECT_GE(files.size(), 8U);
  for (const auto& file : files) {
    auto settings = load_scenario(file);
    resolve(settings);
    EXPECT_EQ(settings.name, file.name);
    EXPECT_FALSE(settings.lesson.en.empty()) << file.name;
    EXPECT_FALSE(settings.lesson.zh.empty()) << file.name;
    const bool trains = settings.parallel.split.empty() && settings.parallel.streams.empty();
    EXPECT_NE(settings.checks.run.empty(), trains) << file.name;
    if (!settings.checks.peer.empty()) {
      EXPECT_EQ(find_scenario(settings.checks.peer).name, settings.checks.peer);
    }
  }
}

TEST(ScenarioFile, IsFoundByNameAndByPath) {
  const auto by_name = find_scenario("dp/ring");
  EXPECT_EQ(find_scenario(by_name.path.string()).name, "dp/ring");
  EXPECT_TRUE(has(refusal_of([] { find_scenario("dp/rign"); }), "did you mean dp/ring?"));
  EXPECT_TRUE(has(refusal_of([] { find_scenario("dp"); }), "choose one of dp/accumulation"));
  EXPECT_TRUE(has(refusal_of([] { find_scenario("no/such.toml"); }), "no such file"));
  EXPECT_TRUE(has(refusal_of([] { find_scenario(""); }), "no scenario"));
  EXPECT_TRUE(has(refusal_of([] { find_scenario("dp/../dp/ring"); }), "no scenario"));
}

struct BadFile {
  const char* toml;
  const char* message;
};

const BadFile bad_files[] = {
    {"[train]\nsteps = 0\n", "f.toml:2:1: train.steps = 0: must be an integer from 1"},
    {"[train]\n  steps = -3", "f.toml:2:3: train.steps = -3: must be"},
    {"[train]\nsteps = \"3\"", "f.toml:2:1: train.steps = \"3\": must be an integer"},
    {"[train]\nsteps = 3.5", "train.steps = 3.5: must be an integer"},
    {"[train]\nsteps = true", "train.steps = true: must be an integer"},
    {"[train]\nsteps = [1]", "must be an integer"},
    {"[train]\nsteps = 1979-05-27", "train.steps = (a date): must be an integer"},
    {"[train.steps]\nx = 1", "train.steps = (a section): must be an integer"},
    {"[train]\nlr = nan", "f.toml:2:1: train.lr = nan: must be a number"},
    {"[train]\nlr = \"0.1\"", "train.lr = \"0.1\": must be a number"},
    {"[dp]\nbucket = true", "dp.bucket = true: must be bytes"},
    {"[dp]\nbucket = 1.5", "dp.bucket = 1.5: must be bytes"},
    {"[dp]\noverlap = 1", "dp.overlap = 1: must be true or false"},
    {"[links.ib]\nlatency = 5", "links.ib.latency = 5: must be a time"},
    {"[links.ib]\nbandwidth = 50", "links.ib.bandwidth = 50: must be a bandwidth"},
    {"[lesson]\nen = 3", "lesson.en = 3: must be text"},
    {"[checks]\nrun = \"gradients\"", "must be a list of names"},
    {"[checks]\nrun = [1, 2]", "must be a list of names"},
    {"[checks]\nrun = [\"gradient\"]", "did you mean gradients?"},
    {"[trian]\nsteps = 3", "f.toml:1:2: trian: no such section; did you mean train?"},
    {"[zebra]\n", "zebra: no such section; there are lesson, cluster"},
    {"[train]\nstep = 3", "f.toml:2:1: train.step: no such key; did you mean train.steps?"},
    {"[train]\nzebra = 3", "train.zebra: no such key; there are train.steps"},
    {"train = 3", "f.toml:1:1: train = 3: is a section, not a key: write [train]"},
    {"ranks = 3", "ranks: no such key; did you mean cluster.ranks?"},
    {"[train]\nsteps = \n", "f.toml:2:"},
    {"[train]\nsteps = 3\nsteps = 4", "f.toml:3:"},
    {"[train\nsteps = 3", "`[train` is not TOML"},
    {"[train]\nseed = 99999999999999999999", "f.toml:2:"},
    {"[lesson]\nen = \"\xff\xfe\"", "is not TOML"},
    {"[lesson]\nen = \"a\\u0000b\"", "must be text without a zero byte"},
};

TEST(ScenarioFile, RefusalsNameFileLineColumnKeyValueAndRemedy) {
  for (const auto& [toml, message] : bad_files) {
    const auto text = refusal_of([&, source = toml] { parse_scenario(source, "f.toml"); });
    EXPECT_TRUE(text.starts_with("f.toml:")) << text;
    EXPECT_TRUE(has(text, message)) << toml << "\n-> " << text;
  }
}

TEST(ScenarioFile, SurvivesAnyTruncationAndAnyByte) {
  const auto whole = write_resolved(load_scenario(find_scenario("dp/overlap")));
  std::mt19937 random(7);
  for (int trial = 0; trial < 1000; ++trial) {
    auto damaged = whole.substr(0, trial % 2 == 0 ? random() % whole.size() : whole.size());
    for (int change = 0; change < 3 && !damaged.empty(); ++change) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    try {
      parse_scenario(damaged, "f.toml");
    } catch (const BadUse& refusal) {
      EXPECT_TRUE(std::string(refusal.what()).starts_with("f.toml:")) << refusal.what();
    }
  }
}

// Another value for a key, out of those that its type suggests.
std::string random_word(const SettingKey& key, std::mt19937& random) {
  const char* words[] = {"1",
                         "2",
                         "256",
                         "7",
                         "0.25",
                         "1e-07",
                         "true",
                         "false",
                         "3 MiB",
                         "5 GB",
                         "4097",
                         "none",
                         "inf",
                         "17 B/s",
                         "12 GB/s",
                         "3 us",
                         "123457 ps",
                         "0",
                         "sgd",
                         "adamw",
                         "ring",
                         "naive",
                         "f64",
                         "traffic",
                         "oom",
                         "lost",
                         "9 TFLOP/s",
                         "17 FLOP/s",
                         "mlp",
                         "pairwise",
                         "0.3333333333333333",
                         "9223372036854775807",
                         "1024 KiB",
                         "小明把苹果给了小王 \"quoted\" \\ \t\n\x7f 'x' # = [a]"};
  for (int trial = 0; trial < 40; ++trial) {
    const std::string word = words[random() % std::size(words)];
    Settings scratch;
    try {
      key.set(scratch, {.kind = SettingValue::Kind::word, .text = word, .items = {}});
      return word;
    } catch (const BadUse&) {
    }
  }
  return {};
}

TEST(ScenarioFile, ResolvedSettingsLoadBackEqual) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 100; ++trial) {
    Settings settings;
    for (const auto& key : setting_keys()) {
      if (const auto word = random_word(key, random); !word.empty() && random() % 4 != 0) {
        set_key(settings, key, {.kind = SettingValue::Kind::word, .text = word, .items = {}}, "");
      }
    }
    const auto toml = write_resolved(settings);
    EXPECT_EQ(parse_scenario(toml, "f.toml"), settings) << toml;
  }
}

TEST(ScenarioFile, RefusesALineThatNoPersonWrites) {
  std::string deep;
  for (int level = 0; level < 50'000; ++level) {
    deep += "a.";
  }
  const auto text = refusal_of([&] { parse_scenario("\n" + deep + "b = 1\n", "deep.toml"); });
  EXPECT_TRUE(has(text, "deep.toml:2: a line of 100005 bytes")) << text;
}

TEST(ScenarioFile, TakesATextFromItsOwnFolder) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("ringside_scenario_file_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "mine.toml") << "[data]\ntext = \"book.txt\"\n";
  std::ofstream(folder / "book.txt") << "once";
  auto settings = load_scenario(find_scenario((folder / "mine.toml").string()));
  EXPECT_EQ(settings.data.text, (folder / "book.txt").string());
  EXPECT_EQ(settings.name, "mine");
  EXPECT_NO_THROW(resolve(settings));
  std::ofstream(folder / "book.txt", std::ios::trunc).flush();
  EXPECT_TRUE(has(refusal_of([&] { resolve(settings); }), "book.txt: is empty"));
  std::filesystem::remove(folder / "book.txt");
  EXPECT_TRUE(has(refusal_of([&] { resolve(settings); }), "there is no such file"));
  std::filesystem::remove_all(folder);
}

TEST(ScenarioFile, APathThatIsNoUtf8IsWrittenWithReplacements) {
  Settings settings;
  settings.data.text = "/tmp/\xff.txt";
  EXPECT_EQ(parse_scenario(write_resolved(settings), "f.toml").data.text, "/tmp/\uFFFD.txt");
}

}  // namespace
}  // namespace ringside
