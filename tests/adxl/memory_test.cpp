// SPDX-License-Identifier: Apache-2.0
// Registrations, and the memory that engines allocate.

#include <thread>

#include "adxl/engines.h"

namespace transfer {
namespace {

class MemoryTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(support::DeviceTest::SetUp());
        ASSERT_TRUE(IsOk(engine_.Initialize("127.0.0.1", {})));
    }
    int Register(const void* address, size_t bytes, adxl::MemType type) {
        return static_cast<int>(engine_.RegisterMem(Described(address, bytes), type, handle_));
    }

    AdxlEngine engine_;
    adxl::MemHandle handle_ = nullptr;
};

TEST_F(MemoryTest, RegistrationsAreChecked) {
    const support::DeviceBuffer block(4096);
    std::vector<char> host(4096);
    const void* const last = reinterpret_cast<const void*>(UINTPTR_MAX - 8);
    EXPECT_TRUE(IsError(kInvalid, Register(nullptr, 8, adxl::MEM_HOST), {"mem has 8 bytes"}));
    EXPECT_TRUE(IsError(kInvalid, Register(host.data(), 0, adxl::MEM_HOST), {"mem has 0 bytes"}));
    EXPECT_TRUE(IsCode(kInvalid, Register(last, 9, adxl::MEM_HOST)));
    EXPECT_TRUE(
        IsError(kInvalid, Register(host.data(), 8, static_cast<adxl::MemType>(2)), {"type is 2"}));
    EXPECT_TRUE(IsError(kInvalid, Register(host.data(), 8, adxl::MEM_DEVICE),
                        {"MEM_DEVICE", "no device memory"}));
    EXPECT_TRUE(IsError(kInvalid, Register(block.Get(), 4097, adxl::MEM_DEVICE),
                        {"no device memory", "4097"}));
    EXPECT_TRUE(IsError(kInvalid, Register(block.Get(), 8, adxl::MEM_HOST),
                        {"MEM_HOST", "expected MEM_DEVICE"}));
    EXPECT_EQ(handle_, nullptr);
    int code = 0;
    std::thread([&] { code = Register(block.Get(), 8, adxl::MEM_DEVICE); }).join();
    EXPECT_EQ(code, kFailed);  // no context
}

TEST_F(MemoryTest, AHandleEndsOnce) {
    const support::DeviceBuffer block(4096);
    ASSERT_TRUE(IsOk(Register(block.Get(), 4096, adxl::MEM_DEVICE)));
    adxl::MemHandle const first = handle_;
    ASSERT_TRUE(IsOk(Register(block.Get(), 4096, adxl::MEM_DEVICE)));  // it may overlap
    EXPECT_NE(handle_, first);
    EXPECT_TRUE(IsOk(engine_.DeregisterMem(first)));
    EXPECT_TRUE(IsError(kInvalid, engine_.DeregisterMem(first), {"mem_handle"}));
    EXPECT_TRUE(IsCode(kInvalid, engine_.DeregisterMem(nullptr)));
    EXPECT_TRUE(IsOk(engine_.DeregisterMem(handle_)));
}

// Two mappings side by side are one range.
TEST_F(MemoryTest, NeighbouringMappingsAreOneRange) {
    constexpr size_t kPart = 2 << 20;
    aclrtPhysicalMemProp prop{};
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    void* range = nullptr;
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&range, 2 * kPart, 0, nullptr, 1)));
    aclrtDrvMemHandle parts[2] = {};
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(IsCode(kInvalid, Register(range, 2 * kPart, adxl::MEM_DEVICE)));
        ASSERT_TRUE(IsOk(aclrtMallocPhysical(&parts[i], kPart, &prop, 0)));
        ASSERT_TRUE(
            IsOk(aclrtMapMem(static_cast<char*>(range) + i * kPart, kPart, 0, parts[i], 0)));
    }
    ASSERT_TRUE(IsOk(Register(range, 2 * kPart, adxl::MEM_DEVICE)));
    AdxlEngine server;
    const int port = InitializeAnywhere(&server);
    const Registered source(server, 2 * kPart / sizeof(int32_t), 5);
    ASSERT_TRUE(IsOk(engine_.TransferSync(NameOf(port).c_str(), adxl::READ,
                                          {{AddressOf(range), source.At(0), 2 * kPart}}, 60000)));
    std::vector<int32_t> got(2 * kPart / sizeof(int32_t));
    ASSERT_TRUE(
        IsOk(aclrtMemcpy(got.data(), 2 * kPart, range, 2 * kPart, ACL_MEMCPY_DEVICE_TO_HOST)));
    EXPECT_EQ(got, source.Values());
    ASSERT_TRUE(IsOk(engine_.DeregisterMem(handle_)));
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(IsOk(aclrtUnmapMem(static_cast<char*>(range) + i * kPart)));
        EXPECT_TRUE(IsOk(aclrtFreePhysical(parts[i])));
    }
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(range)));
}

TEST_F(MemoryTest, MallocMemMakesMemoryOfBothKinds) {
    void* memory = nullptr;
    EXPECT_TRUE(IsError(kInvalid, AdxlEngine::MallocMem(adxl::MEM_DEVICE, 0, &memory), {"size"}));
    EXPECT_TRUE(IsError(kInvalid, AdxlEngine::MallocMem(adxl::MEM_DEVICE, 8, nullptr), {"ptr"}));
    EXPECT_TRUE(IsError(kInvalid, AdxlEngine::MallocMem(static_cast<adxl::MemType>(2), 8, &memory),
                        {"type"}));
    EXPECT_TRUE(IsError(kFailed, AdxlEngine::MallocMem(adxl::MEM_DEVICE, size_t{1} << 60, &memory),
                        {"aclrtMallocPhysical"}));
    EXPECT_TRUE(IsError(kInvalid, AdxlEngine::FreeMem(&memory), {"expected memory of MallocMem"}));
    for (const auto type : {adxl::MEM_DEVICE, adxl::MEM_HOST}) {
        ASSERT_TRUE(IsOk(AdxlEngine::MallocMem(type, 5000, &memory)));
        EXPECT_TRUE(IsOk(Register(memory, 5000, type)));
        EXPECT_TRUE(IsOk(engine_.DeregisterMem(handle_)));
        EXPECT_TRUE(IsOk(AdxlEngine::FreeMem(memory)));
        EXPECT_TRUE(IsCode(kInvalid, AdxlEngine::FreeMem(memory)));
    }
}

// The bytes of a block that another process has imported are those of this one.
TEST_F(MemoryTest, ABlockIsExportedToAnotherProcess) {
    void* memory = nullptr;
    aclrtMemFabricHandle handle{};
    ASSERT_TRUE(IsOk(AdxlEngine::MallocMem(adxl::MEM_HOST, 8, &memory)));
    EXPECT_TRUE(IsError(kInvalid, AdxlEngine::ExportToShareableHandle(memory, handle), {"ptr"}));
    ASSERT_TRUE(IsOk(AdxlEngine::FreeMem(memory)));
    ASSERT_TRUE(IsOk(AdxlEngine::MallocMem(adxl::MEM_DEVICE, 8, &memory)));
    ASSERT_TRUE(IsOk(aclrtMemset(memory, 8, 0x5A, 8)));
    ASSERT_TRUE(IsOk(AdxlEngine::ExportToShareableHandle(memory, handle)));
    ChildProcess other;
    Words words;
    std::memcpy(words.text, &handle, sizeof(handle));
    const Words read = other.Run(
        [](Words* w) {
            aclrtMemFabricHandle given{};
            std::memcpy(&given, w->text, sizeof(given));
            aclrtDrvMemHandle physical = nullptr;
            void* range = nullptr;
            uint64_t bytes = 0;
            Keep(w, aclInit(nullptr));
            Keep(w, aclrtSetDevice(0));
            Keep(w, aclrtMemImportFromShareableHandleV2(&given, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0,
                                                        &physical));
            Keep(w, aclrtReserveMemAddress(&range, 2 << 20, 0, nullptr, 1));
            Keep(w, aclrtMapMem(range, 2 << 20, 0, physical, 0));
            Keep(w, aclrtMemcpy(&bytes, 8, range, 8, ACL_MEMCPY_DEVICE_TO_HOST));
            w->at[0] = bytes;
            Keep(w, aclrtUnmapMem(range));
            Keep(w, aclrtReleaseMemAddress(range));
            Keep(w, aclrtFreePhysical(physical));
            Keep(w, aclrtResetDevice(0));
            Keep(w, aclFinalize());
        },
        words);
    EXPECT_EQ(read.code, 0) << read.text;
    EXPECT_EQ(read.at[0], 0x5A5A5A5A5A5A5A5A);
    EXPECT_TRUE(IsOk(AdxlEngine::FreeMem(memory)));
}

}  // namespace
}  // namespace transfer
