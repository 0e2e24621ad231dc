#include "runtime/files/leftovers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <system_error>

#include "runtime/files/file_lock.hpp"

namespace ringside {

namespace fs = std::filesystem;

namespace {

// The number before the ending; 0: there is none.
pid_t writer_of(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) {
    return 0;
  }
  name.remove_suffix(ending.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) {
    return 0;
  }
  pid_t writer = 0;
  const char* end = name.data() + name.size();
  const auto [read, error] = std::from_chars(name.data() + dot + 1, end, writer);
  return error == std::errc() && read == end && writer > 0 ? writer : 0;
}

bool abandoned(const fs::path& path, pid_t writer) {
  try {
    return kill(writer, 0) != 0 && errno == ESRCH && FileLock::take(path).has_value();
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

fs::path beside(const fs::path& place, std::string_view ending) {
  return place.string() + "." + std::to_string(getpid()) + std::string(ending);
}

std::string_view place_of_leftover(std::string_view name, std::string_view ending) {
  if (writer_of(name, ending) == 0) {
    return {};
  }
  name.remove_suffix(ending.size());
  return name.substr(0, name.rfind('.'));
}

std::vector<fs::path> leftovers_in(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> found;
  std::error_code failed;
  fs::directory_iterator entries(folder.empty() ? fs::path(".") : folder, failed);
  for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
    const std::string name = entries->path().filename().string();
    const pid_t writer = writer_of(name, ending);
    if (writer != 0 && abandoned(entries->path(), writer)) {
      found.push_back(entries->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void remove_leftovers_of(const fs::path& place) {
  const std::string name = place.filename().string();
  for (const auto& left : leftovers_in(place.parent_path(), ".tmp")) {
    if (place_of_leftover(left.filename().string(), ".tmp") == name) {
      std::error_code failed;
      fs::remove(left, failed);
    }
  }
}

void remove_leftovers(const fs::path& folder, std::string_view prefix, std::string_view ending) {
  for (const auto& left : leftovers_in(folder, ending)) {
    if (place_of_leftover(left.filename().string(), ending).starts_with(prefix)) {
      std::error_code failed;
      fs::remove_all(left, failed);
    }
  }
}

}  // namespace ringside
