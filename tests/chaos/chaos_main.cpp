// SPDX-License-Identifier: Apache-2.0
// Chaos: threads make random calls, legal and illegal, in one life of the runtime after another.
//
//   chaos [--seconds N] [--seed S] [--threads N] [--rows N] [--lives N] [--first-life N]
//         [--limit SECONDS] [--action NAME --action-seed N]
//
// Allowed is every documented code with a message. A crash, a call that takes longer than the
// limit, a report of a sanitizer, a wrong or partial result of work on memory of a thread's own,
// and anything that is left at the end of a life fail. One thread makes the same actions for the
// same seed; several make the same each, in another order.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "advance_step/fault_injection.h"
#include "chaos/actions.h"
#include "chaos/children.h"
#include "chaos/leaks.h"
#include "chaos/watch.h"

extern "C" {
void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));
// A report ends the process, so that what it says last is about the report.
const char* __tsan_default_options();
const char* __tsan_default_options() { return "halt_on_error=1:die_after_fork=0"; }
const char* __ubsan_default_options();
const char* __ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }
}

namespace {

constexpr int kActionsOfALife = 200;

struct Options {
    double seconds = 600;
    uint64_t seed = std::random_device{}();
    uint64_t firstLife = 0;
    uint64_t lives = UINT64_MAX;
    int threads = 4;
    int64_t rows = 1'000'000;
    int limit = 90;
    std::string action;  // "": all of them
    uint64_t actionSeed = 0;
};

chaos::World* worldNow = nullptr;

void PrintAtDeath() {
    if (worldNow != nullptr) {
        chaos::PrintRepetition(*worldNow);
        chaos::PrintJournals();
    }
}

// Processes reports, counts the word up that value waits wait for, and releases all holds.
void Tick(chaos::World* world, const std::atomic<bool>& over) {
    world->processor = static_cast<uint64_t>(pthread_self());
    for (int64_t round = 0; !over; ++round) {
        (void)aclrtProcessReport(1);
        world->tick += 1;
        if (round % 8 == 0) {
            (void)advstepClearFaults();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void EndAll(chaos::World* world) {
    if (world->life % 2 == 0) {
        for (const std::atomic<void*>& stream : world->streams) {
            (void)aclrtDestroyStream(stream);
        }
        for (const std::atomic<void*>& model : world->models) {
            (void)aclmdlRIDestroy(model);
        }
    }
    (void)aclInit(nullptr);  // a call may have begun a runtime that no aclInit has counted
    while (aclFinalize() == 0) {
    }
}

struct Totals {
    chaos::CallCounts counts;
    uint64_t digest = 0;
    uint64_t verified = 0;
    uint64_t launches = 0;
    uint64_t rows = 0;
    uint64_t hostFunctions = 0;
};

void Add(const chaos::CallCounts& counts, chaos::CallCounts* sum) {
    for (const auto& [call, codes] : counts) {
        for (const auto& [code, times] : codes) {
            (*sum)[call][code] += times;
        }
    }
}

void Live(chaos::World* world, const Options& options, const std::atomic<bool>& over,
          Totals* totals) {
    worldNow = world;
    (void)aclInit(nullptr);
    void* mapped = nullptr;
    (void)aclrtHostRegister(&world->tick, sizeof(uint64_t), ACL_HOST_REGISTER_MAPPED, &mapped);
    std::vector<std::unique_ptr<chaos::Worker>> workers(static_cast<size_t>(world->threads));
    std::vector<std::thread> threads;
    std::atomic<bool> ended{false};
    std::thread ticker(Tick, world, std::cref(ended));
    for (int index = 0; index < world->threads; ++index) {
        threads.emplace_back([&, index] {
            auto& worker = workers[static_cast<size_t>(index)];
            worker = std::make_unique<chaos::Worker>(world, index);
            (void)aclrtSetDevice(index);
            if (options.action.empty()) {
                worker->Run(kActionsOfALife, over);
            } else {
                worker->RunOne(options.action, options.actionSeed);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    workers[0]->journal_.Begin("the end of the life");
    EndAll(world);
    workers[0]->journal_.End(0);
    ended = true;
    ticker.join();
    for (const auto& worker : workers) {
        Add(worker->journal_.Counts(), &totals->counts);
        totals->digest = totals->digest * 31 + worker->journal_.Digest();
    }
    if (world->arguments != 0) {
        chaos::Fail(*world, std::to_string(world->arguments) +
                                " arguments of host operators were not released");
    }
    totals->verified += world->verified;
    totals->launches += world->launches;
    totals->rows += world->rows;
    totals->hostFunctions += world->hostFunctionsRun;
}

int Run(const Options& options) {
    std::printf("chaos: seed %" PRIu64 ", %d threads, up to %" PRId64 " rows\n", options.seed,
                options.threads, options.rows);
    std::fflush(stdout);
    setenv("ADVANCE_STEP_DEVICES", std::to_string(options.threads).c_str(), 1);
    setenv("ADVANCE_STEP_THREADS", "3", 0);
    setenv("ADVANCE_STEP_LOG", "off", 0);
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(PrintAtDeath);
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [begin] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    Totals totals;
    std::atomic<bool> over{false};
    std::atomic<bool> done{false};
    std::thread clock([&] {
        while (!done) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            over = options.lives == UINT64_MAX && seconds() > options.seconds;
        }
    });
    (void)chaos::TakeStock();
    const chaos::Belongings before = chaos::TakeStock();
    uint64_t lives = 0;
    for (; lives < options.lives && !over; ++lives) {
        const auto world = std::make_unique<chaos::World>();
        world->threads = options.threads;
        world->mostRows = options.rows;
        world->seed = options.seed;
        world->life = options.firstLife + lives;
        world->ends = static_cast<chaos::Ends>((world->life + 2) % 3);
        {
            const chaos::Watchdog watchdog(world.get(), std::chrono::seconds(options.limit));
            Live(world.get(), options, over, &totals);
        }
        chaos::ForkFreshChild(*world);
        // The thread that serves other processes ends by itself, a moment after its last import.
        std::string lost = chaos::Lost(before, chaos::TakeStock());
        for (int look = 0; look < 100 && !lost.empty(); ++look) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            lost = chaos::Lost(before, chaos::TakeStock());
        }
        if (!lost.empty()) {
            chaos::Fail(*world, lost);
        }
        worldNow = nullptr;
    }
    done = true;
    clock.join();
    chaos::PrintTable(totals.counts);
    std::printf(
        "%" PRIu64 " lives in %.1f s, %" PRIu64 " launches of %" PRIu64
        " rows of AdvanceStep, %" PRIu64 " results verified, %" PRIu64 " host functions run\n",
        lives, seconds(), totals.launches, totals.rows, totals.verified, totals.hostFunctions);
    std::printf("digest of the actions %016" PRIx64 ", seed %" PRIu64 "\n", totals.digest,
                options.seed);
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
        if (value == nullptr) {
            options.threads = 0;
        } else if (name == "--seconds") {
            options.seconds = std::atof(value);
        } else if (name == "--seed") {
            options.seed = std::strtoull(value, nullptr, 10);
        } else if (name == "--threads") {
            options.threads = std::atoi(value);
        } else if (name == "--rows") {
            options.rows = std::atoll(value);
        } else if (name == "--lives") {
            options.lives = std::strtoull(value, nullptr, 10);
        } else if (name == "--first-life") {
            options.firstLife = std::strtoull(value, nullptr, 10);
        } else if (name == "--action") {
            options.action = value;
        } else if (name == "--action-seed") {
            options.actionSeed = std::strtoull(value, nullptr, 10);
        } else if (name == "--limit") {
            options.limit = std::atoi(value);
        } else {
            options.threads = 0;
        }
    }
    if (options.threads < 1 || options.threads > chaos::World::kMostThreads || options.rows < 1 ||
        options.limit < 1) {
        std::fprintf(stderr,
                     "usage: %s [--seconds N] [--seed S] [--threads 1..%d] [--rows N] [--lives N]"
                     " [--first-life N] [--limit SECONDS] [--action NAME --action-seed N]\n",
                     argv[0], chaos::World::kMostThreads);
        return 2;
    }
    return Run(options);
}
