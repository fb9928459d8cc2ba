// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_SANITIZE: mistakes in the use of memory and streams are found, and right programs
// are left alone.
#include "advance_step/sanitizer.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "advance_step/host_operator.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/death_test_file.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"

namespace {

using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Program = std::function<void()>;

constexpr size_t kBytes = 4096;

void Need(int code) {
    if (code != 0) {
        const char* const message = aclGetRecentErrMsg();
        std::fprintf(stderr, "code %d: %s\n", code, message != nullptr ? message : "");
        std::_Exit(41);
    }
}

// A program runs in the child of a death test.
class SanitizerDeathTest : public support::EndedRuntimeTest {
 protected:
    SanitizerDeathTest() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
    }
};

[[noreturn]] void RunProgram(const char* checks, const Program& program) {
    setenv("ADVANCE_STEP_SANITIZE", checks, 1);
    setenv("ADVANCE_STEP_SANITIZE_ACTION", "fail", 0);
    Need(aclInit(nullptr));
    Need(aclrtSetDevice(0));
    program();
    Need(aclrtResetDevice(0));
    Need(aclFinalize());
    std::exit(0);
}

#define EXPECT_FINDING(checks, text, ...) \
    EXPECT_EXIT(RunProgram(checks, __VA_ARGS__), ExitedWithCode(1), text)
#define EXPECT_NO_FINDING(checks, ...) \
    EXPECT_EXIT(RunProgram(checks, __VA_ARGS__), ExitedWithCode(0), IsEmpty())

char* Allocate(size_t bytes = kBytes) {
    void* memory = nullptr;
    Need(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    return static_cast<char*>(memory);
}

char* AllocateHost(size_t bytes = kBytes) {
    void* memory = nullptr;
    Need(aclrtMallocHost(&memory, bytes));
    return static_cast<char*>(memory);
}

aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    Need(aclrtCreateStream(&stream));
    return stream;
}

aclrtEvent NewEvent() {
    aclrtEvent event = nullptr;
    Need(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    return event;
}

void Fill(void* memory, aclrtStream stream, size_t bytes = kBytes) {
    Need(aclrtMemsetAsync(memory, bytes, 1, bytes, stream));
}

void Copy(void* to, const void* from, aclrtStream stream, size_t bytes = kBytes) {
    Need(aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

void Order(aclrtStream first, aclrtStream second) {
    const aclrtEvent event = NewEvent();
    Need(aclrtRecordEvent(event, first));
    Need(aclrtStreamWaitEvent(second, event));
}

// Races.

TEST_F(SanitizerDeathTest, TwoStreamsWithoutAnEventRace) {
    EXPECT_FINDING("race",
                   AllOf(HasSubstr("advance_step sanitizer: race: race: fill (aclrtMemsetAsync)"),
                         HasSubstr("missing: an event recorded on stream 0x"),
                         HasSubstr("fill queued by"), HasSubstr("copy queued by")),
                   [] {
                       char* const memory = Allocate();
                       char* const other = Allocate();
                       const aclrtStream one = NewStream();
                       const aclrtStream two = NewStream();
                       Fill(memory, one);
                       Copy(other, memory, two);
                   });
}

TEST_F(SanitizerDeathTest, AnOrderIsNoRace) {
    EXPECT_NO_FINDING("memory,race,init", [] {
        char* const memory = Allocate();
        char* const other = Allocate();
        const aclrtStream one = NewStream();
        const aclrtStream two = NewStream();
        Fill(memory, one);
        Order(one, two);
        Copy(other, memory, two);
        Copy(other, memory, two);
        Need(aclrtSynchronizeStream(two));
        Fill(memory, one);
        Need(aclrtSynchronizeDevice());
        Fill(memory, two);
        Need(aclrtSynchronizeStream(two));
        Need(aclrtFree(memory));
        Need(aclrtFree(other));
    });
}

TEST_F(SanitizerDeathTest, PartsAndReadsAreNoRace) {
    EXPECT_NO_FINDING("memory,race,init", [] {
        char* const memory = Allocate();
        char* const other = Allocate(2 * kBytes);
        const aclrtStream one = NewStream();
        const aclrtStream two = NewStream();
        Need(aclrtMemset(memory, kBytes, 1, kBytes));
        Copy(other, memory, one);
        Copy(other + kBytes, memory, two);
        // Columns of one matrix: rows of 16 bytes that begin 64 bytes apart.
        Need(aclrtSynchronizeDevice());
        for (const auto& [stream, column] : {std::pair(one, 0), std::pair(two, 16)}) {
            Need(aclrtMemcpy2dAsync(other + column, 64, memory, 16, 16, 32,
                                    ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        }
        Need(aclrtSynchronizeDevice());
    });
}

TEST_F(SanitizerDeathTest, AWaitThatIsQueuedBeforeItsRecordIsAnOrder) {
    const auto program = [](bool waits) {
        return [waits] {
            char* const memory = Allocate();
            const aclrtStream one = NewStream();
            const aclrtStream two = NewStream();
            aclrtNotify notify = nullptr;
            Need(aclrtCreateNotify(&notify, 0));
            if (waits) {
                Need(aclrtWaitAndResetNotify(notify, two, 0));
            }
            Fill(memory, two);
            Fill(memory, one);
            Need(aclrtRecordNotify(notify, one));
            Need(aclrtSynchronizeDevice());
        };
    };
    EXPECT_NO_FINDING("race", program(true));
    EXPECT_FINDING("race", HasSubstr("race: race"), program(false));
}

TEST_F(SanitizerDeathTest, AWordIsAnOrder) {
    EXPECT_NO_FINDING("race", [] {
        char* const memory = Allocate();
        auto* const word = reinterpret_cast<uint64_t*>(Allocate(64));
        Need(aclrtMemset(word, 64, 0, 64));
        const aclrtStream one = NewStream();
        const aclrtStream two = NewStream();
        Need(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_GEQ, two));
        Fill(memory, two);
        Fill(memory, one);
        Need(aclrtValueWrite(word, 1, 0, one));
        Need(aclrtSynchronizeDevice());
    });
}

TEST_F(SanitizerDeathTest, AHostCopyRacesWithQueuedWork) {
    const auto program = [](bool waits) {
        return [waits] {
            char* const memory = Allocate();
            char host[kBytes];
            const aclrtStream stream = NewStream();
            Fill(memory, stream);
            if (waits) {
                Need(aclrtSynchronizeStream(stream));
            }
            Need(aclrtMemcpy(host, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
        };
    };
    EXPECT_NO_FINDING("race,init", program(true));
    EXPECT_FINDING("race", HasSubstr("missing: a synchronisation of the host with stream 0x"),
                   program(false));
}

TEST_F(SanitizerDeathTest, AHostFunctionTellsTheHost) {
    EXPECT_NO_FINDING("memory,race", [] {
        char* const memory = Allocate();
        const aclrtStream stream = NewStream();
        std::atomic<bool> done{false};
        Fill(memory, stream);
        Need(aclrtLaunchHostFunc(
            stream, [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &done));
        while (!done.load()) {
            usleep(100);
        }
        Need(aclrtFree(memory));
        Need(aclrtSynchronizeStream(stream));
    });
}

TEST_F(SanitizerDeathTest, AFindingAtTheSamePlacesIsCounted) {
    EXPECT_FINDING("race", AllOf(HasSubstr("5 findings at 1 place"), HasSubstr("  5 times: race")),
                   [] {
                       char* const memory = Allocate();
                       const aclrtStream one = NewStream();
                       const aclrtStream two = NewStream();
                       for (int round = 0; round < 5; ++round) {
                           Fill(memory, one);
                           Copy(memory + 64, memory, two, 64);
                           Need(aclrtSynchronizeDevice());
                       }
                   });
}

// Memory.

TEST_F(SanitizerDeathTest, AFreeOfMemoryInUseIsFound) {
    EXPECT_FINDING("memory",
                   AllOf(HasSubstr("memory: freed_in_use: memory is freed that fill"),
                         HasSubstr("freed by"), HasSubstr("allocated by")),
                   [] {
                       char* const memory = Allocate();
                       const aclrtStream stream = NewStream();
                       Fill(memory, stream);
                       Need(aclrtFree(memory));
                   });
}

TEST_F(SanitizerDeathTest, AFreeAfterTheWorkIsNone) {
    EXPECT_NO_FINDING("memory", [] {
        const aclrtStream one = NewStream();
        const aclrtStream two = NewStream();
        char* memory = Allocate();
        Fill(memory, one);
        Need(aclrtSynchronizeStream(one));
        Need(aclrtFree(memory));
        memory = Allocate();
        Fill(memory, one);
        Order(one, two);
        Need(aclrtSynchronizeStream(two));
        Need(aclrtFree(memory));
        memory = Allocate();
        Fill(memory, one);
        const aclrtEvent event = NewEvent();
        Need(aclrtRecordEvent(event, one));
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
            Need(aclrtQueryEventStatus(event, &status));
        }
        Need(aclrtFree(memory));
        memory = Allocate();
        Fill(memory, one);
        Need(aclrtFreeWithDevSync(memory));
        memory = AllocateHost();
        Fill(memory, two);
        Need(aclrtDestroyStream(two));
        Need(aclrtFreeHost(memory));
    });
}

TEST_F(SanitizerDeathTest, AnEndedRegistrationInUseIsFound) {
    EXPECT_FINDING("memory", HasSubstr("memory: unregistered_in_use: memory is unregistered"), [] {
        alignas(4096) static char host[kBytes];
        void* device = nullptr;
        Need(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &device));
        char* const memory = Allocate();
        const aclrtStream stream = NewStream();
        Need(aclrtMemcpyAsync(memory, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        Need(aclrtHostUnregister(host));
    });
}

TEST_F(SanitizerDeathTest, AnUnmappedRangeInUseIsFound) {
    EXPECT_FINDING("memory", HasSubstr("memory: unmapped_in_use: memory is unmapped"), [] {
        void* range = nullptr;
        const size_t unit = conformance::kUnit;
        Need(aclrtReserveMemAddress(&range, unit, 0, nullptr, 0));
        const aclrtPhysicalMemProp prop = conformance::Property();
        aclrtDrvMemHandle physical = nullptr;
        Need(aclrtMallocPhysical(&physical, unit, &prop, 0));
        Need(aclrtMapMem(range, unit, 0, physical, 0));
        Fill(range, NewStream());
        Need(aclrtUnmapMem(range));
    });
}

TEST_F(SanitizerDeathTest, WorkOnFreedMemoryIsFound) {
    EXPECT_FINDING("memory",
                   AllOf(HasSubstr("memory: used_after_free: aclrtMemsetAsync uses memory"),
                         HasSubstr("freed by")),
                   [] {
                       char* const memory = Allocate();
                       Need(aclrtFree(memory));
                       (void)aclrtMemsetAsync(memory, kBytes, 1, kBytes, NewStream());
                   });
}

int32_t DoNothing(void*, char*, size_t) { return 0; }

void LaunchOn(const void* address, uint64_t bytes, aclrtStream stream) {
    const AdvStepMemoryRange range{address, bytes};
    const AdvStepHostOperator operation{"touch", &DoNothing, nullptr, nullptr, &range, 1};
    Need(advstepLaunchHostOperator(stream, &operation));
}

TEST_F(SanitizerDeathTest, AHostOperatorsRangesAreChecked) {
    EXPECT_FINDING("memory", HasSubstr("memory: no_live_memory: touch on stream 0x"), [] {
        static char host[64];
        LaunchOn(host, sizeof(host), NewStream());
    });
    EXPECT_FINDING("memory",
                   AllOf(HasSubstr("memory: out_of_view: touch on stream 0x"),
                         HasSubstr("4096 bytes are left there")),
                   [] { LaunchOn(Allocate(), kBytes + 1, NewStream()); });
}

TEST_F(SanitizerDeathTest, AHostOperatorSaysHowItUsesARange) {
    const auto program = [](uint64_t how) {
        return [how] {
            const char* const memory = Allocate();
            LaunchOn(memory, 64 | how, NewStream());
            LaunchOn(memory, 64 | how, NewStream());
            Need(aclrtSynchronizeDevice());
        };
    };
    EXPECT_NO_FINDING("race", program(ADVSTEP_RANGE_READ));
    EXPECT_NO_FINDING("race", program(ADVSTEP_RANGE_PARTLY));
    EXPECT_FINDING("race", HasSubstr("touch writes touch"), program(ADVSTEP_RANGE_WRITTEN));
    EXPECT_FINDING("race", HasSubstr("touch reads and writes touch"), program(0));
}

TEST_F(SanitizerDeathTest, MemoryOfADeviceWithoutAccessIsFound) {
    const auto program = [](bool enables) {
        return [enables] {
            char* const memory = Allocate();
            Need(aclrtSetDevice(1));
            if (enables) {
                Need(aclrtDeviceEnablePeerAccess(0, 0));
            }
            char* const other = Allocate();
            Copy(other, memory, NewStream());
            Need(aclrtSynchronizeDevice());
            Need(aclrtResetDevice(1));
            Need(aclrtSetDevice(0));
        };
    };
    EXPECT_NO_FINDING("memory,race", program(true));
    EXPECT_FINDING("memory",
                   AllOf(HasSubstr("memory: other_device: copy (aclrtMemcpyAsync) on stream 0x"),
                         HasSubstr("missing: aclrtDeviceEnablePeerAccess")),
                   program(false));
}

TEST_F(SanitizerDeathTest, PoisonedMemoryIsNotUsed) {
    EXPECT_FINDING("memory", HasSubstr("memory: poisoned: fill (aclrtMemsetAsync)"), [] {
        char* const memory = Allocate();
        Need(advstepPoisonMemory(memory + 64, 64));
        Fill(memory, NewStream(), 65);
    });
    EXPECT_FINDING("memory", HasSubstr("freed_in_use: memory is poisoned that fill"), [] {
        char* const memory = Allocate();
        Fill(memory, NewStream(), 65);
        Need(advstepPoisonMemory(memory + 64, 64));
    });
    EXPECT_NO_FINDING("memory,race", [] {
        char* const memory = Allocate();
        Need(advstepPoisonMemory(memory, kBytes));
        Need(advstepUnpoisonMemory(memory, 64));
        Fill(memory, NewStream(), 64);
        Need(aclrtSynchronizeDevice());
    });
}

TEST_F(SanitizerDeathTest, MarksAreOfOneAllocation) {
    EXPECT_EXIT(RunProgram("memory",
                           [] {
                               char* const memory = Allocate(64);
                               const bool refused =
                                   advstepPoisonMemory(memory, 65) == ACL_ERROR_RT_PARAM_INVALID &&
                                   advstepUnpoisonMemory(nullptr, 1) == ACL_ERROR_RT_PARAM_INVALID;
                               std::exit(refused ? 7 : 8);
                           }),
                ExitedWithCode(7), IsEmpty());
}

// Accesses of the host.

// A copy into pinned memory that the host has not waited for; it returns the memory.
char* CopyIntoPinned() {
    void* pinned = nullptr;
    Need(aclrtMallocHost(&pinned, kBytes));
    char* const memory = Allocate();
    Need(aclrtMemset(memory, kBytes, 1, kBytes));
    Need(aclrtMemcpyAsync(pinned, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, NewStream()));
    return static_cast<char*>(pinned);
}

void CrashWhileACopyIsWatched() {
    (void)CopyIntoPinned();
    void* const closed = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile char*>(closed) = 1;
}

TEST_F(SanitizerDeathTest, CrashesEndTheProgramWhileCopiesAreWatched) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "the thread sanitizer dies of \"nested bug in the same thread\" if any "
                        "handler passes a SIGSEGV on to it (src/base/crash_signal.cpp)";
    }
    // The address sanitizer has the handler before the library's. It ends the program by an exit.
    EXPECT_EXIT(
        RunProgram("race,host", &CrashWhileACopyIsWatched),
        [](int status) {
            return support::kAddressSanitizer ? WIFEXITED(status) && WEXITSTATUS(status) != 0
                                              : testing::KilledBySignal(SIGSEGV)(status);
        },
        support::kAddressSanitizer
            ? testing::Matcher<const std::string&>(
                  AllOf(HasSubstr("SEGV"), Not(HasSubstr("advance_step sanitizer"))))
            : testing::Matcher<const std::string&>(Not(HasSubstr("sanitizer"))));
}

TEST_F(SanitizerDeathTest, CrashesGoToTheProgramsHandlerWhileCopiesAreWatched) {
    EXPECT_EXIT(RunProgram("race,host",
                           [] {
                               struct sigaction action {};
                               action.sa_handler = [](int) { _exit(9); };
                               (void)sigaction(SIGSEGV, &action, nullptr);
                               CrashWhileACopyIsWatched();
                           }),
                ExitedWithCode(9), Not(HasSubstr("advance_step sanitizer")));
}

TEST_F(SanitizerDeathTest, ASystemCallOnAWatchedPageFails) {
    EXPECT_NO_FINDING("race,host", [] {
        int ends[2];
        Need(pipe(ends));
        char* const pinned = CopyIntoPinned();
        const bool refused = write(ends[1], pinned, 1) == -1 && errno == EFAULT;
        Need(refused ? 0 : 1);
        Need(aclrtSynchronizeDevice());
        Need(write(ends[1], pinned, 1) == 1 ? 0 : 1);
    });
}

TEST_F(SanitizerDeathTest, AFreedBufferIsOpen) {
    EXPECT_FINDING("all,host", HasSubstr("freed_in_use"), [] {
        char* const pinned = CopyIntoPinned();
        Need(aclrtFreeHost(pinned));
        std::vector<char*> memory;
        for (int i = 0; i < 64; ++i) {
            memory.push_back(static_cast<char*>(std::malloc(kBytes)));
            std::memset(memory.back(), 1, kBytes);
        }
        for (char* const one : memory) {
            std::free(one);
        }
    });
}

// Replays.

aclmdlRI Capture(aclrtStream stream, const Program& work) {
    aclmdlRI model = nullptr;
    Need(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    work();
    Need(aclmdlRICaptureEnd(stream, &model));
    return model;
}

TEST_F(SanitizerDeathTest, AReplayRacesWithOtherWork) {
    const auto program = [](bool waits) {
        return [waits] {
            char* const memory = Allocate();
            const aclrtStream one = NewStream();
            const aclrtStream two = NewStream();
            const aclmdlRI model = Capture(one, [&] { Fill(memory, one); });
            Need(aclmdlRIExecuteAsync(model, two));
            if (waits) {
                Order(two, one);
            }
            Fill(memory, one);
            Need(aclrtSynchronizeDevice());
        };
    };
    EXPECT_NO_FINDING("memory,race", program(true));
    EXPECT_FINDING("race", HasSubstr("race: race: fill"), program(false));
}

TEST_F(SanitizerDeathTest, TheBranchesOfAReplayAreOrderedAsCaptured) {
    const auto program = [](bool joins) {
        return [joins] {
            char* const memory = Allocate();
            const aclrtStream one = NewStream();
            const aclrtStream two = NewStream();
            const aclmdlRI model = Capture(one, [&] {
                Order(one, two);
                Fill(memory, two);
                if (joins) {
                    Order(two, one);
                }
                Fill(memory, one);
                if (!joins) {
                    Order(two, one);
                }
            });
            for (int replay = 0; replay < 3; ++replay) {
                Need(aclmdlRIExecuteAsync(model, one));
            }
            Need(aclrtSynchronizeStream(one));
            Need(aclrtFree(memory));
        };
    };
    EXPECT_NO_FINDING("memory,race", program(true));
    EXPECT_FINDING("memory,race", HasSubstr("race: race: fill"), program(false));
}

TEST_F(SanitizerDeathTest, AReplayOnFreedOrReplacedMemoryIsFound) {
    EXPECT_FINDING("memory", HasSubstr("memory: used_after_free: fill (aclrtMemsetAsync)"), [] {
        char* const memory = Allocate();
        const aclrtStream stream = NewStream();
        const aclmdlRI model = Capture(stream, [&] { Fill(memory, stream); });
        Need(aclrtFree(memory));
        (void)aclmdlRIExecuteAsync(model, stream);
    });
    EXPECT_FINDING(
        "memory", HasSubstr("memory: replaced_memory: fill (aclrtMemsetAsync), replayed by"), [] {
            char* const memory = Allocate();
            const aclrtStream stream = NewStream();
            const aclmdlRI model = Capture(stream, [&] { Fill(memory, stream); });
            Need(aclrtFree(memory));
            if (Allocate() != memory) {
                std::fprintf(stderr,
                             "memory: replaced_memory: fill (aclrtMemsetAsync), replayed by\n");
                std::_Exit(1);  // the host has given other addresses, so there is nothing to see
            }
            Need(aclmdlRIExecuteAsync(model, stream));
            Need(aclrtSynchronizeStream(stream));
        });
}

// Memory that nothing has written.

TEST_F(SanitizerDeathTest, FreshMemoryHasAPattern) {
    EXPECT_EXIT(
        RunProgram("init",
                   [] {
                       unsigned char byte = 0;
                       Need(aclrtMemcpy(&byte, 1, Allocate(), 1, ACL_MEMCPY_DEVICE_TO_HOST));
                       std::fflush(nullptr);
                       std::_Exit(byte);
                   }),
        ExitedWithCode(0xA5), HasSubstr("init: unwritten: aclrtMemcpy"));
}

TEST_F(SanitizerDeathTest, UnwrittenBytesAreFoundAtTheirUse) {
    const auto program = [](size_t read) {
        return [read] {
            char* const memory = Allocate();
            char* const other = Allocate();
            char* const host = AllocateHost();
            const aclrtStream stream = NewStream();
            Fill(memory, stream, 100);
            Copy(other, memory, stream);
            Need(aclrtMemcpyAsync(host, read, other, read, ACL_MEMCPY_DEVICE_TO_HOST, stream));
            Need(aclrtSynchronizeStream(stream));
        };
    };
    EXPECT_NO_FINDING("memory,race,init", program(100));
    EXPECT_FINDING("init",
                   AllOf(HasSubstr("init: unwritten: copy (aclrtMemcpyAsync)"),
                         HasSubstr("1 bytes are unwritten, the first at byte 100 of src"),
                         HasSubstr("allocated by")),
                   program(101));
}

// The reports.

TEST_F(SanitizerDeathTest, TheFileHasTheFields) {
    const std::string path = support::DeathTestFile();
    (void)unlink(path.c_str());
    setenv("ADVANCE_STEP_SANITIZE_FILE", path.c_str(), 1);
    EXPECT_FINDING("memory", HasSubstr("freed_in_use"), [] {
        char* const memory = Allocate();
        Fill(memory, NewStream());
        Need(aclrtFree(memory));
    });
    unsetenv("ADVANCE_STEP_SANITIZE_FILE");
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_THAT(text.str(),
                AllOf(HasSubstr(R"("check":"memory","finding":"freed_in_use","text":")"),
                      HasSubstr(R"("task":"fill","call":"aclrtMemsetAsync","stream":"0x)"),
                      HasSubstr(R"("access":"write","argument":"devPtr","address":"0x)"),
                      HasSubstr(R"("stacks":{"work":[")"), HasSubstr(R"("count":1)")));
    (void)unlink(path.c_str());
}

TEST_F(SanitizerDeathTest, WrongSettingsAreToldByName) {
    const auto program = [](const char* name, const char* value) {
        setenv(name, value, 1);
        const bool refused = aclInit(nullptr) != ACL_SUCCESS;
        const char* const message = aclGetRecentErrMsg();
        std::fputs(refused && message != nullptr ? message : "none", stderr);
        std::_Exit(3);
    };
    EXPECT_EXIT(program("ADVANCE_STEP_SANITIZE", "memory,host"), ExitedWithCode(3),
                HasSubstr("ADVANCE_STEP_SANITIZE is \"memory,host\""));
    EXPECT_EXIT(program("ADVANCE_STEP_SANITIZE_ACTION", "abort"), ExitedWithCode(3),
                HasSubstr("expected report, fail or stop"));
    EXPECT_EXIT(program("ADVANCE_STEP_SANITIZE_SUPPRESSIONS", "/none/such"), ExitedWithCode(3),
                HasSubstr("ADVANCE_STEP_SANITIZE_SUPPRESSIONS is \"/none/such\""));
}

}  // namespace
