// SPDX-License-Identifier: Apache-2.0
// Names for the rows of a table of cases.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_TABLE_H_
#define ADVANCE_STEP_TESTS_SUPPORT_TABLE_H_

#include <gtest/gtest.h>

#include <string>

namespace support {

// INSTANTIATE_TEST_SUITE_P(Table, SomeTest, testing::Values(...), support::CaseName());
struct CaseName {
    template <class Case>
    std::string operator()(const testing::TestParamInfo<Case>& row) const {
        return row.param.name;
    }
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_TABLE_H_
