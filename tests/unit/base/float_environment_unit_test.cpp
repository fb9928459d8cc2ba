// SPDX-License-Identifier: Apache-2.0
// Tests of DefaultFloatEnvironment: the environment inside the scope, and after it.

#include "src/base/float_environment.h"

#include <gtest/gtest.h>

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace advstep {
namespace {

// Restores the environment of the test's thread, of which each test begins with the default.
class FloatEnvironmentUnitTest : public testing::Test {
 protected:
    FloatEnvironmentUnitTest() {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~FloatEnvironmentUnitTest() override { std::fesetenv(&before_); }

    static void ExpectDefault() {
        EXPECT_EQ(std::fegetround(), FE_TONEAREST);
        EXPECT_EQ(fegetexcept(), 0);
        EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
    }

    template <class Float>
    static void Divide(Float by) {
        const volatile Float one = 1;
        volatile Float result = one / by;
        (void)result;
    }

 private:
    std::fenv_t before_;
};

TEST_F(FloatEnvironmentUnitTest, TheDefaultStays) {
    {
        const DefaultFloatEnvironment scope;
        ExpectDefault();
    }
    ExpectDefault();
}

TEST_F(FloatEnvironmentUnitTest, RoundingIsToNearestInsideAndRestoredAfterwards) {
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        {
            const DefaultFloatEnvironment scope;
            ExpectDefault();
        }
        EXPECT_EQ(std::fegetround(), mode);
        EXPECT_FALSE(DefaultFloatEnvironment::IsSet());
    }
}

TEST_F(FloatEnvironmentUnitTest, NothingTrapsInside) {
    if (feenableexcept(FE_ALL_EXCEPT) == -1) {
        GTEST_SKIP() << "this processor has no traps";
    }
    const int traps = fegetexcept();
    {
        const DefaultFloatEnvironment scope;
        Divide(0.0F);
        Divide(0.0L);
        Divide(3.0L);
    }
    EXPECT_EQ(fegetexcept(), traps);
    EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
}

TEST_F(FloatEnvironmentUnitTest, FlagsOfTheScopeAreDroppedAndEarlierOnesKept) {
    for (const double by : {1.0, 3.0}) {
        Divide(by);
        const int before = std::fetestexcept(FE_ALL_EXCEPT);
        EXPECT_EQ(before, by == 1 ? 0 : FE_INEXACT);
        {
            const DefaultFloatEnvironment scope;
            EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
            Divide(0.0F);
            Divide(0.0);
            EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
        }
        EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), before);
    }
}

TEST_F(FloatEnvironmentUnitTest, AChangeInsideEndsWithTheScope) {
    for (const int mode : {FE_TONEAREST, FE_UPWARD}) {
        std::fesetround(mode);
        {
            const DefaultFloatEnvironment scope;
            std::fesetround(FE_DOWNWARD);
            feenableexcept(FE_INVALID);
        }
        EXPECT_EQ(std::fegetround(), mode);
        EXPECT_EQ(fegetexcept(), 0);
    }
}

TEST_F(FloatEnvironmentUnitTest, SetIsForGood) {
    std::fesetround(FE_UPWARD);
    Divide(0.0L);
    DefaultFloatEnvironment::Set();
    ExpectDefault();
}

#if defined(__x86_64__)
TEST_F(FloatEnvironmentUnitTest, SubnormalNumbersAreKeptInside) {
    constexpr unsigned kFlushAndZero = _MM_FLUSH_ZERO_ON | 0x40;
    _mm_setcsr(_mm_getcsr() | kFlushAndZero);
    const unsigned before = _mm_getcsr();
    const volatile float tiny = 1e-40F;
    {
        const DefaultFloatEnvironment scope;
        volatile float sum = tiny + tiny;
        EXPECT_GT(sum, 0.0F);
    }
    EXPECT_EQ(_mm_getcsr(), before);
    EXPECT_FALSE(DefaultFloatEnvironment::IsSet());
}

// Each of the two units may differ from the default while the other one does not.
TEST_F(FloatEnvironmentUnitTest, FlagsAreNoOtherEnvironment) {
    EXPECT_TRUE(DefaultFloatEnvironment::IsSet());
    Divide(0.0F);
    EXPECT_TRUE(DefaultFloatEnvironment::IsSet());
}

TEST_F(FloatEnvironmentUnitTest, TheUnitForLongDoubleIsApart) {
    const uint16_t toDoubles = 0x027F;  // rounds long doubles to 53 bits
    asm volatile("fldcw %0" : : "m"(toDoubles));
    const volatile long double three = 3;
    {
        const DefaultFloatEnvironment scope;
        volatile long double third = 1 / three;
        EXPECT_NE(third, static_cast<long double>(static_cast<double>(third)));
    }
    EXPECT_EQ(x86::Control(), toDoubles);
    EXPECT_FALSE(DefaultFloatEnvironment::IsSet());
}
#endif

}  // namespace
}  // namespace advstep
