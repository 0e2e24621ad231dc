#!/usr/bin/env bash
# Every rule of scripts/checks/floors catches its breach.
set -euo pipefail
# shellcheck source=tests/scripts/planted.sh
source "$(dirname "${BASH_SOURCE[0]}")/planted.sh"

passes floors 'a sound tree'

plant runtime/port.cpp '#include "collectives/chunk.hpp"'
catches floors 'runtime/port.cpp:1: runtime/ includes "collectives/chunk.hpp"' 'runtime above itself'
plant collectives/ring.cpp '' '#include "models/linear.hpp"'
catches floors 'collectives/ring.cpp:2' 'collectives on models'
plant models/mlp.cpp '#include "collectives/chunk.hpp"'
catches floors 'models/mlp.cpp:1' 'models on collectives'
plant parallel/zero.cpp '#  include "scenarios/check.hpp"'
plant scenarios/check.hpp '#pragma once'
catches floors 'parallel/zero.cpp:1' 'parallel on scenarios'
plant runtime/port_test.cpp '#include "tests/models/linear_test.cpp"'
catches floors 'runtime/port_test.cpp:1' 'a floor on tests'
plant tests/runtime/port_test.cpp '#include "collectives/chunk.hpp"'
catches floors 'tests/runtime/port_test.cpp:1' 'a test above its floor'

plant models/mlp.cpp '#include "runtime/comm.hpp"'
catches floors 'models/mlp.cpp -> runtime/comm.hpp' 'models on communication'
plant runtime/tensor.hpp '#include "runtime/endpoint.hpp"'
plant runtime/endpoint.hpp '#pragma once'
catches floors 'models/linear.hpp -> runtime/tensor.hpp -> runtime/endpoint.hpp' \
  'models on communication, by another header'

plant collectives/ring.cpp '#include "chunk.hpp"'
catches floors 'is not a path from the root' 'an include that is not from the root'

while read -r file header; do
  plant "$file" "#include <$header>"
  catches floors "$file:1: <$header>" 'a third party outside its fence'
done <<'END'
runtime/port.cpp boost/asio/ip/tcp.hpp
runtime/port.cpp boost/interprocess/sync/interprocess_semaphore.hpp
runtime/job.cpp boost/asio.hpp
collectives/ring.cpp boost/container/small_vector.hpp
runtime/trace.cpp spdlog/spdlog.h
collectives/ring.cpp Eigen/Core
scenarios/check.cpp Eigen/Core
parallel/mesh.cpp CLI/CLI.hpp
runtime/job.cpp toml++/toml.h
models/mlp.cpp nlohmann/json.hpp
runtime/port.cpp gtest/gtest.h
END

while read -r file header; do
  plant "$file" "#include <$header>"
done <<'END'
runtime/socket_wire.cpp boost/asio/ip/tcp.hpp
runtime/job.cpp boost/interprocess/anonymous_shared_memory.hpp
runtime/live_log.cpp spdlog/spdlog.h
collectives/ring.cpp spdlog/fmt/fmt.h
models/matrix.hpp Eigen/Core
scenarios/flags.cpp CLI/CLI.hpp
scenarios/scenario_toml.cpp toml++/toml.h
scenarios/report.cpp nlohmann/json.hpp
parallel/ring.cpp vector
END
passes floors 'third parties behind their fences'
sound_tree

for name in runtime/util.hpp parallel/ring_helper.cpp scenarios/common/check.cpp tests/manager.hpp; do
  plant "$name" ''
  catches floors "$name: the name says nothing" "the name $name"
done
plant runtime/commons_of_utility.hpp '#pragma once'
passes floors 'a name that only holds a refused word'

((failures == 0))
