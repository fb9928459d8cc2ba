// SPDX-License-Identifier: Apache-2.0
// Compares accesses to the same bytes.

#include "src/runtime/sanitizer/access_history.h"

namespace advstep {

void AccessHistory::Add(uint64_t begin, uint64_t end, const WorkAccess& access,
                        const Conflict& conflict) {
    cells_.Fill(begin, end, [&](uint64_t from, uint64_t to, Cell& cell) {
        if (cell.write.work != nullptr && access.work->Unordered(*cell.write.work)) {
            conflict(cell.write, from, to);
        }
        for (const WorkAccess& read : cell.reads) {
            if (access.writes && access.work->Unordered(*read.work)) {
                conflict(read, from, to);
            }
        }
        AddTo(&cell, access);
    });
}

// A function of the program acts when it runs, so work that comes after it in its stream may have
// been added before.
void AccessHistory::AddTo(Cell* cell, const WorkAccess& access) {
    const OrderedWork& work = *access.work;
    if (access.writes) {
        const bool isOlder = cell->write.work != nullptr && cell->write.work != access.work &&
                             work.Before(*cell->write.work);
        if (!isOlder) {
            cell->write = access;
            cell->reads.clear();
        }
        return;
    }
    for (WorkAccess& read : cell->reads) {
        if (read.work->stream == work.stream) {
            if (read.work->sequence <= work.sequence) {
                read = access;
            }
            return;
        }
    }
    cell->reads.push_back(access);
}

void AccessHistory::AddInexact(uint64_t begin, uint64_t end, const WorkAccess& access) {
    inexact_.push_back({begin, end, access});
}

}  // namespace advstep
