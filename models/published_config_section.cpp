#include "models/published_config_section.hpp"

#include <nlohmann/json.hpp>

#include "models/published_config_keys.hpp"
#include "runtime/errors.hpp"
#include "runtime/files/json_file.hpp"
#include "runtime/files/quoted.hpp"

namespace ringside {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t most = 1U << 24;  // so that no product of three wraps

bool switched_on(const Json& value) {
  const bool off = value.is_null() || (value.is_structured() && value.empty()) ||
                   value == Json(false) || value == Json("") ||
                   (value.is_number() && value == Json(0));
  return !off;
}

}  // namespace

ConfigSection::ConfigSection(std::filesystem::path file, std::string path, const Json& json)
    : file_(std::move(file)), path_(std::move(path)), json_(json) {
  if (!json_.is_object()) {
    throw BadUse(file_.string() + ": " + (path_.empty() ? "the document" : path_) +
                 " must be an object, and is " + quoted_json(json_));
  }
}

const Json* ConfigSection::find(const std::string& key) const {
  asked_.insert(key);
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const Json& ConfigSection::at(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) {
    refuse(key, json_.contains(key) ? "is null" : "is missing");
  }
  return *value;
}

bool ConfigSection::has(const std::string& key) const {
  return find(key) != nullptr;
}

bool ConfigSection::says_null(const std::string& key) const {
  return find(key) == nullptr && json_.contains(key);
}

std::size_t ConfigSection::whole(const std::string& key, const Json& value,
                                 std::size_t least) const {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
      value.get<std::uint64_t>() > most) {
    refuse(key, "must be a whole number from " + std::to_string(least) + " to " +
                    std::to_string(most) + ", and is " + quoted_json(value));
  }
  return value.get<std::size_t>();
}

std::size_t ConfigSection::number(const std::string& key) const {
  return whole(key, at(key), 1);
}

std::size_t ConfigSection::number_or(const std::string& key, std::size_t otherwise) const {
  const Json* value = find(key);
  return value == nullptr ? otherwise : whole(key, *value, 1);
}

std::size_t ConfigSection::count_or(const std::string& key, std::size_t otherwise) const {
  const Json* value = find(key);
  return value == nullptr ? otherwise : whole(key, *value, 0);
}

bool ConfigSection::flag_or(const std::string& key, bool otherwise) const {
  const Json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_boolean()) {
    refuse(key, "must be true or false, and is " + quoted_json(*value));
  }
  return value->get<bool>();
}

std::string ConfigSection::text(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_string()) {
    refuse(key, "must be a text, and is " + quoted_json(value));
  }
  return value.get<std::string>();
}

std::string ConfigSection::text_or(const std::string& key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::vector<std::size_t> ConfigSection::numbers(const std::string& key) const {
  std::vector<std::size_t> all;
  if (const Json* value = find(key)) {
    if (!value->is_array()) {
      refuse(key, "must be a list of whole numbers, and is " + quoted_json(*value));
    }
    for (const Json& one : *value) {
      all.push_back(whole(key, one, 0));
    }
  }
  return all;
}

std::vector<std::string> ConfigSection::texts(const std::string& key) const {
  std::vector<std::string> all;
  if (const Json* value = find(key)) {
    for (const Json& one : *value) {
      if (!value->is_array() || !one.is_string()) {
        refuse(key, "must be a list of texts, and has " + quoted_json(one));
      }
      all.push_back(one.get<std::string>());
    }
  }
  return all;
}

ConfigSection ConfigSection::section(const std::string& key) const {
  return {file_, path_.empty() ? key : path_ + "." + key, at(key)};
}

void ConfigSection::require_nothing_else(const std::string& family) const {
  for (const auto& [key, value] : json_.items()) {
    if (!asked_.contains(key) && !changes_no_tensor(key) && switched_on(value)) {
      refuse(key, "= " + quoted_json(value) + " is not known for model_type " + family +
                      ", and may change tensors, which would then not be counted: take the key "
                      "out of the file if it changes none");
    }
  }
}

void ConfigSection::refuse(const std::string& key, const std::string& why) const {
  throw BadUse(file_.string() + ": " + (path_.empty() ? "" : path_ + ".") +
               escaped(shortened(key)) + " " + why);
}

}  // namespace ringside
