// SPDX-License-Identifier: Apache-2.0
// Tests of data types and formats: sizes and names.

#include "src/base/dtype.h"

#include <gtest/gtest.h>

#include "support/table.h"

namespace advstep {
namespace {

struct DataTypeCase {
    const char* name;
    int value;
    size_t size;
};

class DataTypeTest : public testing::TestWithParam<DataTypeCase> {};

TEST_P(DataTypeTest, HasSizeAndName) {
    const auto type = static_cast<aclDataType>(GetParam().value);
    EXPECT_EQ(SizeOf(type), GetParam().size);
    EXPECT_EQ(NameOf(type), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DataTypeTest,
    testing::Values(DataTypeCase{"ACL_DT_UNDEFINED", -1, 0}, DataTypeCase{"ACL_FLOAT", 0, 4},
                    DataTypeCase{"ACL_FLOAT16", 1, 2}, DataTypeCase{"ACL_INT8", 2, 1},
                    DataTypeCase{"ACL_INT32", 3, 4}, DataTypeCase{"ACL_UINT8", 4, 1},
                    DataTypeCase{"ACL_INT16", 6, 2}, DataTypeCase{"ACL_UINT16", 7, 2},
                    DataTypeCase{"ACL_UINT32", 8, 4}, DataTypeCase{"ACL_INT64", 9, 8},
                    DataTypeCase{"ACL_UINT64", 10, 8}, DataTypeCase{"ACL_DOUBLE", 11, 8},
                    DataTypeCase{"ACL_BOOL", 12, 1}, DataTypeCase{"ACL_STRING", 13, 0},
                    DataTypeCase{"ACL_COMPLEX64", 16, 8}, DataTypeCase{"ACL_COMPLEX128", 17, 16},
                    DataTypeCase{"ACL_BF16", 27, 2}, DataTypeCase{"ACL_INT4", 29, 0},
                    DataTypeCase{"ACL_UINT1", 30, 0}, DataTypeCase{"ACL_COMPLEX32", 33, 4},
                    DataTypeCase{"ACL_HIFLOAT8", 34, 1}, DataTypeCase{"ACL_FLOAT8_E5M2", 35, 1},
                    DataTypeCase{"ACL_FLOAT8_E4M3FN", 36, 1},
                    DataTypeCase{"ACL_FLOAT8_E8M0", 37, 1}, DataTypeCase{"ACL_FLOAT6_E3M2", 38, 0},
                    DataTypeCase{"ACL_FLOAT6_E2M3", 39, 0}, DataTypeCase{"ACL_FLOAT4_E2M1", 40, 0},
                    DataTypeCase{"ACL_FLOAT4_E1M2", 41, 0}),
    support::CaseName());

TEST(UnknownDataTypeTest, HasNoSizeAndItsNumberForAName) {
    EXPECT_EQ(SizeOf(static_cast<aclDataType>(5)), 0U);
    EXPECT_EQ(NameOf(static_cast<aclDataType>(5)), "5");
    EXPECT_EQ(SizeOf(static_cast<aclDataType>(42)), 0U);
    EXPECT_EQ(NameOf(static_cast<aclDataType>(42)), "42");
}

struct FormatCase {
    const char* name;
    int value;
};

class FormatTest : public testing::TestWithParam<FormatCase> {};

TEST_P(FormatTest, HasItsName) {
    EXPECT_EQ(NameOf(static_cast<aclFormat>(GetParam().value)), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FormatTest,
    testing::Values(FormatCase{"ACL_FORMAT_UNDEFINED", -1}, FormatCase{"ACL_FORMAT_NCHW", 0},
                    FormatCase{"ACL_FORMAT_NHWC", 1}, FormatCase{"ACL_FORMAT_ND", 2},
                    FormatCase{"ACL_FORMAT_NC1HWC0", 3}, FormatCase{"ACL_FORMAT_FRACTAL_Z", 4},
                    FormatCase{"ACL_FORMAT_NC1HWC0_C04", 12}, FormatCase{"ACL_FORMAT_HWCN", 16},
                    FormatCase{"ACL_FORMAT_NDHWC", 27}, FormatCase{"ACL_FORMAT_FRACTAL_NZ", 29},
                    FormatCase{"ACL_FORMAT_NCDHW", 30}, FormatCase{"ACL_FORMAT_NDC1HWC0", 32},
                    FormatCase{"ACL_FRACTAL_Z_3D", 33}, FormatCase{"ACL_FORMAT_NC", 35},
                    FormatCase{"ACL_FORMAT_NCL", 47}),
    support::CaseName());

TEST(UnknownFormatTest, HasItsNumberForAName) {
    EXPECT_EQ(NameOf(static_cast<aclFormat>(46)), "46");
}

}  // namespace
}  // namespace advstep
