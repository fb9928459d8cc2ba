// SPDX-License-Identifier: Apache-2.0
// Many streams: 64 threads with one each, and calls while 10,000 streams live.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "acl/acl.h"
#include "tests/benchmark/crew.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/require.h"

namespace bench {
namespace {

constexpr int kCrew = 64;
constexpr int kLiving = 10'000;

// One of the things that 64 threads do, each with one of its own. The lines of two are apart.
struct alignas(128) OwnStream {
    aclrtStream stream = nullptr;
    int64_t count = 0;

    void RoundTrip() {
        Require(aclrtLaunchHostFunc(
            stream, [](void* own) { ++static_cast<OwnStream*>(own)->count; }, this));
        Require(aclrtSynchronizeStream(stream));
    }
};

struct alignas(128) OwnLock {
    std::mutex mutex;
    int64_t count = 0;

    void RoundTrip() {
        const std::lock_guard<std::mutex> lock(mutex);
        ++count;
    }
};

// The threads of a crew, each with an Own. The count of each is compared with its round trips.
template <typename Own>
class OwnCrew {
 public:
    OwnCrew() : crew_(kCrew), own_(kCrew) {}

    Own& own(int number) { return own_[static_cast<size_t>(number)]; }
    Crew& crew() { return crew_; }

    // Nanoseconds of a round trip of all threads, over those of one thread that is alone.
    double Ratio(int64_t runs) {
        constexpr int64_t kLonger = 8;  // for one thread, whose batch would be short
        const double alone = Each(1, runs * kLonger);
        return Each(kCrew, runs) / alone;
    }

 private:
    double Each(int count, int64_t runs) {
        const double time = crew_.Run(count, [&](int number) {
            Own& own = own_[static_cast<size_t>(number)];
            const int64_t before = own.count;
            for (int64_t run = 0; run < runs; ++run) {
                own.RoundTrip();
            }
            if (own.count - before != runs) {
                std::fprintf(stderr, "thread %d: a round trip did not run\n", number);
                std::exit(1);
            }
        });
        return time / static_cast<double>(count * runs);
    }

    Crew crew_;
    std::vector<Own> own_;
};

// The threads keep device 0 and their streams for as long as the row lives.
class StreamCrew {
 public:
    StreamCrew() {
        both_.crew().Run(kCrew, [&](int number) {
            Require(aclrtSetDevice(0));
            Require(aclrtCreateStream(&both_.own(number).stream));
        });
    }
    ~StreamCrew() {
        both_.crew().Run(kCrew, [&](int number) {
            Require(aclrtDestroyStream(both_.own(number).stream));
            Require(aclrtResetDevice(0));
        });
    }
    StreamCrew(const StreamCrew&) = delete;
    StreamCrew& operator=(const StreamCrew&) = delete;

    double Ratio(int64_t runs) { return both_.Ratio(runs); }

 private:
    OwnCrew<OwnStream> both_;
};

// The speedup of these two is that of the library's streams, over that of locks.
Prepared PrepareCrews() {
    const auto streams = std::make_shared<StreamCrew>();
    const auto locks = std::make_shared<OwnCrew<OwnLock>>();
    Side library{[streams](int64_t runs) { return streams->Ratio(runs); }};
    Side baseline{[locks](int64_t runs) { return locks->Ratio(runs); }};
    library.fixedRuns = 2'000;
    baseline.fixedRuns = 20'000;  // as long
    return {{library, baseline, false}, ""};
}

// Streams that live, or do not, while something is timed.
class LivingStreams {
 public:
    ~LivingStreams() { End(); }

    void Begin() {
        while (streams_.size() < kLiving) {
            Require(aclrtCreateStream(&streams_.emplace_back()));
        }
    }
    void End() {
        for (const aclrtStream stream : streams_) {
            Require(aclrtDestroyStream(stream));
        }
        streams_.clear();
    }

 private:
    std::vector<aclrtStream> streams_;
};

Prepared PrepareIdleDevice() {
    const auto living = std::make_shared<LivingStreams>();
    living->Begin();
    return {{InARow([living] { Require(aclrtSynchronizeDevice()); }), {}, false}, ""};
}

void CreateAndDestroy() {
    aclrtStream stream = nullptr;
    Require(aclrtCreateStream(&stream));
    Require(aclrtDestroyStream(stream));
}

Prepared PrepareCreation() {
    const auto living = std::make_shared<LivingStreams>();
    Side among = InARow([living](int64_t) { living->Begin(); }, [] { CreateAndDestroy(); });
    Side alone = InARow([living](int64_t) { living->End(); }, [] { CreateAndDestroy(); });
    among.fixedRuns = alone.fixedRuns = 1000;
    return {{among, alone, true}, ""};
}

}  // namespace

Rows ManyStreamsRows() {
    constexpr double kMicrosecond = 1000;
    return {{"streams_64_threads", "64 threads with a stream each, over one thread", "locks",
             SpeedupOf(0.9), &PrepareCrews},
            {"streams_10k_sync", "idle aclrtSynchronizeDevice, 10,000 streams live", "",
             Nanoseconds(100 * kMicrosecond), &PrepareIdleDevice},
            {"streams_10k_create", "a stream's creation and end, 10,000 streams live", "no other",
             AtMost(2), &PrepareCreation}};
}

}  // namespace bench
