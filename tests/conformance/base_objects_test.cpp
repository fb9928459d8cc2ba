// SPDX-License-Identifier: Apache-2.0
// Data buffers, tensor descriptions, half precision and the log of the program: objects without a
// device.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"

namespace {

using support::IsError;
using support::IsOk;

TEST(DataBufferTest, HasAnAddressAndASize) {
    char bytes[8] = "abcdefg";
    aclDataBuffer* const buffer = aclCreateDataBuffer(bytes, 5);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(aclGetDataBufferAddr(buffer), bytes);
    EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 5U);
    EXPECT_EQ(aclGetDataBufferSize(buffer), 5U);
    const size_t large = (size_t{3} << 32) + 7;
    EXPECT_TRUE(IsOk(aclUpdateDataBuffer(buffer, nullptr, large)));
    EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
    EXPECT_EQ(aclGetDataBufferSizeV2(buffer), large);
    EXPECT_EQ(aclGetDataBufferSize(buffer), 7U) << "the old call has 32 bits";
    EXPECT_TRUE(IsOk(aclDestroyDataBuffer(buffer)));
    EXPECT_STREQ(bytes, "abcdefg") << "nothing is owned";
}

TEST(DataBufferTest, NullHasNothing) {
    EXPECT_EQ(aclGetDataBufferAddr(nullptr), nullptr);
    EXPECT_EQ(aclGetDataBufferSizeV2(nullptr), 0U);
    EXPECT_EQ(aclGetDataBufferSize(nullptr), 0U);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclUpdateDataBuffer(nullptr, nullptr, 1),
                        {"aclUpdateDataBuffer: ", "dataBuffer"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclDestroyDataBuffer(nullptr),
                        {"aclDestroyDataBuffer: ", "dataBuffer"}));
}

class TensorDescTest : public testing::Test {
 protected:
    ~TensorDescTest() override {
        for (const aclTensorDesc* const desc : made_) {
            aclDestroyTensorDesc(desc);
        }
    }
    aclTensorDesc* Make(const std::vector<int64_t>& dims, aclDataType type = ACL_FLOAT,
                        aclFormat format = ACL_FORMAT_ND) {
        aclTensorDesc* const desc =
            aclCreateTensorDesc(type, static_cast<int>(dims.size()), dims.data(), format);
        EXPECT_NE(desc, nullptr);
        made_.push_back(desc);
        return desc;
    }

 private:
    std::vector<const aclTensorDesc*> made_;
};

TEST_F(TensorDescTest, AnswersWhatItWasMadeOf) {
    aclTensorDesc* const desc = Make({2, 3, 4}, ACL_BF16, ACL_FORMAT_NHWC);
    EXPECT_EQ(aclGetTensorDescType(desc), ACL_BF16);
    EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NHWC);
    EXPECT_EQ(aclGetTensorDescNumDims(desc), 3U);
    EXPECT_EQ(aclGetTensorDescElementCount(desc), 24U);
    EXPECT_EQ(aclGetTensorDescSize(desc), 48U);
    for (size_t i = 0; i < 3; ++i) {
        int64_t dim = 0;
        EXPECT_TRUE(IsOk(aclGetTensorDescDimV2(desc, i, &dim)));
        EXPECT_EQ(dim, static_cast<int64_t>(i) + 2);
        EXPECT_EQ(aclGetTensorDescDim(desc, i), dim);
    }
    EXPECT_EQ(aclGetTensorDescDim(desc, 3), -1);
    int64_t dim = 77;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclGetTensorDescDimV2(desc, 3, &dim),
                        {"aclGetTensorDescDimV2: ", "index"}, {3}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclGetTensorDescDimV2(desc, 0, nullptr), {"dimSize"}));
    EXPECT_EQ(dim, 77);
    EXPECT_STREQ(aclGetTensorDescName(desc), "");
}

TEST_F(TensorDescTest, CountsElements) {
    const int64_t most = int64_t{1} << 31;
    EXPECT_EQ(aclGetTensorDescElementCount(Make({})), 1U);
    EXPECT_EQ(aclGetTensorDescSize(Make({})), 4U);
    EXPECT_EQ(aclGetTensorDescElementCount(Make({5, 0})), 0U);
    EXPECT_EQ(aclGetTensorDescElementCount(Make({-1, 4})), 0U);
    EXPECT_EQ(aclGetTensorDescElementCount(Make({most, most, 4})), 0U) << "it does not fit";
    EXPECT_EQ(aclGetTensorDescElementCount(Make({most, most})), size_t{1} << 62);
    EXPECT_EQ(aclGetTensorDescSize(Make({most, most})), 0U) << "the bytes do not fit";
    EXPECT_EQ(aclGetTensorDescSize(Make({3}, ACL_STRING)), 0U);
    EXPECT_EQ(aclGetTensorDescNumDims(Make({-2})), ACL_UNKNOWN_RANK);
    EXPECT_EQ(aclGetTensorDescNumDims(Make({4, -2})), 2U);
}

TEST_F(TensorDescTest, OriginIsReadAndStorageIsNot) {
    aclTensorDesc* const desc = Make({2, 3}, ACL_INT8, ACL_FORMAT_NCHW);
    const int64_t stored[] = {1, 1, 16, 16};
    EXPECT_TRUE(IsOk(aclSetTensorShape(desc, 4, stored)));
    EXPECT_TRUE(IsOk(aclSetTensorFormat(desc, ACL_FORMAT_FRACTAL_NZ)));
    EXPECT_EQ(aclGetTensorDescNumDims(desc), 2U);
    EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
    const int64_t origin[] = {7};
    EXPECT_TRUE(IsOk(aclSetTensorOriginShape(desc, 1, origin)));
    EXPECT_TRUE(IsOk(aclSetTensorOriginFormat(desc, ACL_FORMAT_ND)));
    EXPECT_EQ(aclGetTensorDescElementCount(desc), 7U);
    EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_ND);
    EXPECT_TRUE(IsOk(aclSetTensorOriginShape(desc, 0, nullptr)));
    EXPECT_EQ(aclGetTensorDescNumDims(desc), 0U);
}

TEST_F(TensorDescTest, KeepsNamesAndTheRest) {
    aclTensorDesc* const desc = Make({2});
    std::string name = "weights";
    aclSetTensorDescName(desc, name.c_str());
    name = "another";
    EXPECT_STREQ(aclGetTensorDescName(desc), "weights");
    aclSetTensorDescName(desc, nullptr);
    EXPECT_STREQ(aclGetTensorDescName(desc), "");
    int64_t ranges[2][ACL_TENSOR_SHAPE_RANGE_NUM] = {{1, 4}, {2, -1}};
    EXPECT_TRUE(IsOk(aclSetTensorShapeRange(desc, 2, ranges)));
    EXPECT_TRUE(IsOk(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST)));
    char data[] = "12345678";
    EXPECT_TRUE(IsOk(aclSetTensorConst(desc, data, sizeof(data))));
    EXPECT_TRUE(IsOk(aclSetTensorDynamicInput(desc, "x")));
}

TEST_F(TensorDescTest, RefusesOtherArguments) {
    const int64_t dims[] = {1};
    EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, -1, dims, ACL_FORMAT_ND), nullptr);
    EXPECT_NE(support::TakeMessage().find("numDims is -1"), std::string::npos);
    EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 1, nullptr, ACL_FORMAT_ND), nullptr);
    EXPECT_NE(support::TakeMessage().find("dims"), std::string::npos);
    aclTensorDesc* const desc = Make({2});
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorShape(desc, -1, dims), {"numDims"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorOriginShape(desc, 1, nullptr), {"dims"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorShapeRange(desc, 1, nullptr), {"dimsRange"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclSetTensorPlaceMent(desc, static_cast<aclMemType>(3)), {"memType"}));
    char data = 1;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorConst(desc, &data, 0), {"length"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorConst(desc, nullptr, 1), {"dataBuffer"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorDynamicInput(desc, nullptr),
                        {"dynamicInputName"}));
    EXPECT_EQ(aclGetTensorDescElementCount(desc), 2U) << "nothing has changed";
}

TEST_F(TensorDescTest, NullHasNothing) {
    EXPECT_EQ(aclGetTensorDescType(nullptr), ACL_DT_UNDEFINED);
    EXPECT_EQ(aclGetTensorDescFormat(nullptr), ACL_FORMAT_UNDEFINED);
    EXPECT_EQ(aclGetTensorDescSize(nullptr), 0U);
    EXPECT_EQ(aclGetTensorDescElementCount(nullptr), 0U);
    EXPECT_EQ(aclGetTensorDescNumDims(nullptr), 0U);
    EXPECT_EQ(aclGetTensorDescDim(nullptr, 0), -1);
    EXPECT_STREQ(aclGetTensorDescName(nullptr), "");
    aclDestroyTensorDesc(nullptr);
    EXPECT_TRUE(IsOk(aclSetTensorFormat(nullptr, ACL_FORMAT_ND)));
    EXPECT_TRUE(IsOk(aclSetTensorOriginFormat(nullptr, ACL_FORMAT_ND)));
    const int64_t dims[] = {1};
    int64_t dim = 0;
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclGetTensorDescDimV2(nullptr, 0, &dim), {"desc"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorShape(nullptr, 1, dims), {"desc"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorOriginShape(nullptr, 1, dims), {"desc"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorShapeRange(nullptr, 0, nullptr), {"desc"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorPlaceMent(nullptr, ACL_MEMTYPE_HOST),
                        {"desc"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorConst(nullptr, &dim, 1), {"desc"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclSetTensorDynamicInput(nullptr, "x"), {"desc"}));
}

// The value of a half by the definition of the format, with exponent 31 as an ordinary one.
double ValueOfHalf(uint32_t half) {
    const uint32_t exponent = half >> 10 & 31;
    const uint32_t fraction = half & 1023;
    const double magnitude = exponent == 0 ? fraction * std::pow(2.0, -24)
                                           : (1024.0 + fraction) * std::pow(2.0, exponent - 25.0);
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Float16Test, EveryHalfIsConvertedExactly) {
    for (uint32_t half = 0; half <= 0xFFFF; ++half) {
        const float value = aclFloat16ToFloat(static_cast<aclFloat16>(half));
        ASSERT_EQ(static_cast<double>(value), ValueOfHalf(half)) << half;
        ASSERT_EQ(std::signbit(value), half >= 0x8000) << half;
        const bool finite = (half & 0x7FFF) <= 0x7BFF;
        ASSERT_EQ(aclFloatToFloat16(value), finite ? half : (half & 0x8000) | 0x7BFF) << half;
    }
    EXPECT_EQ(aclFloat16ToFloat(0x7C00), 65536.0F);
    EXPECT_EQ(aclFloat16ToFloat(0xFC00), -65536.0F);
    EXPECT_EQ(aclFloat16ToFloat(0x7E00), 98304.0F);
}

TEST(Float16Test, RoundsToTheNearestAndToEven) {
    for (uint32_t half = 0; half < 0x7BFF; ++half) {
        const auto middle =
            static_cast<float>((ValueOfHalf(half) + ValueOfHalf(half + 1)) / 2);  // exact
        const uint32_t even = half % 2 == 0 ? half : half + 1;
        for (const uint32_t sign : {0U, 0x8000U}) {
            const float side = sign != 0 ? -1.0F : 1.0F;
            const float inf = std::numeric_limits<float>::infinity();
            ASSERT_EQ(aclFloatToFloat16(side * middle), sign | even) << half;
            ASSERT_EQ(aclFloatToFloat16(side * std::nextafter(middle, 0.0F)), sign | half) << half;
            ASSERT_EQ(aclFloatToFloat16(side * std::nextafter(middle, inf)), sign | (half + 1))
                << half;
        }
    }
}

TEST(Float16Test, RoundsInTheSameWayInEveryRoundingMode) {
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        const aclFloat16 up = aclFloatToFloat16(1.0007F);  // 1 + 0.72 units
        const aclFloat16 down = aclFloatToFloat16(1.0002F);
        const aclFloat16 subnormal = aclFloatToFloat16(0x1.8p-24F);
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(up, 0x3C01);
        EXPECT_EQ(down, 0x3C00);
        EXPECT_EQ(subnormal, 2);
    }
}

TEST(Float16Test, TheGreatestIsTheEnd) {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float value : {65504.0F, 65505.0F, 65520.0F, 1e30F, inf, nan}) {
        EXPECT_EQ(aclFloatToFloat16(std::copysign(value, 1.0F)), 0x7BFF) << value;
        EXPECT_EQ(aclFloatToFloat16(std::copysign(value, -1.0F)), 0xFBFF) << value;
    }
    EXPECT_EQ(aclFloatToFloat16(-0.0F), 0x8000);
    EXPECT_EQ(aclFloatToFloat16(std::numeric_limits<float>::denorm_min()), 0);
}

class AppLogTest : public support::EndedRuntimeTest {
 protected:
    static std::string Logged(const char* level, const std::function<void()>& log) {
        const support::SettingsGuard guard(support::Settings{{"ADVANCE_STEP_LOG", level}});
        const support::StderrCapture capture;
        log();
        return capture.Text();
    }
};

TEST_F(AppLogTest, WritesALineAtItsLevel) {
    const auto all = [] {
        ACL_APP_LOG(ACL_ERROR, "broken %d", 1);
        ACL_APP_LOG(ACL_WARNING, "odd");
        ACL_APP_LOG(ACL_INFO, "news %s", "x");
        ACL_APP_LOG(ACL_DEBUG, "detail");
    };
    const std::string debug = Logged("debug", all);
    for (const char* const part :
         {"advance_step error: ", "broken 1\n", "advance_step warn: ", "odd\n",
          "advance_step info: ", "news x\n", "advance_step debug: ", "detail\n", __FILE__}) {
        EXPECT_NE(debug.find(part), std::string::npos) << part << " in " << debug;
    }
    const std::string errors = Logged("error", all);
    EXPECT_NE(errors.find("broken"), std::string::npos);
    EXPECT_EQ(errors.find("odd"), std::string::npos);
}

TEST_F(AppLogTest, IsCutAndTakesNoNull) {
    const std::string text(3000, 'y');
    const std::string line =
        Logged("error", [&] { aclAppLog(ACL_ERROR, "f", "file", 1, "%s", text.c_str()); });
    EXPECT_EQ(line.size(), std::strlen("advance_step error: ") + 1024 + 1);
    EXPECT_EQ(Logged("debug",
                     [] {
                         const char* const null = nullptr;
                         aclAppLog(ACL_ERROR, null, "file", 1, "x");
                         aclAppLog(ACL_ERROR, "f", null, 1, "x");
                         aclAppLog(ACL_ERROR, "f", "file", 1, null);
                     }),
              "");
}

}  // namespace
