// Files that a user can hand in, as bytes that nobody wrote on purpose. The first byte selects the
// parser. A refusal is an answer; anything else but a result is a finding.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "models/published_config.hpp"
#include "models/safetensors.hpp"
#include "parallel/pipeline/schedule_csv.hpp"
#include "runtime/errors.hpp"
#include "runtime/traffic_log.hpp"
#include "scenarios/scenario_file.hpp"

namespace {

using namespace ringside;

// Files are parsed by path: one in memory has one.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", 0)) {
    if (write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      std::abort();
    }
  }

  ~MemoryFile() { close(descriptor_); }

  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

using Parser = void (*)(std::string_view);

constexpr std::array<Parser, 5> parsers{
    [](std::string_view text) { parse_scenario(text, "fuzz.toml"); },
    [](std::string_view text) { parse_schedule_csv(text, "fuzz.csv"); },
    [](std::string_view text) { read_published_config(MemoryFile(text).path()); },
    [](std::string_view text) { load_safetensors(MemoryFile(text).path()); },
    [](std::string_view text) {
      read_traffic_log(MemoryFile(text).path(), [](const LoggedMessage&) {});
    },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    parsers[data[0] % parsers.size()](text);
  } catch (const BadUse& refusal) {
    if (std::string_view(refusal.what()).size() > 20'000) {
      std::abort();  // a refusal that repeats the file
    }
  }
  return 0;
}
