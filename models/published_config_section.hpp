// An object of a config.json: its values by key, and which of them nobody asked for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace ringside {

// Throws BadUse with the file, the key's path and the value. null is as good as absent: the words
// that end in `_or` give their default for both.
class ConfigSection {
 public:
  // `json` outlives it. `path`: "" for the document, "text_config".
  ConfigSection(std::filesystem::path file, std::string path, const nlohmann::json& json);

  bool has(const std::string& key) const;  // and it is not null
  bool says_null(const std::string& key) const;

  // From 1; `count_or` from 0.
  std::size_t number(const std::string& key) const;
  std::size_t number_or(const std::string& key, std::size_t otherwise) const;
  std::size_t count_or(const std::string& key, std::size_t otherwise) const;
  bool flag_or(const std::string& key, bool otherwise) const;
  std::string text(const std::string& key) const;
  std::string text_or(const std::string& key, const std::string& otherwise) const;
  // Of a list; empty where it is absent.
  std::vector<std::size_t> numbers(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  ConfigSection section(const std::string& key) const;

  // Throws for a key that was not asked for, changes tensors for all we know, and is switched on:
  // null, false, 0 and what is empty switch nothing on. `family`: as model_type says it.
  void require_nothing_else(const std::string& family) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& why) const;

 private:
  const nlohmann::json* find(const std::string& key) const;
  const nlohmann::json& at(const std::string& key) const;
  std::size_t whole(const std::string& key, const nlohmann::json& value, std::size_t least) const;

  std::filesystem::path file_;
  std::string path_;
  const nlohmann::json& json_;
  mutable std::set<std::string, std::less<>> asked_;
};

}  // namespace ringside
