// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of work, which is the default one on every thread, and that of the
// program's threads, which work leaves alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "advance_step/host_operator.h"
#include "conformance/kernel_fixture.h"
#include "support/own_table.h"
#include "support/table.h"
#include "support/tensor.h"

namespace conformance {
namespace {

constexpr int kTrapped = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;

// The status flags except those of calculations with long double, which work leaves alone.
int StatusFlags() {
#if defined(__x86_64__)
    return static_cast<int>(_mm_getcsr() & _MM_EXCEPT_MASK);
#else
    return std::fetestexcept(FE_ALL_EXCEPT);
#endif
}

// What work sees and computes.
struct Numbers {
    int rounding = -1;
    int traps = -1;
    int flags = -1;
    std::array<float, 5> floats{};
    std::array<double, 3> doubles{};
    double longFraction = 0;

    void Compute() {
        rounding = std::fegetround();
        traps = fegetexcept();
        flags = StatusFlags();
        const volatile float one = 1, three = 3, tiny = 1e-40F, large = 3e38F;
        floats = {one / three, -one / three, tiny + tiny, tiny * three, large * three};
        const volatile double infinity = std::numeric_limits<double>::infinity(), small = 1e-300;
        doubles = {1 / (three * double{7}), small * small, infinity - infinity};
        const volatile long double third = 1 / static_cast<long double>(three);
        longFraction = static_cast<double>(third * three * 1e18L - 1e18L);
    }
    bool operator==(const Numbers& other) const {
        return rounding == other.rounding && traps == other.traps && flags == other.flags &&
               std::memcmp(&floats, &other.floats, sizeof(floats)) == 0 &&
               std::memcmp(&doubles, &other.doubles, sizeof(doubles)) == 0 &&
               std::memcmp(&longFraction, &other.longFraction, sizeof(longFraction)) == 0;
    }
};

void ComputeAt(void* numbers) { static_cast<Numbers*>(numbers)->Compute(); }

struct FloatEnvironment {
    std::string name;
    void (*set)();
};

// The environment of the test's thread, until the end of the scope.
class EnvironmentOfTest {
 public:
    explicit EnvironmentOfTest(void (*set)()) {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
        set();
        rounding_ = std::fegetround();
        traps_ = fegetexcept();
        control_ = Control();
    }
    EnvironmentOfTest(const EnvironmentOfTest&) = delete;
    EnvironmentOfTest& operator=(const EnvironmentOfTest&) = delete;
    ~EnvironmentOfTest() { std::fesetenv(&before_); }

    // The program's own calls may round, but not the rest.
    void ExpectUnchanged() const {
        EXPECT_EQ(std::fetestexcept(kTrapped), 0);
        EXPECT_EQ(std::fegetround(), rounding_);
        EXPECT_EQ(fegetexcept(), traps_);
        EXPECT_EQ(Control(), control_);
    }

 private:
    static unsigned Control() {
#if defined(__x86_64__)
        return _mm_getcsr() & ~static_cast<unsigned>(_MM_EXCEPT_MASK);
#endif
        return 0;
    }
    std::fenv_t before_;
    int rounding_;
    int traps_;
    unsigned control_;
};

Numbers NumbersByDefault() {
    Numbers numbers;
    const EnvironmentOfTest environment([] {});
    numbers.Compute();
    return numbers;
}

struct Target {
    aclrtBinHandle kernels;
    aclrtStream stream;
    const DeviceBuffer* tensors;
};

// A kind of work that calls Numbers::Compute.
struct FloatWork {
    std::string name;
    aclError (*launch)(const Target& target, Numbers* numbers);
    aclError ended = ACL_SUCCESS;
    bool hasFlags = true;  // status flags of its own; a host function may have its thread's
};

aclError LaunchBlocks(const Target& target, uint32_t blocks, Numbers* numbers) {
    static std::vector<int64_t> entered;
    entered.assign(1, 0);
    const CallArguments arguments{
        entered.data(),
        [](void* all, uint32_t block) { static_cast<Numbers*>(all)[block].Compute(); }, numbers};
    return LaunchWith(FunctionOf(target.kernels, "calls_together"), blocks, arguments,
                      target.stream);
}

aclError LaunchOneBlock(const Target& target, Numbers* numbers) {
    return LaunchBlocks(target, 1, numbers);
}

void ComputeOwn(const advance_step::op::CoreContext& core, const void* payload) {
    if (core.index == 0) {
        ComputeAt(reinterpret_cast<void*>(static_cast<const support::OwnPayload*>(payload)->add));
    }
}

aclError LaunchOwnOperator(const Target& target, Numbers* numbers) {
    static const auto kProgram =
        advance_step::op::MakeKernelProgram(support::kOwnTable.call, nullptr, {&ComputeOwn});
    const support::Tensor in(support::TensorSpec{{4}, target.tensors->Get(), ACL_INT64}),
        out(support::TensorSpec{{4}, target.tensors->At(32), ACL_INT64});
    support::OwnCall call(in.Get(), nullptr, out.Get(), reinterpret_cast<int64_t>(numbers), 4);
    call.plan.program = &kProgram;
    EXPECT_TRUE(IsOk(call.Plan()));
    return call.Run(target.stream);
}

template <aclError (*kLaunch)(aclrtStream, const AdvStepHostOperator*)>
aclError LaunchHostOperator(const Target& target, Numbers* numbers) {
    AdvStepHostOperator operation{};
    operation.name = "compute";
    operation.args = numbers;
    operation.run = [](void* args, char*, size_t) -> int32_t {
        ComputeAt(args);
        return 0;
    };
    return kLaunch(target.stream, &operation);
}

aclError LaunchHostFunction(const Target& target, Numbers* numbers) {
    return aclrtLaunchHostFunc(target.stream, &ComputeAt, numbers);
}

Numbers* numbersOfCallback = nullptr;

aclError LaunchFailure(const Target& target, Numbers* numbers) {
    numbersOfCallback = numbers;
    EXPECT_TRUE(IsOk(
        aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) { ComputeAt(numbersOfCallback); })));
    return support::EnqueueFailure(target.stream);
}

class FloatEnvironmentTest : public KernelTest,
                             public testing::WithParamInterface<FloatEnvironment> {
 protected:
    // The library's threads start in this environment, too.
    void SetUp() override {
        environment_ = std::make_unique<EnvironmentOfTest>(GetParam().set);
        ASSERT_NO_FATAL_FAILURE(KernelTest::SetUp());
        ASSERT_NO_FATAL_FAILURE(RestartWith({{"ADVANCE_STEP_THREADS", "4"}}));
    }

    std::unique_ptr<EnvironmentOfTest> environment_;
    const Numbers expected_ = NumbersByDefault();
};

constexpr int kFloatRounds = 20;

// In the first half of the rounds, the test's thread runs most of the work. In the second half it
// waits here until a thread of the library has run the work.
void LeaveToLibrary(int round, aclrtStream stream) {
    if (round >= kFloatRounds / 2) {
        ASSERT_TRUE(support::Eventually([&] {
            aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
            (void)aclrtStreamQuery(stream, &status);
            return status == ACL_STREAM_STATUS_COMPLETE;
        }));
    }
}

TEST_P(FloatEnvironmentTest, WorkHasTheDefaultOne) {
    const FloatWork works[] = {
        {"kernel", &LaunchOneBlock},
        {"own operator", &LaunchOwnOperator},
        {"host operator", &LaunchHostOperator<&advstepLaunchHostOperator>},
        {"short host operator", &LaunchHostOperator<&advstepLaunchShortHostOperator>},
        {"host function", &LaunchHostFunction, ACL_SUCCESS, false},
        {"exception callback", &LaunchFailure, ACL_ERROR_FAILURE},
    };
    const DeviceBuffer tensors(64);
    for (const FloatWork& work : works) {
        SCOPED_TRACE(work.name);
        for (int round = 0; round < kFloatRounds; ++round) {
            const Stream stream = MakeStream();
            Numbers numbers;
            ASSERT_TRUE(IsOk(work.launch({binary_, stream.Get(), &tensors}, &numbers)));
            ASSERT_NO_FATAL_FAILURE(LeaveToLibrary(round, stream.Get()));
            ASSERT_EQ(aclrtSynchronizeStream(stream.Get()), work.ended);
            if (!work.hasFlags) {
                numbers.flags = expected_.flags;
                std::feclearexcept(kTrapped);
            }
            ASSERT_EQ(numbers, expected_) << round;
            ASSERT_NO_FATAL_FAILURE(environment_->ExpectUnchanged());
        }
    }
    EXPECT_TRUE(IsOk(aclrtSetExceptionInfoCallback(nullptr)));
}

TEST_P(FloatEnvironmentTest, BlocksOfALaunchHaveTheDefaultOneOnAllThreads) {
    for (int round = 0; round < kFloatRounds; ++round) {
        std::vector<Numbers> numbers(4);
        ASSERT_TRUE(IsOk(LaunchBlocks({binary_, nullptr, nullptr}, 4, numbers.data())));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        for (const Numbers& ofBlock : numbers) {
            ASSERT_EQ(ofBlock, expected_) << round;
        }
        ASSERT_NO_FATAL_FAILURE(environment_->ExpectUnchanged());
    }
}

TEST_P(FloatEnvironmentTest, ReductionsHaveTheDefaultOne) {
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> a = {0.1F, -0.1F, 1e-40F, 3e38F, infinity};
    const std::vector<float> b = {0.7F, -0.7F, 1e-40F, 3e38F, -infinity};
    std::vector<float> sums;
    {
        const EnvironmentOfTest byDefault([] {});
        for (size_t i = 0; i < a.size(); ++i) {
            const volatile float x = a[i], y = b[i];
            sums.push_back(x + y);
        }
    }
    for (int round = 0; round < kFloatRounds; ++round) {
        const DeviceBuffer dst(a);
        const DeviceBuffer src(b);
        ASSERT_TRUE(
            IsOk(aclrtReduceAsync(dst.Get(), src.Get(), src.Size(),
                                  ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, nullptr, nullptr)));
        ASSERT_NO_FATAL_FAILURE(LeaveToLibrary(round, nullptr));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        const std::vector<float> got = dst.Download<float>();
        ASSERT_TRUE(std::isnan(got.back()));
        ASSERT_TRUE(std::equal(sums.begin(), sums.end() - 1, got.begin())) << round;
        ASSERT_NO_FATAL_FAILURE(environment_->ExpectUnchanged());
    }
}

void FlushSubnormals() {
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | _MM_FLUSH_ZERO_ON | 0x40);  // and reads them as zero
#endif
}

INSTANTIATE_TEST_SUITE_P(
    Table, FloatEnvironmentTest,
    testing::Values(FloatEnvironment{"Default", [] {}},
                    FloatEnvironment{"Upward", [] { std::fesetround(FE_UPWARD); }},
                    FloatEnvironment{"ToZero", [] { std::fesetround(FE_TOWARDZERO); }},
                    FloatEnvironment{"Flushing", &FlushSubnormals},
                    FloatEnvironment{"Trapping", [] { feenableexcept(kTrapped); }}),
    support::CaseName());

}  // namespace
}  // namespace conformance
