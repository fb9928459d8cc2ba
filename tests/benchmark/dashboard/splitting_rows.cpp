// SPDX-License-Identifier: Apache-2.0
// One launch cut over simulated cores and threads, beside the same on one core, which is serial.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/benchmark/dashboard/advance_sides.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/plain_halves.h"
#include "tests/benchmark/require.h"
#include "tests/benchmark/same_steps.h"

namespace bench {
namespace {

// A repeatable executor that was planned for one core, or for all of the SoC's.
class PlannedFor {
 public:
    PlannedFor(const BareBatch& initial, bool oneCore)
        : batch_(std::make_shared<AdvanceBatch>(initial, kDefaultBlockSize)) {
        if (oneCore) {
            Require(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 1));
        }
        executor_ = batch_->PhaseOne();
        Require(aclrtResetDeviceResLimit(0));
        Require(aclSetAclOpExecutorRepeatable(executor_));
    }
    ~PlannedFor() { Require(aclDestroyAclOpExecutor(executor_)); }
    PlannedFor(const PlannedFor&) = delete;
    PlannedFor& operator=(const PlannedFor&) = delete;

    static Side MakeSide(const BareBatch& initial, bool oneCore) {
        const auto planned = std::make_shared<PlannedFor>(initial, oneCore);
        return AdvanceSide(planned->batch_, [planned] { planned->Run(); });
    }

    AdvanceBatch* batch() const { return batch_.get(); }

    void Run() const {
        batch_->PhaseTwo(executor_);
        Require(aclrtSynchronizeStream(nullptr));
    }

    // Nanoseconds of one of so many steps.
    double Time(int64_t steps) const {
        batch_->MakeRoom(steps);
        return NanosecondsOf([&] {
                   for (int64_t step = 0; step < steps; ++step) {
                       Run();
                   }
               }) /
               static_cast<double>(steps);
    }

 private:
    std::shared_ptr<AdvanceBatch> batch_;
    aclOpExecutor* executor_ = nullptr;
};

Prepared PrepareCut(int64_t numSeqs) {
    std::string whyNot = WhyNoRoomFor(numSeqs);
    if (!whyNot.empty()) {
        return NotHere(whyNot);
    }
    const BareBatch initial = MakeMixedBatch(numSeqs, kStride, kDefaultBlockSize);
    return {{PlannedFor::MakeSide(initial, false), PlannedFor::MakeSide(initial, true), true}, ""};
}

Prepared PrepareThreads(int64_t numSeqs) {
    const std::string whyNot = WhyNoTwoThreads();
    return whyNot.empty() ? PrepareCut(numSeqs) : NotHere(whyNot);
}

// The launch on two threads beside the bare update on two: its speed over theirs is the share that
// the library has of what the memory allows.
Prepared PrepareRoofline(int64_t numSeqs) {
    std::string whyNot = WhyNoTwoThreads();
    if (whyNot.empty()) {
        whyNot = WhyNoRoomFor(numSeqs * 2);
    }
    if (!whyNot.empty()) {
        return NotHere(whyNot);
    }
    BareBatch initial = MakeMixedBatch(numSeqs, kStride, kDefaultBlockSize);
    const auto cut = std::make_shared<PlannedFor>(initial, false);
    const auto roof = std::make_shared<PlainHalves>(std::move(initial), kDefaultBlockSize);
    cut->Time(1);
    roof->MakeRoom(1);
    roof->Run(2, 1);
    RequireSameRows(*cut->batch(), roof->batch());
    const Side library{[=](int64_t steps) { return cut->Time(steps); }};
    const Side baseline{[=](int64_t steps) {
        roof->MakeRoom(steps);
        return roof->Run(2, steps);
    }};
    return {{library, baseline, true}, ""};
}

std::string Short(int64_t numSeqs) {
    return numSeqs >= 1 << 20 ? fmt::format("{}m", numSeqs >> 20)
                              : fmt::format("{}k", numSeqs >> 10);
}

}  // namespace

Rows SplittingRows() {
    Rows rows = {{"cores_40_256", "all simulated cores against one, N = 256", "one core",
                  AtMost(1.3), [] { return PrepareCut(256); }}};
    for (const int64_t numSeqs : {4096, 16384, 32768, 65536, 131072}) {
        rows.push_back({"split_" + Short(numSeqs),
                        fmt::format("split over threads, N = {}", Short(numSeqs)), "one core",
                        AtMost(1.10), [=] { return PrepareThreads(numSeqs); }});
    }
    for (const int64_t numSeqs : {262144, 1 << 20}) {
        rows.push_back({"split_" + Short(numSeqs),
                        fmt::format("speedup of two threads, N = {}", Short(numSeqs)), "one core",
                        SpeedupOf(1.6), [=] { return PrepareThreads(numSeqs); }});
        rows.push_back(
            {"roofline_" + Short(numSeqs),
             fmt::format("speed over a bare update on two threads, N = {}", Short(numSeqs)),
             "bare update", SpeedupOf(0.9), [=] { return PrepareRoofline(numSeqs); }});
    }
    return rows;
}

}  // namespace bench
