#include "runtime/live_log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "runtime/logged_message.hpp"

namespace ringside {

// A logger of this rank's own, without spdlog's registry, lock or thread: nothing of it is shared
// across a fork or between ranks.
LiveLog::LiveLog()
    : logger_(std::make_shared<spdlog::logger>("live",
                                               std::make_shared<spdlog::sinks::stderr_sink_st>())) {
  logger_->set_pattern("%v");
}

void LiveLog::message(const TrafficRecord& record) {
  logger_->info("{}", describe(logged(record)));
}

}  // namespace ringside
