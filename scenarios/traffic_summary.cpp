#include "scenarios/traffic_summary.hpp"

#include <nlohmann/json.hpp>

#include "runtime/errors.hpp"
#include "runtime/files/json_file.hpp"
#include "runtime/files/quoted.hpp"
#include "runtime/traffic_line.hpp"

namespace ringside {
namespace {

using nlohmann::json;

std::string said(const json& text) {
  return escaped(shortened(text.get<std::string>(), 2'000));
}

TrafficCount count_of(const json& sum, const std::string& side) {
  const TrafficCount count{sum.at(side + "_messages").get<std::int64_t>(),
                           sum.at(side + "_bytes").get<std::int64_t>()};
  if (count.messages < 0 || count.bytes < 0) {
    throw BadUse("a sum below zero");
  }
  return count;
}

}  // namespace

TrafficSummary read_traffic_summary(const std::filesystem::path& path) {
  const json document = read_json(path, "a summary.json", most_summary_bytes);
  TrafficSummary summary;
  try {
    if (document.contains("error")) {
      throw BadUse("this run ended as \"" + said(document.at("verdict")) +
                   "\" before its traffic was written: " + said(document.at("error")));
    }
    summary.scenario = document.at("scenario").get<std::string>();
    summary.log = document.value("log", "");
    for (const auto& rank : document.at("traffic")) {
      for (const auto& sum : rank.at("sums")) {
        summary.sums.push_back({rank.at("rank").get<int>(),
                                {.op = sum.at("operation").get<std::string>(),
                                 .algorithm = "",
                                 .group = sum.at("group").get<std::string>(),
                                 .link = parse_link(sum.at("link").get<std::string>())},
                                sum.at("label").get<std::string>(),
                                count_of(sum, "sent"),
                                count_of(sum, "received")});
      }
    }
  } catch (const json::exception& error) {
    throw BadUse(path.string() + " has no sums of traffic: " + escaped(shortened(error.what())));
  } catch (const BadUse& error) {
    throw BadUse(path.string() + ": " + error.what());
  }
  return summary;
}

}  // namespace ringside
