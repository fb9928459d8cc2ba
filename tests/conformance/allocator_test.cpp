// SPDX-License-Identifier: Apache-2.0
// Allocators of a program: descriptions, and registrations by stream.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "acl/acl_rt_allocator.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace allocators {
namespace {

using namespace support;

constexpr aclError kInvalid = ACL_ERROR_RT_PARAM_INVALID;

aclrtAllocatorBlock Alloc(aclrtAllocator, size_t) { return nullptr; }
void Free(aclrtAllocator, aclrtAllocatorBlock) {}
aclrtAllocatorBlock Advise(aclrtAllocator, size_t, aclrtAllocatorAddr) { return nullptr; }
aclrtAllocatorAddr GetAddr(aclrtAllocatorBlock block) { return block; }

struct Found {
    aclrtAllocatorDesc desc = nullptr;
    aclrtAllocator object = nullptr;
    aclrtAllocatorAllocFunc alloc = nullptr;
    aclrtAllocatorFreeFunc free = nullptr;
    aclrtAllocatorAllocAdviseFunc advise = nullptr;
    aclrtAllocatorGetAddrFromBlockFunc getAddr = nullptr;

    aclError Of(aclrtStream stream) {
        return aclrtAllocatorGetByStream(stream, &desc, &object, &alloc, &free, &advise, &getAddr);
    }
};

class AllocatorTest : public support::DeviceTest {
 protected:
    aclrtAllocatorDesc Make(aclrtAllocator object) {
        const aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
        EXPECT_TRUE(IsOk(aclrtAllocatorSetObjToDesc(desc, object)));
        EXPECT_TRUE(IsOk(aclrtAllocatorSetAllocFuncToDesc(desc, &Alloc)));
        EXPECT_TRUE(IsOk(aclrtAllocatorSetFreeFuncToDesc(desc, &Free)));
        EXPECT_TRUE(IsOk(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, &GetAddr)));
        return desc;
    }
    int object_ = 0;
};

TEST_F(AllocatorTest, RegistrationKeepsWhatTheDescriptionHadThen) {
    const Stream stream = MakeStream();
    const aclrtAllocatorDesc desc = Make(&object_);
    ASSERT_TRUE(IsOk(aclrtAllocatorRegister(stream.Get(), desc)));
    EXPECT_TRUE(IsOk(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, &Advise)));
    Found found;
    ASSERT_TRUE(IsOk(found.Of(stream.Get())));
    EXPECT_EQ(found.desc, desc);
    EXPECT_EQ(found.object, &object_);
    EXPECT_EQ(found.alloc, &Alloc);
    EXPECT_EQ(found.free, &Free);
    EXPECT_EQ(found.advise, nullptr);
    EXPECT_EQ(found.getAddr, &GetAddr);
    ASSERT_TRUE(IsOk(aclrtAllocatorRegister(stream.Get(), desc))) << "in place of the first";
    EXPECT_TRUE(IsOk(aclrtAllocatorDestroyDesc(desc)));
    ASSERT_TRUE(IsOk(found.Of(stream.Get())));
    EXPECT_EQ(found.advise, &Advise);
    EXPECT_TRUE(IsOk(aclrtAllocatorUnregister(stream.Get())));
    EXPECT_TRUE(IsError(kInvalid, found.Of(stream.Get()), {"aclrtAllocatorGetByStream: stream"}));
    EXPECT_TRUE(IsError(kInvalid, aclrtAllocatorUnregister(stream.Get()),
                        {"aclrtAllocatorUnregister: stream"}));
}

TEST_F(AllocatorTest, EachStreamHasItsOwn) {
    const aclrtAllocatorDesc desc = Make(&object_);
    Found found;
    {
        const Stream stream = MakeStream();
        ASSERT_TRUE(IsOk(aclrtAllocatorRegister(stream.Get(), desc)));
        EXPECT_TRUE(IsError(kInvalid, found.Of(nullptr)));
    }
    const Stream later = MakeStream();  // it may be the same object
    EXPECT_TRUE(IsError(kInvalid, found.Of(later.Get()))) << "it ended with its stream";
    EXPECT_TRUE(IsOk(aclrtAllocatorRegister(nullptr, desc))) << "the default stream";
    EXPECT_TRUE(IsOk(found.Of(nullptr)));
    EXPECT_TRUE(IsOk(aclrtAllocatorDestroyDesc(desc)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, found.Of(&object_)));
}

TEST_F(AllocatorTest, AnIncompleteDescriptionIsRefused) {
    const aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    const auto refused = [&](const char* missing) {
        EXPECT_TRUE(IsError(kInvalid, aclrtAllocatorRegister(nullptr, desc),
                            {"aclrtAllocatorRegister: allocatorDesc", missing}));
    };
    refused("aclrtAllocatorSetObjToDesc");
    EXPECT_TRUE(IsOk(aclrtAllocatorSetObjToDesc(desc, &object_)));
    refused("aclrtAllocatorSetAllocFuncToDesc");
    EXPECT_TRUE(IsOk(aclrtAllocatorSetAllocFuncToDesc(desc, &Alloc)));
    refused("aclrtAllocatorSetFreeFuncToDesc");
    EXPECT_TRUE(IsOk(aclrtAllocatorSetFreeFuncToDesc(desc, &Free)));
    refused("aclrtAllocatorSetGetAddrFromBlockFuncToDesc");
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetObjToDesc(desc, nullptr),
                        {"aclrtAllocatorSetObjToDesc: allocator is null"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetFreeFuncToDesc(desc, nullptr),
                        {"func is null"}));
    EXPECT_TRUE(IsOk(aclrtAllocatorDestroyDesc(desc)));
}

TEST_F(AllocatorTest, WhatIsNoDescriptionIsRefused) {
    const aclrtAllocatorDesc dead = Make(&object_);
    EXPECT_TRUE(IsOk(aclrtAllocatorDestroyDesc(dead)));
    for (void* const wrong : {dead, static_cast<void*>(&object_)}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtAllocatorDestroyDesc(wrong),
                            {"aclrtAllocatorDestroyDesc: allocatorDesc"}));
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtAllocatorSetAllocFuncToDesc(wrong, &Alloc)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtAllocatorRegister(nullptr, wrong)));
    }
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtAllocatorDestroyDesc(nullptr), {"allocatorDesc"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(nullptr, nullptr),
                        {"allocatorDesc"}));
    Found found;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtAllocatorGetByStream(nullptr, &found.desc, &found.object, nullptr,
                                                  &found.free, &found.advise, &found.getAddr),
                        {"allocFunc"}));
}

TEST_F(AllocatorTest, TheEndOfTheRuntimeForgetsThem) {
    const aclrtAllocatorDesc desc = Make(&object_);
    ASSERT_TRUE(IsOk(aclrtAllocatorRegister(nullptr, desc)));
    Restart({});
    Found found;
    EXPECT_TRUE(IsError(kInvalid, found.Of(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtAllocatorDestroyDesc(desc)));
}

}  // namespace
}  // namespace allocators
