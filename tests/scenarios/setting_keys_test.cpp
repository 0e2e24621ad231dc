// The table of settings: names, bounds, and that every value reads back equal.
#include "scenarios/setting_keys.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

SettingValue word(const std::string& text) {
  return {.kind = SettingValue::Kind::word, .text = text, .items = {}};
}

TEST(SettingKeys, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const auto& key : setting_keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_EQ(find_key(key.name), &key);
    EXPECT_FALSE(key.meaning.empty()) << key.name;
  }
  EXPECT_EQ(find_key("train"), nullptr);
  EXPECT_EQ(find_key(""), nullptr);
}

TEST(SettingKeys, DefaultsAreThoseOfTheContract) {
  const auto fallback = [](const char* name) { return find_key(name)->fallback(); };
  EXPECT_EQ(fallback("dp.bucket"), "\"25 MiB\"");
  EXPECT_EQ(fallback("links.nvlink.bandwidth"), "\"160 GB/s\"");
  EXPECT_EQ(fallback("links.ib.latency"), "\"5 us\"");
  EXPECT_EQ(fallback("cluster.flops"), "\"400 TFLOP/s\"");
  EXPECT_EQ(fallback("cluster.capacity"), "\"none\"");
  EXPECT_EQ(fallback("train.eps"), "1e-08");
  EXPECT_EQ(fallback("train.beta2"), "0.999");
  EXPECT_EQ(fallback("checks.run"), "[]");
}

struct Refused {
  const char* key;
  const char* value;
  const char* accepted;  // what the message must say
};

const Refused refused[] = {
    {"train.steps", "0", "an integer from 1 to 1000000"},
    {"train.steps", "-3", "an integer from 1"},
    {"train.steps", "3.5", "an integer"},
    {"train.steps", "1e3", "an integer"},
    {"train.steps", "three", "an integer"},
    {"train.steps", "", "an integer"},
    {"train.steps", "99999999999999999999", "an integer"},
    {"train.seed", "-1", "an integer from 0 to 9223372036854775807"},
    {"train.seed", "9223372036854775808", "an integer"},
    {"train.lr", "nan", "a number above 0"},
    {"train.lr", "inf", "a number"},
    {"train.lr", "-inf", "a number"},
    {"train.lr", "0", "a number above 0"},
    {"train.lr", "1e999", "a number"},
    {"train.lr", "0,1", "a number"},
    {"train.momentum", "1", "below 1"},
    {"cluster.gpus_per_node", "65537", "from 1 to 65536"},
    {"cluster.capacity", "0", "bytes"},
    {"cluster.capacity", "much", "or none"},
    {"cluster.flops", "0 FLOP/s", "FLOP/s above 0"},
    {"links.nvlink.bandwidth", "0", "a bandwidth above 0, or inf"},
    {"links.nvlink.bandwidth", "-1 GB/s", "a bandwidth"},
    {"links.nvlink.bandwidth", "nan", "a bandwidth"},
    {"links.ib.latency", "-1 us", "a time, 0 to 1 s"},
    {"links.ib.latency", "2 s", "a time, 0 to 1 s"},
    {"links.ib.latency", "5 parsecs", "a time"},
    {"dp.bucket", "0", "bytes, 1 B to 1 TiB"},
    {"dp.bucket", "9999999 TB", "bytes"},
    {"dp.overlap", "yes", "true or false"},
    {"dp.overlap", "TRUE", "true or false"},
    {"model.vocab", "255", "from 256 to 1048576"},
    {"model.dtype", "f16", "one of f32, f64"},
    {"train.optimizer", "adam", "did you mean adamw?"},
    {"collectives.all_reduce", "rng", "did you mean ring?"},
    {"checks.run", "gradients,trafic", "did you mean traffic?"},
    {"checks.expect", "pass", "oom"},
};

TEST(SettingKeys, RefuseWhatIsOutOfBoundsOrOfAnotherTypeAndSayWhatIsAccepted) {
  for (const auto& [key, value, accepted] : refused) {
    Settings settings;
    const auto text = refusal_of([&] { set_key(settings, *find_key(key), word(value), "here"); });
    EXPECT_TRUE(text.starts_with("here: must be ")) << key << " = " << value << ": " << text;
    EXPECT_TRUE(has(text, accepted)) << key << " = " << value << ": " << text;
    EXPECT_EQ(settings, Settings{}) << "a refused value leaves no trace";
  }
}

TEST(SettingKeys, AcceptEveryNotationOfAQuantity) {
  Settings settings;
  const auto set = [&](const char* key, const char* value) {
    set_key(settings, *find_key(key), word(value), "here");
  };
  set("dp.bucket", "65536");
  EXPECT_EQ(settings.dp.bucket, Bytes{65536});
  set("dp.bucket", "64KiB");
  EXPECT_EQ(settings.dp.bucket, Bytes{65536});
  set("cluster.capacity", "80 GB");
  EXPECT_EQ(settings.cluster.capacity, Bytes{80'000'000'000});
  set("cluster.capacity", "none");
  EXPECT_EQ(settings.cluster.capacity, std::nullopt);
  set("links.nvlink.bandwidth", "inf");
  EXPECT_EQ(settings.links.nvlink.bandwidth, Rate{});
  set("links.nvlink.latency", "0");
  EXPECT_EQ(settings.links.nvlink.latency, Time{0});
  set("checks.run", "[\"traffic\", \"gradients\"]");
  EXPECT_EQ(settings.checks.run, (std::vector<std::string>{"traffic", "gradients"}));
  set("checks.run", "traffic,controls");
  EXPECT_EQ(settings.checks.run, (std::vector<std::string>{"traffic", "controls"}));
  set("train.lr", "1e-3");
  EXPECT_EQ(settings.train.lr, 1e-3);
}

TEST(SettingKeys, UnknownNamesComeWithTheNearestOrWithThoseOfTheSection) {
  EXPECT_EQ(unknown_key("train.step"), "no such key; did you mean train.steps?");
  EXPECT_EQ(unknown_key("hidden"), "no such key; did you mean model.hidden?");
  EXPECT_TRUE(has(unknown_key("dp.zebra"), "there are dp.bucket, dp.bucket_by"));
  EXPECT_TRUE(has(unknown_key("zebra.mane"), "the sections are lesson, cluster"));
}

}  // namespace
}  // namespace ringside
