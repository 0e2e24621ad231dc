// A folder that takes the place of another, so that one of the two, whole, always has the name.
#pragma once

#include <filesystem>
#include <string_view>

namespace ringside {

// Puts `unfinished` where `place` is; what was there is gone afterwards. Where the system can
// exchange two names it does; elsewhere there is a moment in which a kill leaves the old one as
// "PLACE.<process>.old" only, which recover_folders undoes. Throws filesystem_error.
void replace_folder(const std::filesystem::path& unfinished, const std::filesystem::path& place);

// Gives the folders in `folder` whose names begin with `prefix`, and that were left as ".old" by a
// process that is gone, their names back, but where a new one has the name.
void recover_folders(const std::filesystem::path& folder, std::string_view prefix);

}  // namespace ringside
