// What the system sets bounds to, and how much of it is in use.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "runtime/process.hpp"

namespace ringside {

namespace {

template <class Resource>
std::optional<std::uint64_t> soft_limit(Resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

// The number after "Name:" in a file of /proc; in /proc/meminfo and the like it is in kB.
std::optional<std::uint64_t> proc_number(const std::string& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name)) {
      const auto digit = line.find_first_of("0123456789");
      std::uint64_t number = 0;
      if (digit != std::string::npos) {
        std::from_chars(line.data() + digit, line.data() + line.size(), number);
        return number;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> descriptor_limit() {
  return soft_limit(RLIMIT_NOFILE);
}

std::uint64_t open_descriptors() {
  std::error_code error;
  std::filesystem::directory_iterator list("/dev/fd", error);
  std::uint64_t count = 0;
  for (; !error && list != std::filesystem::directory_iterator(); list.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 3;  // the list itself was open
}

std::optional<std::uint64_t> process_limit() {
  return getuid() == 0 ? std::nullopt : soft_limit(RLIMIT_NPROC);
}

std::optional<std::uint64_t> processes_of_user() {
  std::error_code error;
  std::filesystem::directory_iterator list("/proc", error);
  std::uint64_t count = 0;
  for (; !error && list != std::filesystem::directory_iterator(); list.increment(error)) {
    const std::string name = list->path().filename();

    struct stat about {};

    if (name.find_first_not_of("0123456789") == std::string::npos &&
        stat(list->path().c_str(), &about) == 0 && about.st_uid == getuid()) {
      count += proc_number(list->path() / "status", "Threads:").value_or(1);
    }
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::optional<std::uint64_t> address_space_limit() {
  return soft_limit(RLIMIT_AS);
}

std::optional<std::uint64_t> address_space_in_use() {
  const auto kb = proc_number("/proc/self/status", "VmSize:");
  return kb ? std::optional(*kb * 1024) : std::nullopt;
}

std::optional<MachineMemory> machine_memory() {
  const auto total = proc_number("/proc/meminfo", "MemTotal:");
  const auto available = proc_number("/proc/meminfo", "MemAvailable:");
  if (!total || !available) {
    return std::nullopt;
  }
  const auto swap = proc_number("/proc/meminfo", "SwapTotal:").value_or(0);
  return MachineMemory{(*total + swap) * 1024, *available * 1024};
}

void leave_out_of_core_dumps(void* address, std::size_t bytes) {
#ifdef MADV_DONTDUMP
  madvise(address, bytes, MADV_DONTDUMP);
#else
  static_cast<void>(address);
  static_cast<void>(bytes);
#endif
}

}  // namespace ringside
