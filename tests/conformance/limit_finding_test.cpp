// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_SANITIZE=limits: a device has as many streams and other objects as its SoC, or as
// ADVANCE_STEP_LIMITS says.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/page_vector.h"
#include "support/sanitize_death_test.h"

namespace {

using namespace support;

constexpr int kNoStream = ACL_ERROR_RT_NO_STREAM_RESOURCE;
constexpr int kNoResource = ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;

void Expect(bool right, int line) {
    if (!right) {
        std::fprintf(stderr, "line %d is wrong\n", line);
        std::_Exit(42);
    }
}
#define EXPECT_HERE(right) Expect(right, __LINE__)

uint32_t Left() {
    uint32_t count = 0;
    Must(aclrtGetStreamAvailableNum(&count));
    return count;
}

// In the child: findings are printed, and the program goes on.
[[noreturn]] void RunLimited(const Settings& settings, void (*program)()) {
    for (const auto& [name, value] : settings) {
        setenv(name.c_str(), value.c_str(), 1);
    }
    Must(aclrtSetDevice(0));
    program();
    std::exit(0);
}

Settings Limits(const std::string& limits) {
    return {{"ADVANCE_STEP_SANITIZE", "limits"}, {"ADVANCE_STEP_LIMITS", limits}};
}

class LimitFindingTest : public SanitizeDeathTest {};

void MakeTooManyStreams() {
    constexpr uint32_t kMost = 1984;
    EXPECT_HERE(Left() == kMost);
    std::vector<aclrtStream> streams;
    for (uint32_t i = 0; i < kMost; ++i) {
        streams.push_back(NewStream());
    }
    EXPECT_HERE(Left() == 0);
    aclrtStream more = nullptr;
    EXPECT_HERE(aclrtCreateStream(&more) == kNoStream && more == nullptr);
    EXPECT_HERE(std::string(aclGetRecentErrMsg()).find("device 0 has 1984 streams") !=
                std::string::npos);
    Must(aclrtDestroyStream(streams.back()));
    EXPECT_HERE(Left() == 1);
    Must(aclrtCreateStream(&more));
    // Each device has its own.
    Must(aclrtSetDevice(1));
    EXPECT_HERE(Left() == kMost);
    Must(aclrtResetDevice(1));
    Must(aclrtSetDevice(0));
    Must(aclrtResetDeviceForce(0));
    Must(aclrtSetDevice(0));
    EXPECT_HERE(Left() == kMost);
}

TEST_F(LimitFindingTest, StreamsAreThoseOfTheSoc) {
    EXPECT_EXIT(RunLimited({{"ADVANCE_STEP_SANITIZE", "limits"}}, MakeTooManyStreams),
                testing::ExitedWithCode(0),
                "limits: streams: aclrtCreateStream is refused: device 0 .Ascend910B3. has 1984 of "
                "at most 1984 streams, and 1 more is needed\n(.*\n)+.*the call that is refused:");
}

TEST_F(LimitFindingTest, IsNoneWithoutTheSanitizer) {
    EXPECT_EXIT(RunLimited({{"ADVANCE_STEP_LIMITS", "streams=2,events=1"}},
                           [] {
                               EXPECT_HERE(Left() > 1'000'000);
                               for (int i = 0; i < 5; ++i) {
                                   (void)NewStream();
                                   (void)NewEvent();
                               }
                           }),
                testing::ExitedWithCode(0), testing::IsEmpty());
}

TEST_F(LimitFindingTest, AnUnknownSocHasNoLimits) {
    EXPECT_EXIT(RunLimited({{"ADVANCE_STEP_SANITIZE", "limits"}, {"ADVANCE_STEP_SOC", "sim:8"}},
                           [] {
                               for (int i = 0; i < 3000; ++i) {
                                   (void)NewStream();
                               }
                           }),
                testing::ExitedWithCode(0), testing::IsEmpty());
}

// A branch of a model holds a stream for as long as the model lives.
void MakeModels() {
    aclrtStream main = NewStream(), side = NewStream();
    void* memory = nullptr;
    Must(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    const auto capture = [&](int* joined) {
        const int begun = aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
        aclmdlRI model = nullptr;
        if (begun != 0) {
            EXPECT_HERE(begun == kNoStream);
            return model;
        }
        aclrtEvent fork = NewEvent(), join = NewEvent();
        Must(aclrtRecordEvent(fork, main));
        *joined = aclrtStreamWaitEvent(side, fork);
        if (*joined == 0) {
            Must(aclrtMemsetAsync(memory, 64, 1, 64, side));
            Must(aclrtRecordEvent(join, side));
            Must(aclrtStreamWaitEvent(main, join));
        }
        Must(aclmdlRICaptureEnd(main, &model));
        return model;
    };
    int joined = 0;
    const aclmdlRI first = capture(&joined);
    EXPECT_HERE(first != nullptr && joined == 0 && Left() == 1);
    const aclmdlRI second = capture(&joined);  // it has one stream, and none for its branch
    EXPECT_HERE(second != nullptr && joined == kNoResource && Left() == 0);
    EXPECT_HERE(capture(&joined) == nullptr);
    Must(aclmdlRIDestroy(first));
    EXPECT_HERE(Left() == 2);
    Must(aclmdlRIDestroy(second));
    EXPECT_HERE(capture(&joined) != nullptr && joined == 0);
}

TEST_F(LimitFindingTest, ModelsHoldStreams) {
    EXPECT_EXIT(RunLimited(Limits("streams=5"), MakeModels), testing::ExitedWithCode(0),
                "limits: streams: aclrtStreamWaitEvent is refused: device 0 .* has 5 of at most 5 "
                "streams(.*\n)+.*limits: streams: aclmdlRICaptureBegin is refused: ");
}

TEST_F(LimitFindingTest, OtherObjectsAreLimitedIfASettingSaysSo) {
    EXPECT_EXIT(
        RunLimited(Limits("events=2,notifies=1,models=1"),
                   [] {
                       aclrtEvent event = NewEvent(), more = nullptr;
                       (void)NewEvent();
                       EXPECT_HERE(aclrtCreateEvent(&more) == kNoResource);
                       Must(aclrtDestroyEvent(event));
                       Must(aclrtCreateEvent(&more));
                       aclrtNotify notify = NewNotify();
                       EXPECT_HERE(aclrtCreateNotify(&notify, 0) == kNoResource);
                       Must(aclrtDestroyNotify(notify));
                       (void)NewNotify();
                       aclrtStream stream = NewStream();
                       aclmdlRI model = nullptr;
                       Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
                       Must(aclmdlRICaptureEnd(stream, &model));
                       EXPECT_HERE(aclmdlRICaptureBegin(
                                       stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == kNoResource);
                       Must(aclmdlRIDestroy(model));
                       Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
                       Must(aclmdlRICaptureEnd(stream, &model));
                   }),
        testing::ExitedWithCode(0),
        "limits: events: aclrtCreateEvent is refused: device 0 .* has 2 of at most 2 events(.*\n)+"
        ".*limits: notifies: aclrtCreateNotify is refused: .*1 of at most 1 notifies(.*\n)+"
        ".*limits: models: aclmdlRICaptureBegin is refused: .*1 of at most 1 captured models");
}

TEST_F(LimitFindingTest, PinnedBytesAreThoseOfTheHost) {
    EXPECT_EXIT(
        RunLimited(
            Limits("pinned_bytes=64K"),
            [] {
                void *first = nullptr, *more = nullptr;
                Must(aclrtMallocHost(&first, 40 << 10));
                EXPECT_HERE(aclrtMallocHost(&more, 40 << 10) == ACL_ERROR_RT_MEMORY_ALLOCATION);
                Must(aclrtMallocHost(&more, 24 << 10));
                Must(aclrtFreeHost(first));
                support::PageVector<char> own(3 * 4096);
                void* mapped = nullptr;
                Must(aclrtHostRegister(own.data(), own.size(), ACL_HOST_REGISTER_MAPPED, &mapped));
                EXPECT_HERE(aclrtMallocHost(&first, 40 << 10) == ACL_ERROR_RT_MEMORY_ALLOCATION);
                Must(aclrtHostUnregister(own.data()));
                Must(aclrtMallocHost(&first, 40 << 10));
            }),
        testing::ExitedWithCode(0),
        "limits: pinned_bytes: aclrtMallocHost is refused: the host has 40960 of at most 65536 "
        "bytes of pinned host memory, and 40960 more are needed");
}

TEST_F(LimitFindingTest, RefusesBadTexts) {
    for (const char* text : {"", "streams", "streams=", "streams=x", "rivers=3", "streams=1,",
                             "streams=1K", "pinned_bytes=1T"}) {
        setenv("ADVANCE_STEP_LIMITS", text, 1);
        EXPECT_EQ(aclInit(nullptr), 100008) << text;
    }
    unsetenv("ADVANCE_STEP_LIMITS");
}

}  // namespace
