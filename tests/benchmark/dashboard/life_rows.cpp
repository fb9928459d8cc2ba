// SPDX-License-Identifier: Apache-2.0
// Calls whose cost must follow what is alive, not what ever lived or what waits to be freed.
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/require.h"

namespace bench {
namespace {

void MallocAndFree() {
    void* memory = nullptr;
    Require(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    Require(aclrtFree(memory));
}

// 100,000 streams at a time, which are destroyed before the row is measured.
void LetStreamsLive() {
    constexpr int kStreams = 100'000;
    std::vector<aclrtStream> streams(kStreams);
    for (aclrtStream& stream : streams) {
        Require(aclrtCreateStream(&stream));
    }
    for (const aclrtStream stream : streams) {
        Require(aclrtDestroyStream(stream));
    }
}

Prepared PrepareFreeAfterLives() {
    LetStreamsLive();
    return {{InARow(&MallocAndFree), {}, false}, ""};
}

Prepared PrepareAbortAfterLives() {
    LetStreamsLive();
    return {{InARow([] { Require(aclrtStreamAbort(nullptr)); }), {}, false}, ""};
}

// A stream that waits for a notify, and so holds up what is freed meanwhile.
class HeldStream {
 public:
    HeldStream() {
        Require(aclrtCreateStream(&stream_));
        Require(aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT));
        Require(aclrtWaitAndResetNotify(notify_, stream_, 0));
    }
    ~HeldStream() {
        Require(aclrtRecordNotify(notify_, nullptr));
        Require(aclrtDestroyStream(stream_));
        Require(aclrtDestroyNotify(notify_));
    }
    HeldStream(const HeldStream&) = delete;
    HeldStream& operator=(const HeldStream&) = delete;

 private:
    aclrtStream stream_ = nullptr;
    aclrtNotify notify_ = nullptr;
};

Prepared PrepareFreeHeldUp() {
    constexpr int kBlocks = 10'000;
    const auto held = std::make_shared<HeldStream>();
    for (int block = 0; block < kBlocks; ++block) {
        MallocAndFree();
    }
    // Each call leaves one block more: few runs, so that the device's memory lasts.
    Side side = InARow([held] { MallocAndFree(); });
    side.fixedRuns = 1000;
    return {{side, {}, false}, ""};
}

}  // namespace

Rows LifeRows() {
    constexpr double kMicrosecond = 1000;
    return {{"free_lives", "malloc and free after 100,000 streams lived", "",
             Nanoseconds(5 * kMicrosecond), &PrepareFreeAfterLives},
            {"abort_lives", "an abort after 100,000 streams lived", "",
             Nanoseconds(5 * kMicrosecond), &PrepareAbortAfterLives},
            {"free_held_up", "malloc and free, 10,000 freed blocks before wait", "",
             Nanoseconds(5 * kMicrosecond), &PrepareFreeHeldUp}};
}

}  // namespace bench
