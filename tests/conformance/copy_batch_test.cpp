// SPDX-License-Identifier: Apache-2.0
// Batches of copies: what they copy, and every code.
#include <gtest/gtest.h>

#include <cstdint>

#include "acl/acl.h"
#include "conformance/copy_batch.h"
#include "conformance/copy_form.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using conformance::CopyBatch;
using conformance::Form;
using conformance::kDevice0;
using conformance::kDevice1;
using conformance::kHost;
using conformance::kUntouched;
using namespace support;

class CopyBatchTest : public support::DeviceTest, public testing::WithParamInterface<Form> {
 protected:
    static bool Now() { return GetParam() == Form::kNow; }
    static std::string Name() { return Now() ? "aclrtMemcpyBatch: " : "aclrtMemcpyBatchAsync: "; }
    static aclError Copy(CopyBatch& batch) { return Now() ? batch.Now() : batch.InStream(nullptr); }

    // Two good copies to the device, and what they would write to.
    struct Good {
        PinnedArray<char> host{200, 'h'};
        DeviceBuffer device{std::vector<char>(200, 'd')};
        CopyBatch batch;

        Good() {
            batch.Govern(kDevice0, kHost);
            batch.Add(device.Get(), host.Get(), 50);
            batch.Add(device.At(100), host.Get(), 50);
        }
        void ExpectRefused(int code, size_t failIndex, std::initializer_list<std::string> words) {
            EXPECT_TRUE(IsError(code, Copy(batch), words));
            EXPECT_EQ(batch.failIndex, failIndex);
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
            EXPECT_EQ(device.Download<char>(), std::vector<char>(200, 'd')) << "in part";
        }
    };
};

TEST_P(CopyBatchTest, EveryDirectionInOneBatch) {
    std::vector<char> up(40, 'u'), down(30, '-');
    const DeviceBuffer first(std::vector<char>(100, 'a'));
    const DeviceBuffer second(std::vector<char>(100, 'b'));
    CopyBatch batch;
    batch.Govern(kDevice0, kHost);
    batch.Add(first.Get(), up.data(), 10);
    batch.Add(first.At(20), up.data() + 10, 30);
    batch.Govern(kDevice0, kDevice0);
    batch.Add(second.Get(), first.Get(), 30);
    batch.Govern(kHost, kDevice0);
    batch.Add(down.data(), second.Get(), 30);
    ASSERT_TRUE(IsOk(Copy(batch)));
    EXPECT_EQ(batch.failIndex, kUntouched);
    std::vector<char> expected(30, 'u');
    std::fill(expected.begin() + 10, expected.begin() + 20, 'a');
    EXPECT_EQ(down, expected) << "copied one after another";
}

TEST_P(CopyBatchTest, BetweenDevices) {
    const DeviceBuffer first(std::vector<char>(64, 'a'));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const DeviceBuffer second(std::vector<char>(64, 'b'));
    CopyBatch batch;
    batch.Govern(kDevice1, kDevice0);
    batch.Add(second.Get(), first.Get(), 64);
    ASSERT_TRUE(IsOk(Copy(batch)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(second.Download<char>(), std::vector<char>(64, 'a'));
}

TEST_P(CopyBatchTest, UnregisteredMeansHost) {
    std::vector<char> host(64, 'h');
    const DeviceBuffer device(64);
    CopyBatch batch;
    batch.Govern(kDevice0, {0, ACL_MEM_LOCATION_TYPE_UNREGISTERED});
    batch.Add(device.Get(), host.data(), 64);
    ASSERT_TRUE(IsOk(Copy(batch)));
    EXPECT_EQ(device.Download<char>(), host);
}

TEST_P(CopyBatchTest, SizeZeroAndNoBatchesSucceed) {
    Good good;
    good.batch.sizes = {0, 0};
    good.batch.destMaxs = {0, 9};
    EXPECT_TRUE(IsOk(Copy(good.batch)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(good.device.Download<char>(), std::vector<char>(200, 'd'));
    CopyBatch none;
    EXPECT_TRUE(IsOk(Copy(none)));
    EXPECT_EQ(none.failIndex, kUntouched);
}

TEST_P(CopyBatchTest, RefusesNullArrays) {
    Good good;
    CopyBatch& b = good.batch;
    const auto call = [&](int missing) {
        auto pass = [&, index = 0](auto* array) mutable {
            return index++ == missing ? nullptr : array;
        };
        auto* const dsts = pass(b.dsts.data());
        auto* const destMaxs = pass(b.destMaxs.data());
        auto* const srcs = pass(b.srcs.data());
        auto* const sizes = pass(b.sizes.data());
        auto* const attrs = pass(b.attrs.data());
        auto* const indexes = pass(b.attrsIndexes.data());
        auto* const failIndex = pass(&b.failIndex);
        return Now()
                   ? aclrtMemcpyBatch(dsts, destMaxs, srcs, sizes, 2, attrs, indexes, 1, failIndex)
                   : aclrtMemcpyBatchAsync(dsts, destMaxs, srcs, sizes, 2, attrs, indexes, 1,
                                           failIndex, nullptr);
    };
    const char* const names[] = {"dsts",  "destMaxs",     "srcs",     "sizes",
                                 "attrs", "attrsIndexes", "failIndex"};
    for (int missing = 0; missing < 7; ++missing) {
        b.failIndex = kUntouched;
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, call(missing), {Name(), names[missing]}));
        EXPECT_EQ(b.failIndex, missing == 6 ? kUntouched : SIZE_MAX) << names[missing];
    }
}

TEST_P(CopyBatchTest, RefusesANullSide) {
    Good first, second;
    first.batch.dsts[1] = nullptr;
    first.ExpectRefused(ACL_ERROR_INVALID_PARAM, 1, {Name(), "batch 1", "dst"});
    second.batch.srcs[0] = nullptr;
    second.ExpectRefused(ACL_ERROR_INVALID_PARAM, 0, {Name(), "batch 0", "src"});
}

TEST_P(CopyBatchTest, RefusesMoreThanTheDestinationTakes) {
    Good good;
    good.batch.destMaxs[1] = 49;
    good.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, 1, {Name(), "batch 1", "destMax"});
}

TEST_P(CopyBatchTest, RefusesRangesOutsideTheirAllocation) {
    Good first;
    first.batch.dsts[1] = first.device.At(151);
    first.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, 1, {Name(), "batch 1", "50", "49", "dst"});
    Good second;
    second.batch.srcs[1] = second.host.Get() + 151;
    second.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, 1, {Name(), "batch 1", "50", "49", "src"});
    Good third;
    std::vector<char> host(50);
    third.batch.dsts[1] = host.data();
    third.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, 1, {Name(), "batch 1", "dst"});
}

TEST_P(CopyBatchTest, RefusesMemoryOfAnotherDevice) {
    Good good;
    good.batch.attrs[0].dstLoc = kDevice1;
    good.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, 0, {Name(), "batch 0", "dst", "device 0"});
    Good source;
    source.batch.Govern(kDevice0, kDevice1);
    source.batch.Add(source.device.Get(), source.device.At(50), 10);
    source.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, 2, {Name(), "batch 2", "src"});
}

TEST_P(CopyBatchTest, RefusesLocationsOfOtherTypes) {
    for (const int type : {ACL_MEM_LOCATION_TYPE_MANAGED, ACL_MEM_LOCATION_TYPE_HOST_NUMA}) {
        Good first, second;
        first.batch.attrs[0].dstLoc.type = static_cast<aclrtMemLocationType>(type);
        first.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, SIZE_MAX, {Name(), "attrs[0].dstLoc"});
        second.batch.attrs[0].srcLoc.type = static_cast<aclrtMemLocationType>(type);
        second.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, SIZE_MAX, {Name(), "attrs[0].srcLoc"});
    }
}

TEST_P(CopyBatchTest, RefusesNoAttributes) {
    Good good;
    good.batch.attrs.clear();  // the arrays stay where they are
    good.batch.attrsIndexes.clear();
    good.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, SIZE_MAX, {Name(), "numAttrs is 0"});
}

TEST_P(CopyBatchTest, AttributesGovernEveryBatchOnceInOrder) {
    const auto expectRefused = [](std::vector<size_t> indexes, const char* word) {
        Good good;
        good.batch.attrs.assign(indexes.size(), good.batch.attrs[0]);
        good.batch.attrsIndexes = std::move(indexes);
        good.ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, SIZE_MAX, {Name(), word});
    };
    expectRefused({1}, "attrsIndexes[0]");
    expectRefused({0, 0}, "attrsIndexes[1]");
    expectRefused({0, 2}, "attrsIndexes[1]");
    expectRefused({0, 1, 2}, "numAttrs");
}

INSTANTIATE_TEST_SUITE_P(Now, CopyBatchTest, testing::Values(Form::kNow));
INSTANTIATE_TEST_SUITE_P(InStream, CopyBatchTest, testing::Values(Form::kInStream));

}  // namespace
