// SPDX-License-Identifier: Apache-2.0
// Replays of work with memory that mapped memory has replaced, and with memory mapped again.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "acl/acl.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using conformance::kUnit;
using namespace support;

constexpr size_t kFilled = 4096;

class ReplayMappingTest : public conformance::VirtualMemoryFixture {
 protected:
    using Model = support::Owned<&aclmdlRIDestroy>;

    void SetUp() override {
        VirtualMemoryFixture::SetUp();
        stream_ = support::MakeStream();
    }
    void TearDown() override { stream_ = Stream(); }

    Model CaptureFill(void* address, char value) {
        aclmdlRI model = nullptr;
        EXPECT_TRUE(
            IsOk(aclmdlRICaptureBegin(stream_.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
        EXPECT_TRUE(IsOk(aclrtMemsetAsync(address, kFilled, value, kFilled, stream_.Get())));
        EXPECT_TRUE(IsOk(aclmdlRICaptureEnd(stream_.Get(), &model)));
        return Model(model);
    }
    aclError Replay(const Model& model) {
        const aclError status = aclmdlRIExecuteAsync(model.Get(), stream_.Get());
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream_.Get())));
        return status;
    }
    void ExpectRefused(const Model& model) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_PARAM_INVALID, Replay(model), {"aclmdlRIExecuteAsync: devPtr"}));
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecute(model.Get(), -1), {"devPtr"}));
    }
    void ExpectUses(const Model& model, void* address) {
        EXPECT_EQ(ByteAt(address), 'm');
        EXPECT_TRUE(IsOk(Replay(model)));
        EXPECT_EQ(ByteAt(address), 'f');
    }
    static char ByteAt(const void* address) {
        char value = 0;
        EXPECT_TRUE(IsOk(aclrtMemcpy(&value, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST)));
        return value;
    }

    // Memory of 'm' that is mapped at a free address.
    struct MappedAt {
        Range range;
        PhysicalHandle memory = Physical(kUnit);
        support::Owned<&aclrtUnmapMem> mapping;  // goes first

        explicit MappedAt(void* wanted) {
            void* got = nullptr;
            EXPECT_TRUE(IsOk(aclrtReserveMemAddress(&got, kUnit, 0, wanted, 0)));
            range = Range(got);
            Map();
        }
        void Map() {
            EXPECT_TRUE(IsOk(aclrtMapMem(range.Get(), kUnit, 0, memory.Get(), 0)));
            mapping = support::Owned<&aclrtUnmapMem>(range.Get());
            EXPECT_TRUE(IsOk(aclrtMemset(range.Get(), kUnit, 'm', kUnit)));
        }
        void Unmap() { EXPECT_TRUE(IsOk(aclrtUnmapMem(mapping.Release()))); }
    };

    static void* FreeAddress() { return Reserve(kUnit).Get(); }
    // Registered memory of the program.
    static void* OwnMemory(void* wanted) {
        void* const own = mmap(wanted, kUnit, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        EXPECT_EQ(own, wanted);
        void* device = nullptr;
        EXPECT_TRUE(IsOk(aclrtHostRegister(own, kUnit, ACL_HOST_REGISTER_MAPPED, &device)));
        *static_cast<char*>(own) = 'm';
        return own;
    }
    static void Forget(void* own) {
        EXPECT_TRUE(IsOk(aclrtHostUnregister(own)));
        EXPECT_EQ(munmap(own, kUnit), 0);
    }

    Stream stream_;
};

TEST_F(ReplayMappingTest, AMappingTakesThePlaceOfAnImport) {
    const DeviceBuffer block(kUnit);
    char key[65] = {};
    ASSERT_TRUE(IsOk(aclrtIpcMemGetExportKey(block.Get(), 1, key, sizeof(key), 1)));
    void* imported = nullptr;
    ASSERT_TRUE(IsOk(aclrtIpcMemImportByKey(&imported, key, 0)));
    const Model model = CaptureFill(imported, 'f');
    EXPECT_TRUE(IsOk(Replay(model)));
    EXPECT_EQ(*block.At(0), 'f');
    ASSERT_TRUE(IsOk(aclrtIpcMemClose(key)));
    ExpectRefused(model);
    const MappedAt mapped(imported);
    ExpectUses(model, imported);
}

TEST_F(ReplayMappingTest, AMappingTakesThePlaceOfARegistration) {
    void* const own = OwnMemory(FreeAddress());
    const Model model = CaptureFill(own, 'f');
    EXPECT_TRUE(IsOk(Replay(model)));
    Forget(own);
    ExpectRefused(model);
    const MappedAt mapped(own);
    ExpectUses(model, own);
}

TEST_F(ReplayMappingTest, AMappingMayBeMadeAgain) {
    MappedAt mapped(nullptr);
    const Model model = CaptureFill(mapped.range.Get(), 'f');
    EXPECT_TRUE(IsOk(Replay(model)));
    EXPECT_EQ(ByteAt(mapped.range.Get()), 'f');
    mapped.Unmap();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Replay(model), {"devPtr"}));
    mapped.memory = Physical(kUnit);
    mapped.Map();
    EXPECT_TRUE(IsOk(Replay(model)));
    EXPECT_EQ(ByteAt(mapped.range.Get()), 'f');
}

TEST_F(ReplayMappingTest, ARegistrationTakesThePlaceOfAMapping) {
    void* at = nullptr;
    Model model;
    {
        const MappedAt mapped(nullptr);
        at = mapped.range.Get();
        model = CaptureFill(at, 'f');
    }
    ExpectRefused(model);
    void* const own = OwnMemory(at);
    ExpectUses(model, own);
    Forget(own);
}

}  // namespace
