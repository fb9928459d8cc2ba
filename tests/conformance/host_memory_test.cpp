// SPDX-License-Identifier: Apache-2.0
// Host memory registered by flags, ranges inside pinned blocks, and addresses on devices.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

constexpr size_t kPage = 4096;
constexpr uint32_t kMapped = ACL_HOST_REG_MAPPED;
constexpr uint32_t kPinnedFlag = ACL_HOST_REG_PINNED;

class HostMemoryTest : public support::DeviceTest {
 protected:
    struct FreeIt {
        void operator()(char* memory) const { std::free(memory); }
    };
    using Pages = std::unique_ptr<char, FreeIt>;
    static Pages MakePages(size_t count) {
        return Pages(static_cast<char*>(std::aligned_alloc(kPage, count * kPage)));
    }
    static void* DevicePointer(void* host, int code = ACL_SUCCESS) {
        void* device = nullptr;
        EXPECT_TRUE(IsCode(code, aclrtHostGetDevicePointer(host, &device, 0)));
        (void)support::TakeMessage();
        return device;
    }
    // A capture takes copies of pinned memory only, so it tells the two kinds apart at once.
    static bool CountsAsPinned(char* host) {
        const DeviceBuffer device(kPage);
        const support::Stream stream = support::MakeStream();
        EXPECT_TRUE(
            IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
        const aclError code = aclrtMemcpyAsync(device.Get(), kPage, host, kPage,
                                               ACL_MEMCPY_HOST_TO_DEVICE, stream.Get());
        (void)support::TakeMessage();
        aclmdlRI model = nullptr;
        EXPECT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
        EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
        return code == ACL_SUCCESS;
    }
};

TEST_F(HostMemoryTest, FlagsDecideWhatARegistrationIsGoodFor) {
    const Pages pages = MakePages(1);
    for (const uint32_t flag : {kMapped, kPinnedFlag, kMapped | kPinnedFlag}) {
        const bool mapped = (flag & kMapped) != 0;
        EXPECT_TRUE(IsOk(aclrtHostRegisterV2(pages.get(), kPage, flag)));
        EXPECT_EQ(
            DevicePointer(pages.get(), mapped ? ACL_SUCCESS : ACL_ERROR_HOST_MEMORY_NOT_REGISTERED),
            mapped ? pages.get() : nullptr);
        EXPECT_EQ(CountsAsPinned(pages.get()), (flag & kPinnedFlag) != 0) << flag;
        const DeviceBuffer device(kPage);
        EXPECT_TRUE(IsOk(
            aclrtMemcpy(pages.get(), kPage, device.Get(), kPage, ACL_MEMCPY_DEVICE_TO_DEVICE)));
        const aclError word = mapped ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
        EXPECT_TRUE(IsCode(word, aclrtValueWrite(pages.get(), 1, 0, nullptr))) << flag;
        EXPECT_TRUE(IsCode(word, aclrtValueWait(pages.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, nullptr)))
            << flag;
        EXPECT_TRUE(IsOk(aclrtHostUnregister(pages.get())));
        EXPECT_EQ(DevicePointer(pages.get(), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED), nullptr);
        EXPECT_FALSE(CountsAsPinned(pages.get()));
    }
}

TEST_F(HostMemoryTest, RefusesOtherFlagsSizesAndAddresses) {
    const Pages pages = MakePages(2);
    const auto call = "aclrtHostRegisterV2: ";
    for (const uint32_t flag : {0U, 1U, 0x10U, 0x20000000U, kMapped | 1U}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtHostRegisterV2(pages.get(), kPage, flag), {call, "flag"}));
    }
    for (const uint32_t flag : {4U, 8U, 12U, kMapped | 4U}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                            aclrtHostRegisterV2(pages.get(), kPage, flag), {call, "flag"}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtHostRegisterV2(nullptr, kPage, kMapped),
                        {call, "ptr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtHostRegisterV2(pages.get(), 0, kMapped),
                        {call, "size"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtHostRegisterV2(pages.get() + 512, kPage, kMapped), {call, "ptr"}));
    const DeviceBuffer device(kPage);
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID,
                       aclrtHostRegisterV2(reinterpret_cast<void*>(kPage), kPage, kMapped)));
    EXPECT_TRUE(IsOk(aclrtHostRegisterV2(pages.get(), 2 * kPage, kMapped)));
    EXPECT_TRUE(IsError(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                        aclrtHostRegisterV2(pages.get() + kPage, kPage, kMapped), {call, "ptr"}));
    EXPECT_TRUE(IsOk(aclrtHostUnregister(pages.get())));
}

// Devices map whole pages. Weight loaders pin tensors where they are.
TEST_F(HostMemoryTest, MemoryThatIsOnlyPinnedStartsAnywhere) {
    const Pages pages = MakePages(2);
    for (const size_t offset : {1, 8, 4095}) {
        char* const begin = pages.get() + offset;
        for (const uint32_t flag : {kMapped, kMapped | kPinnedFlag}) {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(begin, kPage, flag),
                                {"aclrtHostRegisterV2: ", "ptr"}, {kPage}));
        }
        EXPECT_TRUE(IsOk(aclrtHostRegisterV2(begin, kPage, kPinnedFlag)));
        EXPECT_TRUE(CountsAsPinned(begin));
        EXPECT_TRUE(IsOk(aclrtHostUnregister(begin)));
        EXPECT_FALSE(CountsAsPinned(begin));
    }
}

TEST_F(HostMemoryTest, DevicePointerIsOfAnyAddressInTheRange) {
    const Pages pages = MakePages(2);
    EXPECT_TRUE(IsOk(aclrtHostRegisterV2(pages.get(), kPage, kMapped)));
    EXPECT_EQ(DevicePointer(pages.get() + 100), pages.get() + 100);
    EXPECT_EQ(DevicePointer(pages.get() + kPage, ACL_ERROR_HOST_MEMORY_NOT_REGISTERED), nullptr);
    void* device = nullptr;
    const auto call = "aclrtHostGetDevicePointer: ";
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(pages.get(), &device, 1),
                        {call, "flag"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(pages.get(), nullptr, 0),
                        {call, "pDevice"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(nullptr, &device, 0),
                        {call, "pHost"}));
    EXPECT_TRUE(IsOk(aclrtHostUnregister(pages.get())));
}

TEST_F(HostMemoryTest, PinnedBlocksBeginAtAPage) {
    std::vector<PinnedArray<char>> kept;
    for (const size_t size : {1, 100, 4096, 5000, 3000000}) {
        kept.emplace_back(size);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(kept.back().Get()) % kPage, 0U) << size;
    }
}

// Memory that is swapped between host and device: pinned first, then registered for kernels.
TEST_F(HostMemoryTest, RangesInsideAPinnedBlockAreRegistered) {
    const PinnedArray<char> block(4 * kPage, 'b');
    const auto writeInto = [&](char* to) {
        const aclError code = aclrtValueWrite(to, 'd', 0, nullptr);
        (void)support::TakeMessage();
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return code;
    };
    void* devPtr = nullptr;
    ASSERT_TRUE(IsOk(aclrtHostRegister(block.Get(), 4 * kPage, ACL_HOST_REGISTER_MAPPED, &devPtr)));
    EXPECT_EQ(devPtr, block.Get());
    EXPECT_EQ(writeInto(block.Get() + kPage), ACL_SUCCESS);
    EXPECT_EQ(block[kPage], 'd');
    EXPECT_TRUE(IsError(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                        aclrtHostRegisterV2(block.Get() + kPage, kPage, kMapped), {"ptr"}));
    ASSERT_TRUE(IsOk(aclrtHostUnregister(block.Get())));
    ASSERT_TRUE(IsOk(aclrtHostRegisterV2(block.Get() + kPage, kPage, kMapped)));
    ASSERT_TRUE(IsOk(aclrtHostRegisterV2(block.Get() + 2 * kPage, kPage, kMapped)));
    EXPECT_EQ(writeInto(block.Get() + 2 * kPage), ACL_SUCCESS);
    EXPECT_TRUE(CountsAsPinned(block.Get() + kPage)) << "the block is pinned all the same";
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtHostRegisterV2(block.Get() + 3 * kPage, kPage, kPinnedFlag),
                        {"aclrtHostRegisterV2: ", "pinned"}));
    EXPECT_TRUE(IsError(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(block.Get())));
}

TEST_F(HostMemoryTest, AFreeEndsTheRegistrationsInTheBlock) {
    for (int round = 0; round < 3; ++round) {
        void* block = nullptr;
        ASSERT_TRUE(IsOk(aclrtMallocHost(&block, 2 * kPage)));
        ASSERT_TRUE(IsOk(aclrtHostRegisterV2(block, kPage, kMapped)));
        ASSERT_TRUE(IsOk(aclrtFreeHost(block)));
        EXPECT_TRUE(IsError(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(block)));
    }
}

TEST_F(HostMemoryTest, TheEndOfTheRuntimeEndsTheRegistrations) {
    void* block = nullptr;
    ASSERT_TRUE(IsOk(aclrtMallocHost(&block, kPage)));
    ASSERT_TRUE(IsOk(aclrtHostRegisterV2(block, kPage, kMapped)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsCode(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(block)));
}

TEST_F(HostMemoryTest, CapabilitiesAreThoseOfTheEngines) {
    for (int type = ACL_RT_HAC_TYPE_STARS; type <= ACL_RT_HAC_TYPE_CCU; ++type) {
        auto capability = static_cast<aclrtHostMemMapCapability>(7);
        ASSERT_TRUE(
            IsOk(aclrtHostMemMapCapabilities(1, static_cast<aclrtHacType>(type), &capability)));
        EXPECT_EQ(capability, type <= 4 || type == 6 ? ACL_RT_HOST_MEM_MAP_SUPPORTED
                                                     : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED)
            << type;
    }
    auto capability = static_cast<aclrtHostMemMapCapability>(7);
    const auto call = "aclrtHostMemMapCapabilities: ";
    for (const int type : {-1, 10}) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_INVALID_PARAM,
                    aclrtHostMemMapCapabilities(0, static_cast<aclrtHacType>(type), &capability),
                    {call, "hacType"}, {type}));
    }
    for (const uint32_t device : {2U, UINT32_MAX}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                            aclrtHostMemMapCapabilities(device, ACL_RT_HAC_TYPE_AIV, &capability),
                            {call, "deviceId"}, {device}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_AIV, nullptr),
                        {call, "capabilities"}));
    EXPECT_EQ(static_cast<int>(capability), 7);
}

// Allocation with attributes.

using MallocConfigTest = HostMemoryTest;

TEST_F(MallocConfigTest, TakesEveryAttribute) {
    aclrtMallocAttribute attributes[4] = {};
    for (int i = 0; i < 4; ++i) {
        attributes[i].attr = static_cast<aclrtMallocAttrType>(i);
    }
    attributes[ACL_RT_MEM_ATTR_MODULE_ID].value.moduleId = 33;
    attributes[ACL_RT_MEM_ATTR_VA_FLAG].value.vaFlag = 1;
    aclrtMallocConfig all = {attributes, 4};
    aclrtMallocConfig none = {nullptr, 0};
    for (aclrtMallocConfig* const config :
         {&all, &none, static_cast<aclrtMallocConfig*>(nullptr)}) {
        void* device = nullptr;
        ASSERT_TRUE(IsOk(aclrtMallocWithCfg(&device, 100, ACL_MEM_MALLOC_NORMAL_ONLY, config)));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(device) % 512, 0U);
        EXPECT_TRUE(IsOk(aclrtMemset(device, 100, 1, 100)));
        EXPECT_TRUE(IsOk(aclrtFree(device)));
        void* host = nullptr;
        ASSERT_TRUE(IsOk(aclrtMallocHostWithCfg(&host, 100, config)));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(host) % 64, 0U);
        void* devPtr = nullptr;
        EXPECT_TRUE(IsOk(aclrtHostRegister(host, 100, ACL_HOST_REGISTER_MAPPED, &devPtr)));
        EXPECT_EQ(devPtr, host);
        EXPECT_TRUE(IsOk(aclrtFreeHost(host)));
    }
}

TEST_F(MallocConfigTest, RefusesOtherAttributes) {
    void* memory = nullptr;
    const auto refused = [&](int code, aclrtMallocConfig config, const char* word) {
        EXPECT_TRUE(IsError(code,
                            aclrtMallocWithCfg(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST, &config),
                            {"aclrtMallocWithCfg: ", word}));
        EXPECT_TRUE(IsError(code, aclrtMallocHostWithCfg(&memory, 8, &config),
                            {"aclrtMallocHostWithCfg: ", word}));
    };
    refused(ACL_ERROR_INVALID_PARAM, {nullptr, 1}, "attrs");
    aclrtMallocAttribute attributes[2] = {};
    attributes[1].attr = static_cast<aclrtMallocAttrType>(4);
    refused(ACL_ERROR_INVALID_PARAM, {attributes, 2}, "attrs[1].attr is 4");
    attributes[1].attr = ACL_RT_MEM_ATTR_DEVICE_ID;
    attributes[1].value.deviceId = 1;
    refused(ACL_ERROR_RT_PARAM_INVALID, {attributes, 2}, "deviceId is 1");
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtMallocHostWithCfg(&memory, 0, nullptr), {"size"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtMallocHostWithCfg(nullptr, 8, nullptr), {"ptr"}));
    EXPECT_TRUE(IsError(
        ACL_ERROR_RT_PARAM_INVALID,
        aclrtMallocWithCfg(&memory, 8, static_cast<aclrtMemMallocPolicy>(9), nullptr), {"policy"}));
    EXPECT_EQ(memory, nullptr);
}

}  // namespace
