// docs/formats.md shows the tables of settings and of checks as they are.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "scenarios/checks.hpp"
#include "scenarios/setting_keys.hpp"

namespace ringside {
namespace {

std::string table() {
  std::string text = "\n| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const auto& key : setting_keys()) {
    text += "| `" + key.name + "` | " + key.type + " | `" + key.fallback() + "` | " + key.meaning +
            " |\n";
  }
  return text + "\n";
}

std::string table_of_checks() {
  std::string text = "\n| check | what it says |\n|---|---|\n";
  for (const auto& [name, meaning, run] : check_rows()) {
    text += "| `" + std::string(name) + "` | " + std::string(meaning) + " |\n";
  }
  return text + "\n";
}

// What stands between "<!-- name" and "<!-- end of name -->".
std::string between_marks(const std::string& name) {
  std::ifstream in(RINGSIDE_SOURCE_DIR "/docs/formats.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  const auto begin = document.find('\n', document.find("<!-- " + name)) + 1;
  const auto end = document.find("<!-- end of " + name + " -->");
  return end == std::string::npos ? "no such marks" : document.substr(begin, end - begin);
}

TEST(Formats, TheDocumentHasEveryKeyWithTypeDefaultAndMeaning) {
  EXPECT_EQ(between_marks("keys"), table()) << "write this between the marks of docs/formats.md:\n"
                                            << table();
}

TEST(Formats, TheDocumentHasEveryCheckWithItsSentence) {
  EXPECT_EQ(between_marks("checks"), table_of_checks())
      << "write this between the marks of docs/formats.md:\n"
      << table_of_checks();
}

}  // namespace
}  // namespace ringside
