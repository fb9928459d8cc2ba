// SPDX-License-Identifier: Apache-2.0
// Tests of assignment files: round trip and wrong lines.

#include "serve_mpi/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace serve {
namespace {

const std::vector<Request> kRequests = {{2, 0, 5, 1}, {3, 1, 5, 1}, {4, 2, 5, 1}};

class AssignmentTest : public testing::Test {
 protected:
    static Assignment Read(const std::string& text) {
        std::istringstream file(text);
        return ReadAssignment(file, "plan.csv", kRequests, 2);
    }
    static std::string Complaint(const std::string& text) {
        try {
            Read(text);
        } catch (const AssignmentError& error) {
            return error.what();
        }
        return "none";
    }
};

TEST_F(AssignmentTest, ReadsWhatItWrote) {
    const Assignment assignment = {1, 0, 1};
    EXPECT_EQ(Read(AssignmentText(kRequests, assignment)), assignment);
    const std::vector<Request> own = RequestsOf(1, kRequests, assignment);
    ASSERT_EQ(own.size(), 2U);
    EXPECT_EQ(own[0].line, 2);
    EXPECT_EQ(own[1].line, 4);
}

TEST_F(AssignmentTest, LinesMayEndAsOnWindows) {
    EXPECT_EQ(Read("line,replica\r\n2,1\r\n3,0\r\n4,1\r\n"), (Assignment{1, 0, 1}));
}

TEST_F(AssignmentTest, BlankLinesAreSkippedAndCounted) {
    EXPECT_EQ(Read("line,replica\n2,1\n3,0\n4,1\n\n"), (Assignment{1, 0, 1})) << "at the end";
    EXPECT_EQ(Read("\nline,replica\n2,1\n \t\n3,0\n\r\n4,1\n"), (Assignment{1, 0, 1}));
    EXPECT_THAT(Complaint("line,replica\n\n2,x\n"), testing::HasSubstr(":3: expected two whole"));
    EXPECT_THAT(Complaint("\nlines\n"), testing::HasSubstr(":2: the header is not line,replica"));
    EXPECT_THAT(Complaint("\n \n"), testing::HasSubstr("the header line,replica is missing"));
}

TEST_F(AssignmentTest, NamesTheLineThatIsWrong) {
    using testing::HasSubstr;
    EXPECT_THAT(Complaint("lines\n"), HasSubstr("plan.csv:1: the header is not line"));
    EXPECT_THAT(Complaint("line,replica\n2,0\n3\n"), HasSubstr(":3: expected two whole numbers"));
    EXPECT_THAT(Complaint("line,replica\n2,0x\n"), HasSubstr(":2: expected two whole numbers"));
    EXPECT_THAT(Complaint("line,replica\n9,0\n"), HasSubstr(":2: line is 9"));
    EXPECT_THAT(Complaint("line,replica\n2,2\n"), HasSubstr("replica is 2; expected 0 to 1"));
    EXPECT_THAT(Complaint("line,replica\n2,0\n2,1\n"), HasSubstr(":3: line 2 has had"));
    EXPECT_THAT(Complaint("line,replica\n2,0\n4,1\n"), HasSubstr("line 3 has no replica"));
}

}  // namespace
}  // namespace serve
