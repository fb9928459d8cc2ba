// Batches of copies, synchronous and in stream order.
#include <gtest/gtest.h>

#include <cstdint>

#include "acl/acl.h"
#include "conformance/copy_form.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using conformance::Form;
using support::DeviceBuffer;
using support::HostGate;
using support::IsError;
using support::IsOk;
using support::PinnedArray;
using support::Stream;

constexpr size_t kUntouched = 7777;
constexpr aclrtMemLocation kHost{0, ACL_MEM_LOCATION_TYPE_HOST};
constexpr aclrtMemLocation kDevice0{0, ACL_MEM_LOCATION_TYPE_DEVICE};
constexpr aclrtMemLocation kDevice1{1, ACL_MEM_LOCATION_TYPE_DEVICE};

// The arguments of a batch call.
struct Batch {
    std::vector<void*> dsts, srcs;
    std::vector<size_t> destMaxs, sizes;
    std::vector<aclrtMemcpyBatchAttr> attrs;
    std::vector<size_t> attrsIndexes;
    size_t failIndex = kUntouched;

    void Govern(aclrtMemLocation dst, aclrtMemLocation src) {
        aclrtMemcpyBatchAttr attr{};
        attr.dstLoc = dst;
        attr.srcLoc = src;
        attrs.push_back(attr);
        attrsIndexes.push_back(dsts.size());
    }
    void Add(void* dst, const void* src, size_t size) {
        dsts.push_back(dst);
        srcs.push_back(const_cast<void*>(src));
        destMaxs.push_back(size);
        sizes.push_back(size);
    }
    aclError Now() {
        return aclrtMemcpyBatch(dsts.data(), destMaxs.data(), srcs.data(), sizes.data(),
                                dsts.size(), attrs.data(), attrsIndexes.data(), attrs.size(),
                                &failIndex);
    }
    aclError InStream(aclrtStream stream) {
        return aclrtMemcpyBatchAsync(dsts.data(), destMaxs.data(), srcs.data(), sizes.data(),
                                     dsts.size(), attrs.data(), attrsIndexes.data(), attrs.size(),
                                     &failIndex, stream);
    }
};

class CopyBatchTest : public support::DeviceTest, public testing::WithParamInterface<Form> {
 protected:
    static bool Now() { return GetParam() == Form::kNow; }
    static std::string Name() { return Now() ? "aclrtMemcpyBatch: " : "aclrtMemcpyBatchAsync: "; }
    static aclError Copy(Batch& batch) { return Now() ? batch.Now() : batch.InStream(nullptr); }

    // Two good copies to the device, and what they would write to.
    struct Good {
        PinnedArray<char> host{200, 'h'};
        DeviceBuffer device{std::vector<char>(200, 'd')};
        Batch batch;

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
    Batch batch;
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
    Batch batch;
    batch.Govern(kDevice1, kDevice0);
    batch.Add(second.Get(), first.Get(), 64);
    ASSERT_TRUE(IsOk(Copy(batch)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(second.Download<char>(), std::vector<char>(64, 'a'));
}

TEST_P(CopyBatchTest, UnregisteredMeansHost) {
    std::vector<char> host(64, 'h');
    const DeviceBuffer device(64);
    Batch batch;
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
    Batch none;
    EXPECT_TRUE(IsOk(Copy(none)));
    EXPECT_EQ(none.failIndex, kUntouched);
}

TEST_P(CopyBatchTest, RefusesNullArrays) {
    Good good;
    Batch& b = good.batch;
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

class CopyBatchOrderTest : public support::DeviceTest {};

TEST_F(CopyBatchOrderTest, HostToHost) {
    std::vector<char> from(64, 'f'), to(64, 't');
    Batch batch;
    batch.Govern(kHost, kHost);
    batch.Add(to.data(), from.data(), 64);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, batch.InStream(nullptr),
                        {"aclrtMemcpyBatchAsync: ", "batch 0", "kind"}));
    EXPECT_EQ(batch.failIndex, 0U);
    EXPECT_EQ(to, std::vector<char>(64, 't'));
    EXPECT_TRUE(IsOk(batch.Now()));
    EXPECT_EQ(to, from);
}

TEST_F(CopyBatchOrderTest, PinnedIsAsynchronousAndTheArraysMayGo) {
    const PinnedArray<char> pinned(64, 'p');
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    const Stream stream = support::MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    {
        Batch batch;
        batch.Govern(kDevice0, kHost);
        for (size_t i = 0; i < 64; ++i) {
            batch.Add(device.At(i), pinned.Get() + i, 1);
        }
        ASSERT_TRUE(IsOk(batch.InStream(stream.Get())));
    }
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'p'));
}

TEST_F(CopyBatchOrderTest, OnePageableSideMakesItWait) {
    const PinnedArray<char> pinned(64, 'p');
    std::vector<char> host(64, 'h');
    const DeviceBuffer device(std::vector<char>(128, 'd'));
    Batch batch;
    batch.Govern(kDevice0, kHost);
    batch.Add(device.Get(), pinned.Get(), 64);
    batch.Add(device.At(64), host.data(), 64);
    const support::Recorder recorder;
    ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 1)));
    ASSERT_TRUE(IsOk(batch.InStream(nullptr)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1}) << "in stream order";
    std::vector<char> expected(64, 'p');
    expected.insert(expected.end(), 64, 'h');
    EXPECT_EQ(device.Download<char>(), expected);
    aclError inside = ACL_SUCCESS;
    ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [&] { inside = batch.InStream(nullptr); })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(inside, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(batch.failIndex, SIZE_MAX);
}

TEST_F(CopyBatchOrderTest, ManyCopiesAreOneTask) {
    constexpr size_t kCount = 100000;
    const PinnedArray<char> pinned(kCount, 'p');
    const DeviceBuffer device(std::vector<char>(kCount, 'd'));
    Batch batch;
    batch.Govern(kDevice0, kHost);
    for (size_t i = 0; i < kCount; ++i) {
        batch.Add(device.At(kCount - 1 - i), pinned.Get() + i, 1);
    }
    ASSERT_TRUE(IsOk(batch.InStream(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(kCount, 'p'));
}

TEST_F(CopyBatchOrderTest, StreamAndContextErrorsAreOfNoBatch) {
    std::vector<char> host(64);
    const DeviceBuffer device(64);
    Batch batch;
    batch.Govern(kDevice0, kHost);
    batch.Add(device.Get(), host.data(), 64);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, batch.InStream(&batch), {"stream"}));
    EXPECT_EQ(batch.failIndex, SIZE_MAX);
}

}  // namespace
