// SPDX-License-Identifier: Apache-2.0
// Tests of aclnnAdd: values against plain loops on many machines, and each way to launch it.
#include <cstring>
#include <random>
#include <type_traits>

#include "../aclnn_add.h"
#include "own_device.h"

namespace own {
namespace {

using Shape = std::vector<int64_t>;

// The element of a tensor that an index of out broadcasts to.
int64_t Source(const Shape& from, const Shape& out, int64_t element) {
    int64_t source = 0;
    int64_t step = 1;
    for (size_t back = 1; back <= out.size(); ++back) {
        const int64_t index = element % out[out.size() - back];
        element /= out[out.size() - back];
        if (back <= from.size()) {
            const int64_t dim = from[from.size() - back];
            source += dim == 1 ? 0 : index * step;
            step *= dim;
        }
    }
    return source;
}

template <typename T>
T Expected(T self, T other, T alpha) {
    if constexpr (std::is_floating_point_v<T>) {
        const volatile T product = alpha * other;  // rounded before the sum
        return self + product;
    } else {
        using Bits = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Bits>(self) +
                              static_cast<Bits>(alpha) * static_cast<Bits>(other));
    }
}

template <typename T>
std::vector<T> Values(int64_t count, std::mt19937_64* random) {
    std::vector<T> values(static_cast<size_t>(count));
    for (T& value : values) {
        if constexpr (std::is_floating_point_v<T>) {
            value = static_cast<T>(static_cast<int64_t>((*random)() % 20001) - 10000) / 37;
        } else {
            value = static_cast<T>((*random)());
        }
    }
    return values;
}

int RunAdd(aclTensor* self, aclTensor* other, aclScalar* alpha, aclTensor* out,
           aclrtStream stream = nullptr) {
    uint64_t workspaceSize = 1;
    aclOpExecutor* executor = nullptr;
    int code = aclnnAddGetWorkspaceSize(self, other, alpha, out, &workspaceSize, &executor);
    if (code == 0) {
        EXPECT_EQ(workspaceSize, 0u);
        code = aclnnAdd(nullptr, 0, executor, stream);
    }
    return code != 0 ? code : aclrtSynchronizeStream(stream);
}

template <typename T>
void ExpectSum(const Shape& selfShape, const Shape& otherShape, const Shape& outShape, T alpha) {
    std::mt19937_64 random(selfShape.size() * 31 + otherShape.size());
    const auto a = Values<T>(CountOf(selfShape), &random);
    const auto b = Values<T>(CountOf(otherShape), &random);
    const OwnTensor<T> self(selfShape, a);
    const OwnTensor<T> other(otherShape, b);
    const OwnTensor<T> out(outShape, std::vector<T>(static_cast<size_t>(CountOf(outShape))));
    const OwnScalar<T> scalar(alpha);
    ASSERT_EQ(RunAdd(self.get(), other.get(), scalar.get(), out.get()), 0) << Message();
    const std::vector<T> got = out.Values();
    for (size_t i = 0; i < got.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const T x = a[static_cast<size_t>(Source(selfShape, outShape, at))];
        const T y = b[static_cast<size_t>(Source(otherShape, outShape, at))];
        const T expected = Expected(x, y, alpha);
        ASSERT_EQ(std::memcmp(&got[i], &expected, sizeof(T)), 0)
            << "element " << i << " is " << got[i] << ", expected " << expected;
    }
}

template <typename T>
void ExpectSums() {
    ExpectSum<T>({5}, {5}, {5}, T{3});
    ExpectSum<T>({2, 3, 4}, {4}, {2, 3, 4}, T{-2});
    ExpectSum<T>({3, 1}, {1, 4}, {3, 4}, T{7});
    ExpectSum<T>({}, {2, 2}, {2, 2}, T{1});
    ExpectSum<T>({}, {}, {}, T{5});
    ExpectSum<T>({4, 1, 3}, {5, 1}, {4, 5, 3}, T{2});
    ExpectSum<T>({0, 3}, {1, 3}, {0, 3}, T{2});
    ExpectSum<T>({2, 1, 2, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 2, 1, 3}, {2, 2, 2, 2, 2, 2, 2, 3},
                 T{2});
    ExpectSum<T>({300, 200}, {200}, {300, 200}, T{3});
}

TEST(AddTest, AddsOnEveryMachine) {
    for (const Machine& machine : kMachines) {
        SCOPED_TRACE(std::string(machine.soc) + ", threads " + machine.threads);
        const OwnDevice device(machine);
        ExpectSums<float>();
        ExpectSums<int32_t>();
        ExpectSums<int64_t>();
    }
}

TEST(AddTest, TakesScalarsOfOtherTypes) {
    const OwnDevice device;
    const OwnTensor<float> self({2}, {1, 2});
    const OwnTensor<float> other({2}, {10, 20});
    const OwnTensor<float> out({2}, {0, 0});
    for (const auto& [bits, type] : {std::pair<uint64_t, aclDataType>{3, ACL_INT64},
                                     {3, ACL_UINT8},
                                     {0x4008000000000000, ACL_DOUBLE},
                                     {0x4200, ACL_FLOAT16},
                                     {0x4040, ACL_BF16}}) {
        uint64_t value = bits;
        aclScalar* const alpha = aclCreateScalar(&value, type);
        ASSERT_EQ(RunAdd(self.get(), other.get(), alpha, out.get()), 0) << Message();
        EXPECT_EQ(out.Values(), (std::vector<float>{31, 62})) << "type " << type;
        aclDestroyScalar(alpha);
    }
}

TEST(AddTest, OtherAlphasHaveOtherPlans) {
    const OwnDevice device;
    const OwnTensor<int32_t> self({2}, {1, 2});
    const OwnTensor<int32_t> other({2}, {10, 20});
    const OwnTensor<int32_t> out({2}, {0, 0});
    for (const int32_t alpha : {1, 2, 2, -1, 1}) {
        const OwnScalar<int32_t> scalar(alpha);
        ASSERT_EQ(RunAdd(self.get(), other.get(), scalar.get(), out.get()), 0) << Message();
        EXPECT_EQ(out.Values(), (std::vector<int32_t>{1 + 10 * alpha, 2 + 20 * alpha}));
    }
}

TEST(AddTest, RepeatsWithOtherAddresses) {
    const OwnDevice device;
    const OwnTensor<int64_t> self({2}, {1, 2});
    const OwnTensor<int64_t> other({2}, {10, 20});
    const OwnTensor<int64_t> more({2}, {100, 200});
    const OwnTensor<int64_t> out({2}, {0, 0});
    const OwnScalar<int64_t> alpha(1);
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnAddGetWorkspaceSize(self.get(), other.get(), alpha.get(), out.get(),
                                       &workspaceSize, &executor),
              0);
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
    ASSERT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(out.Values(), (std::vector<int64_t>{11, 22}));
    ASSERT_EQ(aclSetInputTensorAddr(executor, 1, more.get(), more.address()), 0);
    ASSERT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(out.Values(), (std::vector<int64_t>{101, 202}));
    ASSERT_EQ(aclDestroyAclOpExecutor(executor), 0);
}

TEST(AddTest, IsCapturedAndReplayed) {
    const OwnDevice device;
    OwnTensor<int32_t> self({2}, {1, 2});
    const OwnTensor<int32_t> other({2}, {10, 20});
    const OwnTensor<int32_t> out({2}, {0, 0});
    const OwnScalar<int32_t> alpha(2);
    aclrtStream stream = nullptr;
    aclmdlRI model = nullptr;
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    ASSERT_EQ(aclnnAddGetWorkspaceSize(self.get(), other.get(), alpha.get(), out.get(),
                                       &workspaceSize, &executor),
              0);
    ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    ASSERT_EQ(aclnnAdd(nullptr, 0, executor, stream), 0);
    ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0);
    EXPECT_EQ(out.Values(), (std::vector<int32_t>{0, 0}));
    for (const int32_t first : {1, 5}) {
        self.Upload({first, 2});
        ASSERT_EQ(aclmdlRIExecuteAsync(model, stream), 0);
        ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
        EXPECT_EQ(out.Values(), (std::vector<int32_t>{first + 20, 42}));
    }
    ASSERT_EQ(aclmdlRIDestroy(model), 0);
    ASSERT_EQ(aclrtDestroyStream(stream), 0);
}

TEST(AddTest, RefusesWrongCalls) {
    const OwnDevice device;
    const OwnTensor<float> self({2, 3}, std::vector<float>(6, 1));
    const OwnTensor<float> other({3}, {1, 2, 3});
    const OwnTensor<float> two({2}, {1, 2});
    const OwnTensor<int32_t> whole({3}, {1, 2, 3});
    const OwnTensor<double> wide({3}, {1, 2, 3});
    const OwnTensor<float> out({2, 3}, std::vector<float>(6, 9));
    const OwnScalar<float> alpha(1);
    const std::string call = "aclnnAddGetWorkspaceSize: ";
    const auto refuse = [&](int code, const std::string& message, aclTensor* a, aclTensor* b,
                            aclScalar* c, aclTensor* d) {
        EXPECT_EQ(RunAdd(a, b, c, d), code);
        EXPECT_EQ(Message(), call + message);
        EXPECT_EQ(out.Values(), std::vector<float>(6, 9));
    };
    refuse(ACLNN_ERR_PARAM_NULLPTR, "other is null; expected a tensor", self.get(), nullptr,
           alpha.get(), out.get());
    refuse(ACLNN_ERR_PARAM_NULLPTR, "alpha is null; expected a scalar", self.get(), other.get(),
           nullptr, out.get());
    float one = 1;
    aclScalar* const destroyed = aclCreateScalar(&one, ACL_FLOAT);
    EXPECT_EQ(aclDestroyScalar(destroyed), ACLNN_SUCCESS);
    refuse(ACLNN_ERR_PARAM_INVALID, "alpha has been destroyed; expected a scalar", self.get(),
           other.get(), destroyed, out.get());
    refuse(ACLNN_ERR_PARAM_INVALID,
           "other has dtype ACL_DOUBLE; expected ACL_FLOAT, ACL_INT32 or ACL_INT64", self.get(),
           wide.get(), alpha.get(), out.get());
    refuse(ACLNN_ERR_PARAM_INVALID, "other has dtype ACL_INT32; expected that of self, ACL_FLOAT",
           self.get(), whole.get(), alpha.get(), out.get());
    refuse(ACLNN_ERR_PARAM_INVALID, "alpha has dtype ACL_FLOAT; expected an integer", whole.get(),
           whole.get(), alpha.get(), whole.get());
    refuse(ACLNN_ERR_INNER_TILING_ERROR,
           "other has shape [2]; expected one that broadcasts with self = [2, 3]", self.get(),
           two.get(), alpha.get(), out.get());
    refuse(ACLNN_ERR_INNER_TILING_ERROR,
           "out has shape [2]; expected that of the broadcast self and other = [2, 3]", self.get(),
           other.get(), alpha.get(), two.get());
    EXPECT_EQ(RunAdd(out.get(), other.get(), alpha.get(), out.get()), ACLNN_ERR_PARAM_INVALID);
    EXPECT_NE(Message().find("overlaps"), std::string::npos);
}

}  // namespace
}  // namespace own
