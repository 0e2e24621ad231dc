#include "scenarios/owner.hpp"

#include <pwd.h>
#include <sys/stat.h>

namespace ringside {

std::string owner_text(std::filesystem::path path) {
  struct stat about {};

  while (stat(path.c_str(), &about) != 0) {
    if (path == path.parent_path()) {
      return "its owner cannot be told";
    }
    path = path.parent_path();
  }
  const passwd* user = getpwuid(about.st_uid);
  return "\"" + path.string() + "\" belongs to " +
         (user != nullptr ? user->pw_name : "user " + std::to_string(about.st_uid));
}

}  // namespace ringside
