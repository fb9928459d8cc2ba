// SPDX-License-Identifier: Apache-2.0
// Options of the process and of contexts, overflow, time limits, cache operations and the dump.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
constexpr int kNoContext = ACL_ERROR_RT_CONTEXT_NULL;
constexpr int kCaptured = ACL_ERROR_RT_STREAM_CAPTURED;

class OptionsTest : public support::DeviceTest {};

aclSysParamOpt Opt(int number) { return static_cast<aclSysParamOpt>(number); }

TEST_F(OptionsTest, OfTheProcessAreKeptUntilItsEnd) {
    std::thread([] {  // no context is needed
        for (int opt = 0; opt < 4; ++opt) {
            int64_t value = 7;
            EXPECT_TRUE(IsOk(aclrtGetSysParamOpt(Opt(opt), &value)));
            EXPECT_EQ(value, 0);
            const int64_t most = opt == 0 ? 3 : 1;
            EXPECT_TRUE(IsOk(aclrtSetSysParamOpt(Opt(opt), most)));
            EXPECT_TRUE(IsError(kRange, aclrtSetSysParamOpt(Opt(opt), most + 1),
                                {"aclrtSetSysParamOpt: ", "value"}, {most + 1}));
            EXPECT_TRUE(IsError(kRange, aclrtSetSysParamOpt(Opt(opt), -1), {"value"}));
            EXPECT_TRUE(IsOk(aclrtGetSysParamOpt(Opt(opt), &value)));
            EXPECT_EQ(value, most);
        }
    })
        .join();
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    int64_t value = 7;
    EXPECT_TRUE(IsOk(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value)));
    EXPECT_EQ(value, 0);
    for (const int bad : {-1, 4}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetSysParamOpt(Opt(bad), &value), {"opt"},
                            {bad}));
        EXPECT_TRUE(
            IsError(ACL_ERROR_INVALID_PARAM, aclrtSetSysParamOpt(Opt(bad), 0), {"opt"}, {bad}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), {"value"}));
}

// No fixture of the others: the end of a runtime sets the defaults, too.
class FreshOptionsDeathTest : public testing::Test {
 protected:
    FreshOptionsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// The defaults of a new process, in which the runtime has neither started nor ended.
TEST_F(FreshOptionsDeathTest, AreThoseOfAStartedRuntime) {
    EXPECT_EXIT(
        {
            aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
            const aclError status = aclrtGetDeviceSatMode(&mode);
            _exit(status == ACL_SUCCESS && mode == ACL_RT_OVERFLOW_MODE_INFNAN ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(OptionsTest, OfAContextAreItsOwn) {
    const aclrtContext primary = support::CurrentContext();
    int64_t value = 7;
    ASSERT_TRUE(IsOk(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                        aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value),
                        {"aclrtCtxGetSysParamOpt: ", "aclrtCtxSetSysParamOpt"}));
    EXPECT_EQ(value, 7);
    ASSERT_TRUE(IsOk(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1)));
    EXPECT_TRUE(IsOk(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value)));
    EXPECT_EQ(value, 1);
    EXPECT_TRUE(IsOk(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value)));
    EXPECT_EQ(value, 2) << "independent";
    for (int round = 0; round < 2; ++round) {
        aclrtContext context = nullptr;
        ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
        EXPECT_TRUE(IsCode(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                           aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value)));
        EXPECT_TRUE(IsOk(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3)));
        ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    }
    for (const int bad : {-1, 3}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtCtxGetSysParamOpt(Opt(bad), &value),
                            {"opt"}, {bad}));
        EXPECT_TRUE(
            IsError(ACL_ERROR_INVALID_PARAM, aclrtCtxSetSysParamOpt(Opt(bad), 0), {"opt"}, {bad}));
    }
    EXPECT_TRUE(IsError(kRange, aclrtCtxSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 2), {"value"}));
    std::thread([&] {
        EXPECT_TRUE(IsCode(kNoContext, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value)));
        EXPECT_TRUE(IsCode(kNoContext, aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0)));
    }).join();
}

TEST_F(OptionsTest, SaturationModeIsTheLastOneSet) {
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    EXPECT_TRUE(IsOk(aclrtGetDeviceSatMode(&mode)));
    EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
    std::thread([] {
        EXPECT_TRUE(IsOk(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION)));
    }).join();
    EXPECT_TRUE(IsOk(aclrtGetDeviceSatMode(&mode)));
    EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_SATURATION);
    for (const int bad : {-1, 2, 3}) {
        EXPECT_TRUE(IsError(kRange, aclrtSetDeviceSatMode(static_cast<aclrtFloatOverflowMode>(bad)),
                            {"aclrtSetDeviceSatMode: ", "mode"}, {bad}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceSatMode(nullptr), {"mode"}));
}

TEST_F(OptionsTest, OverflowStatusIsWrittenInStreamOrder) {
    const Stream stream = MakeStream();
    const DeviceBuffer status(std::vector<char>(64, 'x'));
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(aclrtResetOverflowStatus(stream.Get())));
        ASSERT_TRUE(IsOk(aclrtGetOverflowStatus(status.Get(), 64, stream.Get())));
        EXPECT_EQ(status.Download<char>(), std::vector<char>(64, 'x'));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(status.Download<char>(), std::vector<char>(64, '\0'));
    const auto call = "aclrtGetOverflowStatus: ";
    for (const size_t bad : {0, 63, 65}) {
        EXPECT_TRUE(IsError(kRange, aclrtGetOverflowStatus(status.Get(), bad, stream.Get()),
                            {call, "outputSize"}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetOverflowStatus(nullptr, 64, stream.Get()),
                        {call, "outputAddr"}));
    char host[64];
    EXPECT_TRUE(
        IsError(kRange, aclrtGetOverflowStatus(host, 64, stream.Get()), {call, "outputAddr is "}));
    const DeviceBuffer small(63);
    EXPECT_TRUE(IsError(kRange, aclrtGetOverflowStatus(small.Get(), 64, stream.Get()),
                        {call, "expected outputAddr inside one allocation"}));
}

TEST_F(OptionsTest, CapturesTakeNoOverflowCalls) {
    const Stream stream = MakeStream();
    const DeviceBuffer status(64);
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
    EXPECT_TRUE(IsError(kCaptured, aclrtGetOverflowStatus(status.Get(), 64, stream.Get())));
    EXPECT_TRUE(IsError(kCaptured, aclrtResetOverflowStatus(stream.Get())));
    EXPECT_TRUE(IsError(kCaptured, aclrtSetStreamOverflowSwitch(stream.Get(), 1)));
    uint32_t flag = 7;
    EXPECT_TRUE(IsOk(aclrtGetStreamOverflowSwitch(stream.Get(), &flag)));
    EXPECT_EQ(flag, 0U);
    EXPECT_TRUE(IsOk(aclrtCmoAsync(status.Get(), 64, ACL_RT_CMO_TYPE_PREFETCH, stream.Get())));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model, -1)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

TEST_F(OptionsTest, TheOverflowSwitchIsTheStreamsAttribute) {
    const Stream stream = MakeStream();
    uint32_t flag = 7;
    for (const uint32_t wanted : {1U, 0U, 1U}) {
        ASSERT_TRUE(IsOk(aclrtSetStreamOverflowSwitch(stream.Get(), wanted)));
        EXPECT_TRUE(IsOk(aclrtGetStreamOverflowSwitch(stream.Get(), &flag)));
        EXPECT_EQ(flag, wanted);
        aclrtStreamAttrValue value{};
        EXPECT_TRUE(IsOk(
            aclrtGetStreamAttribute(stream.Get(), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value)));
        EXPECT_EQ(value.overflowSwitch, wanted);
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtSetStreamOverflowSwitch(stream.Get(), 2),
                        {"flag"}, {2}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtGetStreamOverflowSwitch(stream.Get(), nullptr), {"flag"}));
    EXPECT_TRUE(IsOk(aclrtGetStreamOverflowSwitch(nullptr, &flag)));
    EXPECT_EQ(flag, 0U) << "the default stream has its own";
}

TEST_F(OptionsTest, TimeLimitsAreWholeUnits) {
    uint64_t unit = 0;
    ASSERT_TRUE(IsOk(aclrtGetOpTimeOutInterval(&unit)));
    EXPECT_EQ(unit, 4294967U);
    const auto limit = [] {
        uint32_t ms = 0;
        EXPECT_TRUE(IsOk(aclrtGetOpExecuteTimeout(&ms)));
        return uint64_t{ms};
    };
    const uint64_t most = 254 * unit;
    EXPECT_EQ(limit(), most / 1000) << "the default";
    struct {
        uint64_t asked;
        uint64_t given;
    } const cases[] = {{1, unit},    {unit, unit},     {unit + 1, 2 * unit},
                       {most, most}, {most + 1, most}, {UINT64_MAX, most},
                       {0, most}};
    for (const auto& c : cases) {
        uint64_t actual = 0;
        EXPECT_TRUE(IsOk(aclrtSetOpExecuteTimeOutV2(c.asked, &actual)));
        EXPECT_EQ(actual, c.given) << c.asked;
        EXPECT_EQ(limit(), c.given / 1000);
    }
    EXPECT_TRUE(IsOk(aclrtSetOpExecuteTimeOut(5)));
    EXPECT_EQ(limit(), 2 * unit / 1000);
    EXPECT_TRUE(IsOk(aclrtSetOpExecuteTimeOutWithMs(4000)));
    EXPECT_EQ(limit(), unit / 1000);
    EXPECT_TRUE(IsOk(aclrtSetOpExecuteTimeOut(UINT32_MAX)));
    EXPECT_EQ(limit(), most / 1000);
    EXPECT_TRUE(IsOk(aclrtSetOpExecuteTimeOut(1)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_EQ(limit(), most / 1000) << "the default is back";
    std::thread([] {
        uint64_t value = 7;
        uint32_t ms = 7;
        EXPECT_TRUE(IsOk(aclrtSetOpExecuteTimeOut(0)));
        EXPECT_TRUE(IsOk(aclrtSetOpExecuteTimeOutWithMs(0)));
        EXPECT_TRUE(IsCode(kNoContext, aclrtSetOpExecuteTimeOutV2(1, &value)));
        EXPECT_TRUE(IsCode(kNoContext, aclrtGetOpTimeOutInterval(&value)));
        EXPECT_TRUE(IsCode(kNoContext, aclrtGetOpExecuteTimeout(&ms)));
        EXPECT_EQ(value + ms, 14U);
    }).join();
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtSetOpExecuteTimeOutV2(1, nullptr),
                        {"actualTimeout"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetOpTimeOutInterval(nullptr), {"interval"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetOpExecuteTimeout(nullptr), {"timeoutMs"}));
}

TEST_F(OptionsTest, CacheOperationsAreTasksInOrder) {
    const Stream stream = MakeStream();
    const DeviceBuffer buffer(64);
    const HostGate gate(stream.Get());
    for (int type = 0; type <= 3; ++type) {
        EXPECT_TRUE(
            IsOk(aclrtCmoAsync(buffer.Get(), 64, static_cast<aclrtCmoType>(type), stream.Get())));
    }
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_TRUE(IsOk(aclrtStreamQuery(stream.Get(), &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    const auto call = "aclrtCmoAsync: ";
    for (const int bad : {-1, 4}) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    aclrtCmoAsync(buffer.Get(), 64, static_cast<aclrtCmoType>(bad), stream.Get()),
                    {call, "cmoType"}, {bad}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtCmoAsync(buffer.Get(), 0, ACL_RT_CMO_TYPE_FLUSH, stream.Get()),
                        {call, "size"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtCmoAsync(nullptr, 64, ACL_RT_CMO_TYPE_FLUSH, stream.Get()),
                        {call, "src"}));
}

TEST_F(OptionsTest, TheDumpHasABeginAndAnEnd) {
    const support::TempFile good(R"({"dump": {"dump_path": "/tmp", "dump_mode": "all"}})");
    const support::TempFile none(R"({"other": {}})");
    const support::TempFile list(R"({"dump": []})");
    const support::TempFile torn(R"({"dump": {)");
    EXPECT_TRUE(IsError(ACL_ERROR_DUMP_NOT_RUN, aclmdlSetDump(good.Path()), {"aclmdlSetDump: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_DUMP_NOT_RUN, aclmdlFinalizeDump(), {"aclmdlFinalizeDump: "}));
    ASSERT_TRUE(IsOk(aclmdlInitDump()));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_INITIALIZE, aclmdlInitDump(), {"aclmdlInitDump: "}));
    EXPECT_TRUE(IsOk(aclmdlSetDump(good.Path())));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlSetDump(nullptr), {"dumpCfgPath"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_FILE, aclmdlSetDump("no/such/file"), {"no/such/file"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_FILE, aclmdlSetDump("/tmp"), {"/tmp"}));
    EXPECT_TRUE(IsError(ACL_ERROR_PARSE_FILE, aclmdlSetDump(torn.Path()), {torn.Path()}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_DUMP_CONFIG, aclmdlSetDump(none.Path()), {"dump"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_DUMP_CONFIG, aclmdlSetDump(list.Path()), {"a list"}));
    ASSERT_TRUE(IsOk(aclmdlFinalizeDump()));
    EXPECT_TRUE(IsError(ACL_ERROR_DUMP_NOT_RUN, aclmdlFinalizeDump()));
    ASSERT_TRUE(IsOk(aclmdlInitDump())) << "it may begin again";
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsError(ACL_ERROR_DUMP_NOT_RUN, aclmdlFinalizeDump()))
        << "it ended with the runtime";
}

}  // namespace
