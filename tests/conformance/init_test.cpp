// SPDX-License-Identifier: Apache-2.0
// aclInit, aclFinalize, aclnnInit and aclnnFinalize: counting, files, and what ending takes away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/temp_pipe.h"

namespace {

using namespace support;

class InitTest : public support::EndedRuntimeTest {
 protected:
    static void SetEnvironment(const Settings& settings) { support::WriteEnvironment(settings); }
    static uint32_t DeviceCount() {
        uint32_t count = 0;
        EXPECT_TRUE(IsOk(aclrtGetDeviceCount(&count)));
        return count;
    }
};

TEST_F(InitTest, FirstSucceedsLaterOnesRepeat) {
    EXPECT_TRUE(IsOk(aclInit(nullptr)));
    EXPECT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    EXPECT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit("")));
    EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
}

TEST_F(InitTest, RepeatReadsNothing) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    SetEnvironment({{"ADVANCE_STEP_DEVICES", "0"}});
    EXPECT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit("/no/such/file.json")));
    SetEnvironment({});
    EXPECT_EQ(DeviceCount(), 2U);
}

TEST_F(InitTest, FinalizeEndsWhateverTheCount) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    EXPECT_TRUE(IsOk(aclFinalize()));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize(), {"aclFinalize: "}));
}

TEST_F(InitTest, FinalizeWithoutInitIsRefused) {
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize(), {"aclFinalize: "}));
}

TEST_F(InitTest, MayFollowFinalize) {
    for (int round = 0; round < 5; ++round) {
        ASSERT_TRUE(IsOk(aclInit(nullptr))) << round;
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
        const support::Stream stream = support::MakeStream();
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        ASSERT_TRUE(IsOk(aclFinalize())) << round;
    }
}

TEST_F(InitTest, IsOptional) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const support::Stream stream = support::MakeStream();
    const support::Recorder recorder;
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(InitTest, EmptyPathIsNoFile) { EXPECT_TRUE(IsOk(aclInit(""))); }

TEST_F(InitTest, MissingFile) {
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_FILE, aclInit("/no/such/file.json"),
                        {"aclInit: ", "/no/such/file.json"}));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize()));
}

TEST_F(InitTest, FileIsNotJson) {
    for (const char* text : {"", "devices = 2", R"({"advance_step": )"}) {
        const TempFile file(text);
        EXPECT_TRUE(IsError(ACL_ERROR_PARSE_FILE, aclInit(file.Path()), {"aclInit: "})) << text;
        EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize())) << text;
    }
}

TEST_F(InitTest, FileIsAPipe) {
    const support::TempPipe unused;
    EXPECT_TRUE(IsError(ACL_ERROR_PARSE_FILE, aclInit(unused.Path()), {unused.Path(), "not JSON"}));
    int ends[2] = {};
    ASSERT_EQ(pipe(ends), 0);
    const std::string text = R"({"advance_step": {"ADVANCE_STEP_DEVICES": 3}})";
    ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(ends[1]);
    EXPECT_TRUE(IsOk(aclInit(("/dev/fd/" + std::to_string(ends[0])).c_str())));
    close(ends[0]);
    EXPECT_EQ(DeviceCount(), 3U);
}

TEST_F(InitTest, FileIsNoObject) {
    const TempFile file("[1, 2]");
    EXPECT_TRUE(IsError(ACL_ERROR_PARSE_FILE, aclInit(file.Path()),
                        {"aclInit: ", "is a list; expected a JSON object"}));
}

TEST_F(InitTest, FileGivesSettings) {
    const TempFile file(R"({"advance_step": {"ADVANCE_STEP_SOC": "Ascend910B1",
                                             "ADVANCE_STEP_DEVICES": "7"}})");
    ASSERT_TRUE(IsOk(aclInit(file.Path())));
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
    EXPECT_EQ(DeviceCount(), 7U);
}

TEST_F(InitTest, EnvironmentWinsOverFile) {
    const TempFile file(R"({"advance_step": {"ADVANCE_STEP_SOC": "Ascend910B1",
                                             "ADVANCE_STEP_DEVICES": "7"}})");
    SetEnvironment({{"ADVANCE_STEP_DEVICES", "3"}});
    ASSERT_TRUE(IsOk(aclInit(file.Path())));
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
    EXPECT_EQ(DeviceCount(), 3U);
}

TEST_F(InitTest, OtherKeysOfTheFileAreIgnored) {
    for (const char* text : {"{}", R"({"dump": {"dump_list": [1, 2]}, "ADVANCE_STEP_DEVICES": 0})",
                             R"({"advance_step": {}, "max_opqueue_num": "20000"})"}) {
        const TempFile file(text);
        EXPECT_TRUE(IsOk(aclInit(file.Path()))) << text;
        EXPECT_EQ(DeviceCount(), 2U) << text;
        EXPECT_TRUE(IsOk(aclFinalize()));
    }
}

TEST_F(InitTest, BadValueInFile) {
    const TempFile file(R"({"advance_step": {"ADVANCE_STEP_DEVICES": "none"}})");
    EXPECT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, aclInit(file.Path()),
                        {"aclInit: ", "ADVANCE_STEP_DEVICES", "none"}));
}

TEST_F(InitTest, FailureStartsNothing) {
    SetEnvironment({{"ADVANCE_STEP_DEVICES", "0"}});
    ASSERT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, aclInit(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize()));
    SetEnvironment({{"ADVANCE_STEP_DEVICES", "4"}});
    EXPECT_TRUE(IsOk(aclInit(nullptr)));
    EXPECT_EQ(DeviceCount(), 4U);
}

TEST_F(InitTest, ReadsSettingsAgainAfterFinalize) {
    SetEnvironment({{"ADVANCE_STEP_SOC", "sim:7"}, {"ADVANCE_STEP_DEVICES", "5"}});
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    EXPECT_STREQ(aclrtGetSocName(), "sim:7");
    EXPECT_EQ(DeviceCount(), 5U);
    SetEnvironment({{"ADVANCE_STEP_SOC", "Ascend910B2"}});
    EXPECT_STREQ(aclrtGetSocName(), "sim:7") << "settings hold until the runtime is ended";
    ASSERT_TRUE(IsOk(aclFinalize()));
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B2");
    EXPECT_EQ(DeviceCount(), 2U);
}

TEST_F(InitTest, FinalizeWaitsForPendingWork) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    support::Stream stream = support::MakeStream();
    const support::Recorder recorder;
    const support::HostGate gate(stream.Get());
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), i)));
    }
    std::thread opener([&gate] {
        EXPECT_TRUE(gate.WaitEntered());
        gate.Open();
    });
    EXPECT_TRUE(IsOk(aclFinalize()));
    EXPECT_EQ(recorder.Values().size(), 100U);
    opener.join();
    stream.Release();
}

TEST_F(InitTest, FinalizeTakesEveryHandleAway) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const aclrtContext primary = support::CurrentContext();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 1)));
    const aclrtStream stream = support::MakeStream().Release();
    const aclrtEvent event = support::MakeEvent().Release();
    void* const device = support::DeviceBuffer(64).Release();
    char* const pinned = support::PinnedArray<char>(64).Release();
    ASSERT_TRUE(IsOk(aclFinalize()));

    int32_t id = -1;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&id)));
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&id)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(context)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(event)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(pinned)));
}

TEST_F(InitTest, OperatorLayerHoldsNoReference) {
    EXPECT_TRUE(IsOk(aclnnInit(nullptr)));
    EXPECT_TRUE(IsOk(aclnnInit(nullptr)));
    EXPECT_TRUE(IsOk(aclInit(nullptr)));
    EXPECT_TRUE(IsOk(aclnnInit("")));
    EXPECT_TRUE(IsOk(aclFinalize()));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize()));
}

TEST_F(InitTest, OperatorLayerChecksTheSettings) {
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclnnInit("/no/such/file.json"),
                        {"aclnnInit: ", "/no/such/file.json"}));
    const TempFile file("not JSON");
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclnnInit(file.Path()), {"aclnnInit: "}));
    SetEnvironment({{"ADVANCE_STEP_THREADS", "0"}});
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclnnInit(nullptr),
                        {"aclnnInit: ", "ADVANCE_STEP_THREADS"}));
    SetEnvironment({});
    EXPECT_TRUE(IsOk(aclnnInit(nullptr)));
}

TEST_F(InitTest, OperatorLayerEndsNothingThatIsInUse) {
    EXPECT_TRUE(IsOk(aclnnFinalize()));
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const support::Stream stream = support::MakeStream();
    EXPECT_TRUE(IsOk(aclnnFinalize()));
    EXPECT_TRUE(IsOk(aclnnFinalize()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

}  // namespace
