// The verb `clean`: removes old run folders under ./runs.
#pragma once

namespace ringside {

struct CleanRequest {
  int keep = 10;         // the last runs, which stay
  bool dry_run = false;  // says what would go, and removes nothing
  bool json = false;
};

// Prints each folder that goes, and what stays. It removes only what a run left (run_folders.hpp),
// file by file; a run that is going on, a link, a checkpoint and a folder with anything else in it
// stay. Exit code 0, or 2 when a folder could not be removed, which is named on stderr.
int clean_verb(const CleanRequest& request);

}  // namespace ringside
