#include "scenarios/exit_codes.hpp"

#include <filesystem>
#include <new>

#include "runtime/errors.hpp"

namespace ringside {

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const BadUse& e) {
    return {exit_bad_use, "refused", e.what()};
  } catch (const PeerLost& e) {
    return {exit_peer_lost, "lost", e.what()};
  } catch (const Deadlock& e) {
    return {exit_deadlock, "deadlock", e.what()};
  } catch (const Desync& e) {
    return {exit_deadlock, "mismatch", e.what()};
  } catch (const OutOfDeviceMemory& e) {
    return {exit_out_of_memory, "oom", e.what()};
  } catch (const std::filesystem::filesystem_error& e) {  // a file or folder of the user's
    return {exit_bad_use, "refused",
            (e.path1().empty() ? "the working folder" : e.path1().string()) + ": " +
                e.code().message()};
  } catch (const std::bad_alloc&) {
    return {exit_bad_use, "refused",
            "this machine has no more memory: use a smaller model or batch"};
  } catch (const std::exception& e) {
    return {exit_peer_lost, "lost", e.what()};
  } catch (...) {
    return {exit_peer_lost, "lost", "an error without a text"};
  }
}

}  // namespace ringside
