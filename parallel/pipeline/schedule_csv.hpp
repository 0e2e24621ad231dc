// Schedules as text: the CSV of torch.distributed.pipelining.
//
// A row for each device, a cell for each step: stage, kind, micro-batch ("2F5"), an F and a B that
// are computed together as "(2F5;1B3)OVERLAP_F_B", nothing where the device waits.
#pragma once

#include <string>
#include <string_view>

#include "parallel/pipeline/schedule.hpp"

namespace ringside {

// Stages and micro-batches are those that occur, from 0 on. Blank cells, spaces and the line ends
// of other systems are skipped. In a file without I, a B that has a W of its own is an I, as in the
// Zero Bubble papers. Throws BadUse with `name`, row and cell for what cannot be read; the schedule
// is not validated, but for that it has no more stages and micro-batches than its cells can be of.
Schedule parse_schedule_csv(std::string_view text, std::string_view name);

// Of a file, as parse_schedule_csv does, which may have 32 MiB.
Schedule read_schedule(const std::string& path);

// Each cell in the first column in which what it needs is there, when all cells take equally long.
// parse_schedule_csv gives the schedule back, but for its chunks.
std::string csv_of(const Schedule& schedule);

}  // namespace ringside
