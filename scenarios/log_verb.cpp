#include "scenarios/log_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/errors.hpp"
#include "runtime/traffic_line.hpp"
#include "runtime/traffic_log.hpp"
#include "scenarios/traffic_digest.hpp"
#include "scenarios/traffic_query.hpp"

namespace ringside {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::string_view columns =
    "           start ->              end us  src -> dst     bytes  link    group operation #seq"
    "        phase           step      chunk      label";

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// "ringside run dp/ring", when the run's summary says which scenario it was.
std::string command_of(const fs::path& folder) {
  std::ifstream file(folder / "summary.json");
  const auto summary = nlohmann::json::parse(file, nullptr, false);
  const auto named =
      summary.is_object() && summary.contains("scenario") && summary["scenario"].is_string();
  return "ringside run " + (named ? summary["scenario"].get<std::string>() : "SCENARIO");
}

fs::path log_of(const fs::path& run) {
  std::error_code error;
  if (!fs::exists(run, error)) {
    throw BadUse("there is no run " + run.string() +
                 "; name a run's folder, as `ringside run` prints it, or a traffic.jsonl");
  }
  if (!fs::is_directory(run, error)) {
    return run;
  }
  if (fs::exists(run / "traffic.jsonl", error)) {
    return run / "traffic.jsonl";
  }
  if (!fs::exists(run / "summary.json", error)) {
    throw BadUse(run.string() + " is no run's folder: it has no traffic.jsonl and no summary.json");
  }
  throw BadUse("the run in " + run.string() +
               " kept no messages (--log summary or none, or more than a million of them); the "
               "sums of its traffic are in its summary.json. To have the messages: " +
               command_of(run) + " --log full");
}

Json counts(Json document, const TrafficCount& sum) {
  document["messages"] = sum.messages;
  document["bytes"] = sum.bytes;
  return document;
}

Json ranks_document(const TrafficDigest& digest) {
  auto ranks = Json::array();
  for (const auto rank : digest.matrix().ranks()) {
    const auto of = [&](const std::map<int, TrafficCount>& sums) {
      const auto found = sums.find(rank);
      return counts({}, found == sums.end() ? TrafficCount{} : found->second);
    };
    ranks.push_back(
        {{"rank", rank}, {"sent", of(digest.sent())}, {"received", of(digest.received())}});
  }
  return ranks;
}

Json matrix_document(const TrafficMatrix& matrix) {
  const auto ranks = matrix.ranks();
  Json document = {{"ranks", ranks}, {"bytes", Json::array()}};
  for (const auto src : ranks) {
    auto row = Json::array();
    for (const auto dst : ranks) {
      row.push_back(matrix.bytes(src, dst));
    }
    document["bytes"].push_back(std::move(row));
    document["sent"].push_back(matrix.sent_by(src));
    document["received"].push_back(matrix.received_by(src));
  }
  return document;
}

void print_json(const LogRequest& request, const fs::path& path, const TrafficDigest& digest,
                bool cut) {
  Json document = {{"verb", "log"}, {"verdict", "pass"}, {"log", path.string()}};
  document = counts(std::move(document), digest.all());
  document["cut"] = cut;
  document["by"] = Json::array();
  for (const auto& [kind, sum] : digest.kinds()) {
    document["by"].push_back(counts({{"op", kind.op},
                                     {"algorithm", kind.algorithm},
                                     {"group", kind.group},
                                     {"link", name_of(kind.link)}},
                                    sum));
  }
  document["ranks"] = ranks_document(digest);
  if (request.top > 0) {
    document["top"] = Json::array();
    for (const auto& message : digest.largest()) {
      document["top"].push_back(Json::parse(traffic_line(message)));
    }
  }
  if (request.matrix) {
    document["matrix"] = matrix_document(digest.matrix());
  }
  print(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void print_text(const LogRequest& request, const TrafficDigest& digest) {
  if (request.top > 0 && digest.all().messages > 0) {
    print(fmt::format("{}\n", columns));
    for (const auto& message : digest.largest()) {
      print(describe(message) + '\n');
    }
  }
  const bool lines = request.top > 0 || !request.matrix;
  print(lines && digest.all().messages > 0 ? "\n" : "");
  if (request.matrix && digest.all().messages > 0) {
    print(digest.matrix().describe() + '\n');
  }
  print(digest.describe());
}

}  // namespace

int log_verb(const LogRequest& request) {
  if (request.top < 0) {
    throw BadUse(fmt::format("--top {}: a number of messages, 1 or more", request.top));
  }
  const auto path = log_of(request.run);
  const TrafficQuery query{request.rank, request.op, request.group, request.link, request.step};
  const bool lines = request.top == 0 && !request.matrix && !request.json;
  TrafficNames names;
  TrafficDigest digest(static_cast<std::size_t>(request.top));
  const auto end = read_traffic_log(path, [&](const LoggedMessage& message) {
    names.add(message);
    if (!query.matches(message)) {
      return;
    }
    if (lines) {
      print(digest.all().messages == 0 ? fmt::format("{}\n", columns) : "");
      print(describe(message) + '\n');
    }
    digest.add(message);
  });
  names.check(query, path.string());
  if (end.cut) {
    std::fputs("the log's last line is cut, as the run ended while it was written; left out\n",
               stderr);
  }
  if (request.json) {
    print_json(request, path, digest, end.cut);
  } else {
    print_text(request, digest);
  }
  std::fflush(stdout);
  return 0;
}

}  // namespace ringside
