// docs/formats.md shows the table of settings as it is.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

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

TEST(Formats, TheDocumentHasEveryKeyWithTypeDefaultAndMeaning) {
  std::ifstream in(RINGSIDE_SOURCE_DIR "/docs/formats.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  const auto begin = document.find('\n', document.find("<!-- keys")) + 1;
  const auto end = document.find("<!-- end of keys -->");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(document.substr(begin, end - begin), table())
      << "write this between the marks of docs/formats.md:\n"
      << table();
}

}  // namespace
}  // namespace ringside
