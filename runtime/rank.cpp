#include "runtime/rank.hpp"

#include <algorithm>
#include <numeric>
#include <thread>

#include "runtime/comm.hpp"
#include "runtime/live_log.hpp"
#include "runtime/wires.hpp"

namespace ringside {

namespace {

constexpr std::int64_t catch_up_ns = 1'000'000;         // a delay that shorter sleeps make good
constexpr std::int64_t longest_sleep_ns = 100'000'000;  // between two looks at the abort flag

std::vector<int> everyone(int n) {
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

Rank::Rank(int id, SharedJob& job, const JobOptions& options, const std::vector<int>& listeners,
           std::function<void(std::string_view)> send_note)
    : id_(id),
      job_(job),
      state_(job.rank(id)),
      options_(options),
      send_note_(std::move(send_note)),
      memory_(job.region(id), options.cluster.capacity, "rank " + std::to_string(id),
              options.memory),
      waiter_(job, id, options.limit),
      endpoint_(state_, memory_, waiter_, options.eager_limit),
      traffic_(options.log),
      clock_(options.cluster.flops),
      wires_(std::make_unique<Wires>(id, job, options, waiter_, listeners)) {
  endpoint_.connect(wires_->by_rank());
  clock_.on_charge = [this](std::string_view label, Time start, Time end) {
    state_.activity.fetch_add(1, std::memory_order_relaxed);
    record(clock_.stream(), label, start, end);
    keep_pace();
  };
  if (options.live) {
    live_ = std::make_unique<LiveLog>(send_note_);
    traffic_.on_received = [this](const TrafficRecord& record) { live_->message(record); };
  }
  world_ = std::make_unique<Comm>(*this, "world", everyone(job.ranks()));
}

Rank::~Rank() = default;

void Rank::advance_to(Time t) {
  clock_.stream().advance_to(t);
  keep_pace();
}

std::int64_t Rank::wall_ns() const {
  return steady_ns() - job_.job().wall_start_ns.load(std::memory_order_relaxed);
}

// A delay too long to catch up on moves all that follows: what comes later still takes its time.
void Rank::keep_pace() {
  if (options_.pace <= 0) {
    return;
  }
  const double paced_ns = static_cast<double>(now().count()) / 1000.0 * options_.pace;
  const std::int64_t due = behind_ns_ + static_cast<std::int64_t>(paced_ns);
  if (const std::int64_t late = wall_ns() - due; late > catch_up_ns) {
    behind_ns_ += late;
  }
  sleep_until(due);
}

void Rank::sleep_until(std::int64_t due) {
  for (std::int64_t left = due - wall_ns(); left > 0; left = due - wall_ns()) {
    if (job_.job().aborted.load(std::memory_order_relaxed)) {
      throw JobAborted("stopped while keeping the pace: " + job_.abort_text());
    }
    state_.activity.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left, longest_sleep_ns)));
  }
}

Stream& Rank::new_stream(std::string name) {
  auto& stream = streams_.emplace_back(std::make_unique<Stream>());
  stream->index = streams_.size();
  stream->name = std::move(name);
  return *stream;
}

void Rank::record(const Stream& stream, std::string_view name, Time start, Time end) {
  if (options_.trace) {
    spans_.push_back({static_cast<std::uint32_t>(stream.index), name, start, end});
  }
}

std::uint64_t Rank::group_instance(std::uint64_t identity) {
  return groups_[identity]++;
}

// Sockets stay open until every rank has finished, so that nobody's last words are cut off.
void Rank::finish() {
  wires_->flush();
  state_.finished.store(true, std::memory_order_seq_cst);
  auto& finished = job_.job().finished_ranks;
  finished.fetch_add(1, std::memory_order_seq_cst);
  if (cluster().nodes(size()) == 1) {
    return;
  }
  for (int r = 0; r < size(); ++r) {
    job_.rank(r).mailbox.bell.ring();
  }
  // Without a limit of its own: whoever still works has one, and an abort ends this wait too.
  Waiter(job_, id_, std::chrono::hours(24 * 365))
      .until(
          [&] { return finished.load(std::memory_order_seq_cst) == static_cast<unsigned>(size()); },
          {.kind = std::string_view("finish")});
}

RankReport Rank::report() {
  RankReport report{.sums = traffic_.sums(),
                    .records = traffic_.records(),
                    .spans = spans_,
                    .streams = {std::string_view(clock_.stream().name)},
                    .memory = memory_.ledger(),
                    .modelled = now(),
                    .wall_ns = wall_ns(),
                    .behind_ns = behind_ns_};
  for (const auto& stream : streams_) {
    report.streams.emplace_back(std::string_view(stream->name));
  }
  return report;
}

}  // namespace ringside
