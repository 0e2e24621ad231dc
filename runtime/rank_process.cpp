#include "runtime/rank_process.hpp"

#include <limits>

#include "runtime/cause.hpp"
#include "runtime/errors.hpp"

namespace ringside {

void send_outcome(int pipe, const RankOutcome& outcome) {
  const bool returned = outcome.ending == Ending::returned;
  if (!returned) {  // first: the job is to end soon
    write_frame(pipe, FrameKind::exception, outcome.type + '\0' + outcome.text);
  }
  write_frame(pipe, FrameKind::report, outcome.report.encode());
  if (returned) {  // last: who has it has everything
    write_frame(pipe, FrameKind::value, outcome.value);
  }
}

void RankProcess::start(const std::function<void(int pipe)>& body) {
  Pipe made = make_pipe();
  process_ = std::make_unique<ChildProcess>([&] {
    made.read.close();
    body(made.write.get());
  });
  pid_ = process_->pid();
  pipe_ = std::move(made.read);
}

bool RankProcess::listen(std::uint64_t turn, std::size_t most, std::span<char> scratch,
                         const OnNote& on_note) {
  std::string_view got;
  std::size_t read = 0;
  while (pipe_ && read < most) {
    const Reading reading = read_available(pipe_, scratch, got);
    if (reading == Reading::nothing_there) {
      break;
    }
    if (reading == Reading::closed) {
      pipe_.close();
      noticed = noticed == 0 ? turn : noticed;
      break;
    }
    read += got.size();
    try {
      for (Frame& frame : frames_.feed(got)) {
        handle(std::move(frame), turn, on_note);
      }
    } catch (const PeerLost& nonsense) {
      has_exception_ = true;
      fail(turn, Ending::threw, "PeerLost", nonsense.what());
      pipe_.close();
    }
  }
  return read > 0;
}

void RankProcess::handle(Frame frame, std::uint64_t turn, const OnNote& on_note) {
  switch (frame.kind) {
    case FrameKind::note:
      on_note(frame.payload);
      return;
    case FrameKind::report:
      outcome.report = RankReport::decode(frame.payload);
      return;
    case FrameKind::value:
      outcome.value = std::move(frame.payload);
      has_value_ = true;
      return;
    case FrameKind::exception: {
      const auto end_of_type = frame.payload.find('\0');
      std::string type = frame.payload.substr(0, end_of_type);
      const Ending ending = type == "JobAborted" ? Ending::stopped : Ending::threw;
      has_exception_ = true;
      fail(turn, ending, std::move(type), frame.payload.substr(end_of_type + 1));
      return;
    }
  }
}

void RankProcess::fail(std::uint64_t turn, Ending ending, std::string type, std::string text,
                       int code) {
  noticed_failure_ = true;
  if (outcome.ending == Ending::silent) {  // that it wakes in the end does not change why
    return;
  }
  outcome.ending = ending;
  outcome.type = std::move(type);
  outcome.text = std::move(text);
  outcome.code = code;
  noticed = noticed == 0 ? turn : noticed;
}

bool RankProcess::reap(std::uint64_t turn, std::span<char> scratch, const OnNote& on_note) {
  const auto end = runs() ? process_->ended() : std::nullopt;
  if (!end) {
    return false;
  }
  listen(turn, std::numeric_limits<std::size_t>::max(), scratch, on_note);  // its last words
  pipe_.close();
  process_.reset();
  settle(*end, turn);
  return true;
}

void RankProcess::settle(ProcessEnd end, std::uint64_t turn) {
  const bool orderly = !end.by_signal && end.code == 0;
  if (has_exception_ || outcome.ending == Ending::silent) {
    return;
  }
  if (has_value_ && (orderly || killed_)) {
    outcome.ending = Ending::returned;
    outcome.text.clear();
  } else if (killed_) {
    return;
  } else if (end.by_signal) {
    fail(turn, Ending::killed, "", "was killed by " + signal_name(end.code), end.code);
  } else {
    fail(turn, Ending::exited, "",
         "exited with code " + std::to_string(end.code) + " before its function had returned",
         end.code);
  }
}

void RankProcess::call_silent(std::uint64_t turn, std::string why) {
  fail(turn, Ending::silent, "", std::move(why));
}

void RankProcess::stop(const std::optional<WaitRecord>& wait, const std::string& cause) {
  if (runs() && !killed_) {
    process_->kill();
    killed_ = true;
    if (!has_failed()) {
      outcome.text = stopped_text(wait, cause);
    }
  }
}

}  // namespace ringside
