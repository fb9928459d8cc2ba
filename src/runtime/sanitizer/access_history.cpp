// SPDX-License-Identifier: Apache-2.0
// Compares accesses to the same bytes.

#include "src/runtime/sanitizer/access_history.h"

namespace advstep {
namespace {

// With more accesses than this to a byte, the oldest ones are forgotten that come before the new
// one. Then a race may be told with one of its two works only.
constexpr size_t kMostAccesses = 64;

// Returns whether the new access has the same races with later ones, at the same call sites.
bool Covers(const WorkAccess& access, const WorkAccess& earlier) {
    return earlier.work->site == access.work->site && earlier.use == access.use &&
           earlier.writes == access.writes && earlier.work->Before(*access.work);
}

}  // namespace

void AccessHistory::Add(uint64_t begin, uint64_t end, const WorkAccess& access,
                        const Conflict& conflict, const IsOld& isOld) {
    cells_.Fill(begin, end, [&](uint64_t from, uint64_t to, Cell& cell) {
        for (const WorkAccess& earlier : cell) {
            if ((access.writes || earlier.writes) && access.work->Unordered(*earlier.work)) {
                conflict(earlier, from, to);
            }
        }
        AddTo(&cell, access, isOld);
    });
}

// A function of the program acts when it runs, so work that comes after it in its stream may have
// been added before.
void AccessHistory::AddTo(Cell* cell, const WorkAccess& access, const IsOld& isOld) {
    cell->erase(std::remove_if(cell->begin(), cell->end(),
                               [&](const WorkAccess& earlier) {
                                   return Covers(access, earlier) || isOld(*earlier.work);
                               }),
                cell->end());
    if (cell->size() >= kMostAccesses) {
        const auto before = std::find_if(
            cell->begin(), cell->end(),
            [&](const WorkAccess& earlier) { return earlier.work->Before(*access.work); });
        cell->erase(before == cell->end() ? cell->begin() : before);
    }
    cell->push_back(access);
}

void AccessHistory::AddInexact(uint64_t begin, uint64_t end, const WorkAccess& access) {
    inexact_.push_back({begin, end, access});
}

void AccessHistory::Sweep(const IsOld& isOld) {
    const auto isOldAccess = [&](const WorkAccess& access) { return isOld(*access.work); };
    cells_.Sweep([&](Cell& cell) {
        cell.erase(std::remove_if(cell.begin(), cell.end(), isOldAccess), cell.end());
        return cell.empty();
    });
    inexact_.erase(
        std::remove_if(inexact_.begin(), inexact_.end(),
                       [&](const Inexact& inexact) { return isOldAccess(inexact.access); }),
        inexact_.end());
    sweepAt_ = std::max(kLeastSweep, 2 * (cells_.Size() + inexact_.size()));
}

}  // namespace advstep
