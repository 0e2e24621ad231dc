#include "runtime/traffic_line.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runtime/errors.hpp"
#include "runtime/files/quoted.hpp"
#include "runtime/json_text.hpp"

namespace ringside {
namespace {

using Json = nlohmann::json;

struct Key {
  std::string_view name;
  bool text = false;
};

// In the order of `keys`.
enum Field : std::uint8_t {
  group,
  seq,
  op,
  algorithm,
  phase,
  step,
  chunk,
  label,
  src,
  dst,
  link,
  bytes,
  start_ps,
  end_ps,
  wall_ns
};

constexpr std::size_t most_text = 256;      // ours have at most 32
constexpr std::int32_t most_rank = 65'535;  // as of a run

constexpr std::array<Key, 15> keys = {{{"group", true},
                                       {"seq"},
                                       {"op", true},
                                       {"algorithm", true},
                                       {"phase", true},
                                       {"step"},
                                       {"chunk"},
                                       {"label", true},
                                       {"src"},
                                       {"dst"},
                                       {"link", true},
                                       {"bytes"},
                                       {"start_ps"},
                                       {"end_ps"},
                                       {"wall_ns"}}};

// Takes the values of one flat object as the parser meets them: a log has a million lines, and a
// document object for each takes several times as long.
class LineReader final : public nlohmann::json_sax<Json> {
 public:
  std::array<std::string, keys.size()> texts;
  std::array<std::int64_t, keys.size()> numbers{};

  void require_all() const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!seen_[i]) {
        throw BadUse(fmt::format("no \"{}\"", keys[i].name));
      }
    }
  }

  bool key(string_t& name) override {
    const auto named = [&](const Key& k) { return k.name == name; };
    const auto found = std::find_if(keys.begin(), keys.end(), named);
    field_ = depth_ == 1 && found != keys.end() ? &*found : nullptr;
    return true;
  }

  bool string(string_t& value) override {
    if (const auto field = take(true, true)) {
      if (value.size() > most_text) {
        throw BadUse(fmt::format("\"{}\" has {} bytes, and at most {} are read", keys[*field].name,
                                 value.size(), most_text));
      }
      texts[*field] = std::move(value);
    }
    return true;
  }

  bool number_integer(number_integer_t value) override {
    if (const auto field = take(false, true)) {
      numbers[*field] = value;
    }
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (const auto field = take(false, std::in_range<std::int64_t>(value))) {
      numbers[*field] = static_cast<std::int64_t>(value);
    }
    return true;
  }

  bool number_float(number_float_t, const string_t&) override { return other(); }

  bool null() override { return other(); }

  bool boolean(bool) override { return other(); }

  bool binary(binary_t&) override { return other(); }

  bool start_object(std::size_t) override { return depth_++ == 0 || other(); }

  bool end_object() override { return --depth_, true; }

  bool start_array(std::size_t) override { return depth_++ > 0 && other(); }

  bool end_array() override { return --depth_, true; }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  // The field that the value at hand belongs to; none: a key that is passed over.
  std::optional<std::size_t> take(bool text, bool in_range) {
    if (field_ == nullptr) {
      return std::nullopt;
    }
    const auto& key = *std::exchange(field_, nullptr);
    if (key.text != text || !in_range) {
      throw BadUse(fmt::format("\"{}\" is not {}", key.name,
                               key.text ? "a text" : "a whole number in its range"));
    }
    const auto index = static_cast<std::size_t>(&key - keys.data());
    seen_[index] = true;
    return index;
  }

  bool other() {
    take(false, false);
    return true;
  }

  int depth_ = 0;
  const Key* field_ = nullptr;
  std::array<bool, keys.size()> seen_{};
};

std::int64_t within(std::int64_t value, std::int64_t least, std::int64_t most,
                    std::string_view key) {
  if (value < least || value > most) {
    throw BadUse(fmt::format("\"{}\" is {}, not {} to {}", key, value, least, most));
  }
  return value;
}

std::int32_t int32(std::int64_t value, std::string_view key) {
  return static_cast<std::int32_t>(
      within(value, -1, std::numeric_limits<std::int32_t>::max(), key));
}

std::int32_t rank_in(std::int64_t value, std::string_view key) {
  return static_cast<std::int32_t>(within(value, 0, most_rank, key));
}

}  // namespace

LinkClass parse_link(std::string_view name) {
  for (const auto link : {LinkClass::nvlink, LinkClass::ib, LinkClass::self}) {
    if (name == name_of(link)) {
      return link;
    }
  }
  throw BadUse(fmt::format("\"link\" is {}, not nvlink, ib or self", json_quoted(shortened(name))));
}

std::string traffic_line(const LoggedMessage& m) {
  return fmt::format(
      R"({{"group":"{}","seq":{},"op":"{}","algorithm":"{}","phase":"{}","step":{},"chunk":{},)"
      R"("label":"{}","src":{},"dst":{},"link":"{}","bytes":{},"start_ps":{},"end_ps":{},)"
      R"("wall_ns":{}}})",
      json_escaped(m.group), m.seq, json_escaped(m.op), json_escaped(m.algorithm),
      json_escaped(m.phase), m.step, m.chunk, json_escaped(m.label), m.src, m.dst, name_of(m.link),
      m.bytes, m.start.count(), m.end.count(), m.wall_ns);
}

LoggedMessage parse_traffic_line(std::string_view line) {
  LineReader reader;
  if (!Json::sax_parse(line.begin(), line.end(), &reader)) {
    throw BadUse("no JSON object");
  }
  reader.require_all();
  auto& text = reader.texts;
  const auto& number = reader.numbers;
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  LoggedMessage m;
  m.group = std::move(text[group]);
  m.seq = static_cast<std::uint64_t>(within(number[seq], 0, largest, "seq"));
  m.op = std::move(text[op]);
  m.algorithm = std::move(text[algorithm]);
  m.phase = std::move(text[phase]);
  m.step = int32(number[step], "step");
  m.chunk = int32(number[chunk], "chunk");
  m.label = std::move(text[label]);
  m.src = rank_in(number[src], "src");
  m.dst = rank_in(number[dst], "dst");
  m.link = parse_link(text[link]);
  m.bytes = within(number[bytes], 0, largest, "bytes");
  m.start = Time(within(number[start_ps], 0, largest, "start_ps"));
  m.end = Time(within(number[end_ps], number[start_ps], largest, "end_ps"));
  m.wall_ns = number[wall_ns];
  return m;
}

}  // namespace ringside
