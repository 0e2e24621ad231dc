#include "scenarios/log_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "runtime/errors.hpp"
#include "runtime/traffic_line.hpp"
#include "runtime/traffic_log.hpp"
#include "scenarios/message_row.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/run_folders.hpp"
#include "scenarios/terminal.hpp"
#include "scenarios/traffic_digest.hpp"
#include "scenarios/traffic_query.hpp"
#include "scenarios/traffic_summary.hpp"

namespace ringside {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

void print(std::string_view text) {
  std::cout << text;
}

// The file to read: the run's messages or, where it kept none, its summary.
fs::path log_of(const fs::path& run) {
  std::error_code error;
  if (!fs::exists(run, error)) {
    const auto below = fs::path("runs") / run;
    throw BadUse("there is no run " + run.string() +
                 (run.is_relative() && fs::exists(below, error)
                      ? "; did you mean " + below.string() + "?"
                      : "; name a run's folder, as `ringside run` prints it, or a traffic.jsonl"));
  }
  if (fs::is_regular_file(run, error)) {
    return run;
  }
  if (!fs::is_directory(run, error)) {
    throw BadUse(run.string() +
                 " is neither a folder nor a regular file: name a run's folder, as "
                 "`ringside run` prints it, or a traffic.jsonl");
  }
  for (const auto* name : {"traffic.jsonl", "summary.json"}) {
    if (fs::exists(run / name, error)) {
      return run / name;
    }
  }
  throw BadUse(run.string() + " is no run's folder: it has no traffic.jsonl and no summary.json");
}

Json counts(Json document, const TrafficCount& sum) {
  document["messages"] = sum.messages;
  document["bytes"] = sum.bytes;
  return document;
}

Json ranks_document(const TrafficDigest& digest) {
  auto ranks = Json::array();
  for (const auto rank : digest.ranks()) {
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
  document["labels"] = Json::array();
  for (const auto& [label, sum] : digest.labels()) {
    document["labels"].push_back(counts({{"label", label}}, sum));
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
  print(printed_json(document));
}

void print_text(const LogRequest& request, const TrafficDigest& digest, bool messages) {
  const auto all = digest.all().messages;
  if (request.top > 0 && all > 0) {
    const auto largest = digest.largest();
    print(
        fmt::format("the {} largest of {} messages\n{}\n", largest.size(), all, message_heading()));
    for (const auto& message : largest) {
      print(message_row(message) + '\n');
    }
  }
  const bool lines = messages && (request.top > 0 || !request.matrix);
  print(lines && all > 0 ? "\n" : "");
  if (request.matrix && all > 0) {
    print(digest.matrix().describe() + '\n');
  }
  print(request.top > 0 && all > 0 ? fmt::format("sums of all {} messages:\n", all) : "");
  using By = TrafficDigest::By;
  print(digest.describe(request.by_label ? By::label : By::kind));
}

// Every message that is asked for, under a line that says how many.
void print_messages(const TrafficQuery& query, const fs::path& path, std::int64_t count) {
  print(fmt::format("{} message{}, their sums at the end\n{}\n", count, count == 1 ? "" : "s",
                    message_heading()));
  read_traffic_log(path, [&](const LoggedMessage& message) {
    if (query.matches(message)) {
      print(message_row(message) + '\n');
    }
  });
}

// Prints the lines that are asked for. True: the log is cut.
bool read_messages(const LogRequest& request, const fs::path& path, TrafficDigest& digest) {
  const TrafficQuery query{.rank = request.rank,
                           .op = request.op,
                           .group = request.group,
                           .link = request.link,
                           .label = request.label,
                           .step = request.step};
  TrafficNames names;
  const auto end = read_traffic_log(path, [&](const LoggedMessage& message) {
    names.add(message);
    if (query.matches(message)) {
      digest.add(message);
    }
  });
  names.check(query, path.string());
  if (request.matrix) {
    digest.matrix().require_readable();
  }
  if (request.top == 0 && !request.matrix && !request.json && digest.all().messages > 0) {
    print_messages(query, path, digest.all().messages);
  }
  if (end.cut) {
    std::cerr << "the log's last line is cut, as the run ended while it was written; left out\n";
  }
  return end.cut;
}

void read_sums(const LogRequest& request, const fs::path& path, TrafficDigest& digest) {
  const auto summary = read_traffic_summary(path);
  const auto again = "; to have them: ringside run " + summary.scenario + " --log full";
  if (summary.log == "none") {
    throw BadUse("this run kept no messages, nor their sums (--log none)" + again);
  }
  const auto remedy =
      "this run kept the sums of its traffic, not its messages (--log summary, or more than a "
      "million of them)" +
      again;
  if (request.rank || request.step || request.top > 0 || request.matrix) {
    throw BadUse("--rank, --step, --top and --matrix need messages: " + remedy);
  }
  const TrafficQuery query{
      .op = request.op, .group = request.group, .link = request.link, .label = request.label};
  TrafficNames names;
  for (const auto& [rank, kind, label, sent, received] : summary.sums) {
    LoggedMessage kin;
    kin.op = kind.op;
    kin.group = kind.group;
    kin.link = kind.link;
    kin.label = label;
    names.add(kin);
    if (query.matches(kin)) {
      digest.add(rank, kind, label, sent, received);
    }
  }
  names.check(query, path.string());
  std::cerr << printable(remedy) << '\n';
}

}  // namespace

int log_verb(const LogRequest& request) {
  if (request.top < 0) {
    throw BadUse(fmt::format("--top {}: a number of messages, 1 or more", request.top));
  }
  const auto path = log_of(request.run == "latest" ? latest_run() : fs::path(request.run));
  const bool messages = path.filename() != "summary.json";
  TrafficDigest digest(static_cast<std::size_t>(request.top));
  bool cut = false;
  if (messages) {
    cut = read_messages(request, path, digest);
  } else {
    read_sums(request, path, digest);
  }
  if (request.json) {
    print_json(request, path, digest, cut);
  } else {
    print_text(request, digest, messages);
  }
  return 0;
}

}  // namespace ringside
