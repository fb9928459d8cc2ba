// SPDX-License-Identifier: Apache-2.0
// Names of models, and functions that are called once a model has ended.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"

namespace model_name {
namespace {

using namespace conformance;
using namespace support;

constexpr aclError kBad = ACL_ERROR_RT_PARAM_INVALID;

class ModelNameTest : public support::DeviceTest {
 protected:
    static Model Any(const Stream& stream) {
        return Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(aclrtLaunchHostFunc(
                stream.Get(), [](void*) {}, nullptr)));
        });
    }
};

TEST_F(ModelNameTest, IsKept) {
    const Stream stream = MakeStream();
    const Model model = Any(stream);
    char name[8] = "?";
    EXPECT_TRUE(IsOk(aclmdlRIGetName(model.Get(), 1, name)));
    EXPECT_STREQ(name, "") << "at first";
    EXPECT_TRUE(IsOk(aclmdlRISetName(model.Get(), "first")));
    EXPECT_TRUE(IsOk(aclmdlRISetName(model.Get(), "decode")));
    EXPECT_TRUE(IsError(kBad, aclmdlRIGetName(model.Get(), 6, name), {"maxLen is 6"}, {7}));
    EXPECT_STREQ(name, "");
    EXPECT_TRUE(IsOk(aclmdlRIGetName(model.Get(), 7, name)));
    EXPECT_STREQ(name, "decode");
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRISetName(model.Get(), nullptr), {"name"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclmdlRIGetName(model.Get(), 7, nullptr), {"name"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRISetName(nullptr, "x"), {"modelRI"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRISetName(stream.Get(), "x")));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIGetName(stream.Get(), 7, name)));
}

TEST_F(ModelNameTest, IsNotOfTheNextModel) {
    const Stream stream = MakeStream();
    {
        const Model model = Any(stream);
        EXPECT_TRUE(IsOk(aclmdlRISetName(model.Get(), "old")));
    }
    const Model next = Any(stream);
    char name[8] = "?";
    EXPECT_TRUE(IsOk(aclmdlRIGetName(next.Get(), 8, name)));
    EXPECT_STREQ(name, "");
}

TEST_F(ModelNameTest, WaitsForTheEndOfTheCapture) {
    const Stream stream = MakeStream();
    Begin(stream.Get());
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream.Get(), nullptr, &model)));
    char name[8] = "?";
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRISetName(model, "x")));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIGetName(model, 8, name)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDestroyRegisterCallback(
                                                         model, [](void*) {}, nullptr)));
    const Model ended = End(stream.Get());
}

std::string told;
void First(void* userData) { told += *static_cast<const char*>(userData); }
void Second(void* userData) { told += *static_cast<const char*>(userData); }
void Throws(void*) { throw std::runtime_error("of the callback"); }
aclError inside = ACL_SUCCESS;
void Waits(void*) { inside = aclrtSynchronizeDevice(); }
void Asks(void* handle) { inside = aclmdlRISetName(handle, "dead"); }

TEST_F(ModelNameTest, EndIsTold) {
    const Stream stream = MakeStream();
    Model model = Any(stream);
    char a = 'a', b = 'b';
    told.clear();
    ASSERT_TRUE(IsOk(aclmdlRIDestroyRegisterCallback(model.Get(), &First, &a)));
    ASSERT_TRUE(IsOk(aclmdlRIDestroyRegisterCallback(model.Get(), &Second, &b)));
    EXPECT_TRUE(IsError(kBad, aclmdlRIDestroyRegisterCallback(model.Get(), &First, &b),
                        {"aclmdlRIDestroyRegisterCallback: func is", "registered"}));
    ASSERT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    EXPECT_EQ(told, "");
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
    EXPECT_EQ(told, "ab");
    const Model next = Any(stream);
    EXPECT_TRUE(IsError(kBad, aclmdlRIDestroyUnregisterCallback(next.Get(), &First),
                        {"aclmdlRIDestroyUnregisterCallback: func is", "not registered"}));
}

TEST_F(ModelNameTest, EndIsNotToldAfterUnregister) {
    const Stream stream = MakeStream();
    Model model = Any(stream);
    char a = 'a', b = 'b';
    told.clear();
    ASSERT_TRUE(IsOk(aclmdlRIDestroyRegisterCallback(model.Get(), &First, &a)));
    ASSERT_TRUE(IsOk(aclmdlRIDestroyRegisterCallback(model.Get(), &Second, &b)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroyUnregisterCallback(model.Get(), &First)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
    EXPECT_EQ(told, "b");
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclmdlRIDestroyRegisterCallback(nullptr, &First, nullptr), {"modelRI"}));
    const Model other = Any(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclmdlRIDestroyRegisterCallback(other.Get(), nullptr, &a), {"func"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclmdlRIDestroyUnregisterCallback(other.Get(), nullptr), {"func"}));
}

TEST_F(ModelNameTest, EndOfTheContextIsTold) {
    char a = 'a';
    told.clear();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    {
        const Stream stream = MakeStream();
        Model model = Any(stream);
        ASSERT_TRUE(IsOk(aclmdlRIDestroyRegisterCallback(model.Get(), &First, &a)));
        ASSERT_TRUE(IsOk(aclmdlRIDestroyRegisterCallback(model.Get(), &Waits, nullptr)));
        model.Release();
    }
    inside = ACL_SUCCESS;
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
    EXPECT_EQ(told, "a");
    EXPECT_NE(inside, ACL_SUCCESS) << "a wait in the middle of the end";
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
}

TEST_F(ModelNameTest, CallbacksLeaveTheCallAsItIs) {
    const Stream stream = MakeStream();
    Model model = Any(stream);
    ASSERT_TRUE(IsOk(aclmdlRIDestroyRegisterCallback(model.Get(), &Throws, nullptr)));
    ASSERT_TRUE(IsOk(aclmdlRIDestroyRegisterCallback(model.Get(), &Asks, model.Get())));
    const StderrCapture log;
    inside = ACL_SUCCESS;
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
    EXPECT_NE(
        log.Text().find("aclmdlRIDestroyRegisterCallback threw an exception: of the callback"),
        std::string::npos)
        << log.Text();
    EXPECT_EQ(inside, ACL_ERROR_RT_INVALID_HANDLE) << "the model has ended";
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "the failure is the callback's";
}

}  // namespace
}  // namespace model_name
