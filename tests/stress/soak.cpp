// SPDX-License-Identifier: Apache-2.0
// A soak: virtual service of many streams, and the resident memory of the process.
//
//   soak [--seconds N] [--steps N]
//
// 64 services, each on a stream of its own, are driven by 8 threads: admissions, decoding,
// AdvanceStep and Step, with so few blocks that requests are preempted throughout. A step is 20 ms
// of virtual time, so 180,000 steps are an hour of one service. It runs until every service has
// made its steps, or the wall seconds are over; 0 seconds is no limit. Fails when a call does, a
// service loses a block, or resident memory grows by more than kMostGrowth after the first
// hundredth of the steps.
//
// Thread t drives services t, t + 8, and so on: a step of each is queued, then each is waited for
// and compared. Only the counts are shared, and they are atomic.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "reference/step_invariants.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/random.h"
#include "support/sanitizers.h"
#include "support/step_batch.h"
#include "support/step_service.h"

namespace {

constexpr int kThreads = 8;
constexpr int kServices = 64;
constexpr int64_t kStepsOfAnHour = 180'000;
// The thread sanitizer keeps four bytes for each byte that was touched, and a history for each
// thread.
constexpr long kMostGrowth = (support::kThreadSanitizer ? 32 : 8) << 20;

struct Counts {
    std::atomic<int64_t> steps{0}, preempted{0}, recovered{0}, shed{0};
};

void Require(bool holds, const std::string& what) {
    if (!holds) {
        throw std::runtime_error(what);
    }
}

void RequireOk(int status, const char* call) {
    Require(status == ACL_SUCCESS, std::string(call) + " returned " + std::to_string(status) +
                                       ": " + support::TakeMessage());
}

long ResidentBytes() {
    std::ifstream statm("/proc/self/statm");
    long size = 0, resident = 0;
    statm >> size >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

reference::StepDims DimsOfService() {
    reference::StepDims dims;
    dims.batch = dims.slots = 16;
    dims.blockSize = 4;
    dims.columns = 9;
    dims.inputIds = dims.preIds = 30;
    dims.capacity = 24;  // of which 16 requests may want 9 each
    return dims;
}

class Service {
 public:
    explicit Service(uint64_t seed)
        : stream_(support::MakeStream()),
          service_(DimsOfService(), support::Random(seed)),
          step_(service_.State()),
          rows_(support::MakeBatch(16, 15, 4, 9, seed)),
          advanced_(support::Advanced(rows_)),
          advance_(rows_) {
        RequireOk(step_.PlanRepeatable(), "aclnnStepGetWorkspaceSize");
    }

    // Queues a step; the stream has it until Finish.
    void Launch() {
        if (!isRetry_) {
            service_.Advance();
        }
        step_.Upload(service_.State());
        advance_.Upload();
        RequireOk(advance_.Plan(), "aclnnAdvanceStepGetWorkspaceSize");
        RequireOk(advance_.Launch(stream_.Get()), "aclnnAdvanceStep");
        RequireOk(step_.Launch(stream_.Get()), "aclnnStep");
    }

    void Finish(Counts* counts) {
        reference::StepData data = service_.State();
        const reference::StepResult wanted = reference::Step(data, false);
        Require(wanted.outcome != reference::StepOutcome::kInvalid, "the service has lost blocks");
        const int status = aclrtSynchronizeStream(stream_.Get());
        Require(status == support::StepCode(wanted.outcome), "aclnnStep is not as the reference");
        Require(bool{step_.Holds(data)}, "aclnnStep's tensors are not the reference's");
        Require(bool{advance_.Holds(advanced_)}, "aclnnAdvanceStep's tensors are wrong");
        isRetry_ = wanted.outcome == reference::StepOutcome::kNoProgress;
        if (isRetry_) {
            (void)support::TakeMessage();
            service_.ShedLoad();
            counts->shed += 1;
        } else {
            service_.Take(data);
        }
        const std::string wrong =
            reference::FindStepInconsistency(service_.State(), support::kFirstDynamicBlock);
        Require(isRetry_ || wrong.empty(), wrong);
        counts->steps += 1;
        counts->preempted += wanted.preempted;
        counts->recovered += wanted.recovered;
    }

 private:
    support::Stream stream_;
    support::StepService<support::Random> service_;
    support::StepBatch step_;
    reference::AdvanceStepData rows_, advanced_;
    support::AdvanceStepBatch advance_;
    bool isRetry_ = false;
};

struct Limits {
    int64_t steps = kStepsOfAnHour;
    double seconds = 0;
};

// Every service makes so many steps, or fewer if the time is over.
void RunServices(std::vector<std::unique_ptr<Service>>& services, int64_t steps,
                 std::chrono::steady_clock::time_point end, Counts* counts) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            try {
                RequireOk(aclrtSetDevice(0), "aclrtSetDevice");
                for (int64_t step = 0; step < steps && std::chrono::steady_clock::now() < end;
                     ++step) {
                    for (size_t at = static_cast<size_t>(thread); at < services.size();
                         at += kThreads) {
                        services[at]->Launch();
                    }
                    for (size_t at = static_cast<size_t>(thread); at < services.size();
                         at += kThreads) {
                        services[at]->Finish(counts);
                    }
                }
                RequireOk(aclrtResetDevice(0), "aclrtResetDevice");
            } catch (const std::exception& error) {
                std::fprintf(stderr, "soak: thread %d: %s\n", thread, error.what());
                std::_Exit(EXIT_FAILURE);  // the others would go on
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

int Main(const Limits& limits) {
    testing::FLAGS_gtest_throw_on_failure = true;  // of what the fixtures expect
    RequireOk(aclInit(nullptr), "aclInit");
    RequireOk(aclrtSetDevice(0), "aclrtSetDevice");
    const auto start = std::chrono::steady_clock::now();
    const auto end = limits.seconds > 0
                         ? start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                       std::chrono::duration<double>(limits.seconds))
                         : std::chrono::steady_clock::time_point::max();
    Counts counts;
    long before = 0;
    {
        std::vector<std::unique_ptr<Service>> services;
        for (int i = 0; i < kServices; ++i) {
            services.push_back(std::make_unique<Service>(static_cast<uint64_t>(i)));
        }
        const int64_t warmUp = limits.steps / 100 + 1;
        RunServices(services, warmUp, end, &counts);
        before = ResidentBytes();
        std::printf("start: %ld bytes resident after %lld steps\n", before,
                    static_cast<long long>(counts.steps));
        std::fflush(stdout);
        RunServices(services, limits.steps - warmUp, end, &counts);
    }
    const long after = ResidentBytes();
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double hours = static_cast<double>(counts.steps) / kServices / kStepsOfAnHour;
    std::printf("end:   %ld bytes resident after %lld steps, %.3f virtual hours of %d streams\n",
                after, static_cast<long long>(counts.steps), hours, kServices);
    std::printf("%lld preempted, %lld recovered, %lld steps shed load; %.1f s\n",
                static_cast<long long>(counts.preempted), static_cast<long long>(counts.recovered),
                static_cast<long long>(counts.shed), wall);
    RequireOk(aclrtResetDevice(0), "aclrtResetDevice");
    RequireOk(aclFinalize(), "aclFinalize");
    Require(counts.preempted > counts.steps / 200, "hardly any preemption");
    Require(after - before < kMostGrowth, "resident memory has grown");
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    Limits limits;
    for (int i = 1; i < argc; i += 2) {
        const bool hasValue = i + 1 < argc;
        if (hasValue && std::strcmp(argv[i], "--seconds") == 0) {
            limits.seconds = std::atof(argv[i + 1]);
        } else if (hasValue && std::strcmp(argv[i], "--steps") == 0) {
            limits.steps = std::atoll(argv[i + 1]);
        } else {
            std::fprintf(stderr, "usage: %s [--seconds N] [--steps N of each service]\n", argv[0]);
            return 2;
        }
    }
    try {
        return Main(limits);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "soak: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
