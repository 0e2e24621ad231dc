#include "runtime/files/replace_folder.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>

#include "runtime/files/file_lock.hpp"
#include "runtime/files/leftovers.hpp"

namespace ringside {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view old_ending = ".old";

// False: this system, or this disk, cannot.
bool exchange(const fs::path& a, const fs::path& b) {
#ifdef RENAME_EXCHANGE
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) {
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) {
    throw fs::filesystem_error("exchange", a, b, std::error_code(errno, std::generic_category()));
  }
#endif
  return false;
}

}  // namespace

void replace_folder(const fs::path& unfinished, const fs::path& place) {
  if (!fs::exists(place)) {
    fs::rename(unfinished, place);
    return;
  }
  if (exchange(unfinished, place)) {
    fs::remove_all(unfinished);
    return;
  }
  const std::optional<FileLock> lock = FileLock::take(place);  // until it is gone
  const fs::path old = beside(place, old_ending);
  fs::rename(place, old);
  fs::rename(unfinished, place);
  fs::remove_all(old);
}

void recover_folders(const fs::path& folder, std::string_view prefix) {
  for (const auto& old : leftovers_in(folder, old_ending)) {
    const std::string name = old.filename().string();
    const std::string_view place = place_of_leftover(name, old_ending);
    if (!place.starts_with(prefix)) {
      continue;
    }
    std::error_code failed;
    if (!fs::exists(folder / place, failed)) {
      fs::rename(old, folder / place, failed);
    }
  }
}

}  // namespace ringside
