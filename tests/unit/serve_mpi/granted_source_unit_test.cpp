// SPDX-License-Identifier: Apache-2.0
// Tests of the granted source: it asks at the end of a grant.

#include "serve_mpi/granted_source.h"

#include <gtest/gtest.h>

#include "serve_mpi/dispatcher.h"

namespace serve {
namespace {

// Gives what it was made with, grant by grant, and notes what it is told.
class ListedGrants : public GrantExchange {
 public:
    explicit ListedGrants(std::vector<Grant> grants) : grants_(std::move(grants)) {}

    Grant Next(const std::vector<FinishedRequest>& finished) override {
        told.push_back(finished.size());
        return grants_.at(told.size() - 1);
    }

    std::vector<size_t> told;

 private:
    std::vector<Grant> grants_;
};

TEST(GrantedSourceTest, AsksWhenItsServerComesToTheEndOfTheGrant) {
    ListedGrants grants({{10, {{2, 0, 5, 1}, {3, 7, 5, 1}}}, {20, {}}, {kNever, {{4, 21, 5, 1}}}});
    GrantedSource source(grants, {5, 1});
    const Request* first = source.Take(0);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->line, 2);
    EXPECT_EQ(source.Take(6), nullptr);  // has not arrived yet
    EXPECT_EQ(source.NextArrival(), 7);
    EXPECT_EQ(source.Take(9)->line, 3);
    EXPECT_EQ(source.Take(9), nullptr);
    EXPECT_EQ(grants.told.size(), 1U);
    // At 10 the first grant says nothing of what arrives.
    source.Finished({});
    EXPECT_EQ(source.Take(10), nullptr);
    EXPECT_EQ(grants.told, (std::vector<size_t>{0, 1}));
    // Nothing to do: the next grant that has a request.
    EXPECT_EQ(source.NextArrival(), 21);
    EXPECT_EQ(source.Take(21)->line, 4);
    EXPECT_EQ(source.NextArrival(), std::nullopt);
    EXPECT_EQ(source.Take(1'000'000), nullptr);
    EXPECT_EQ(grants.told, (std::vector<size_t>{0, 1, 0}));
    EXPECT_EQ(source.Requests(), 3);
    EXPECT_EQ(first->line, 2);  // requests stay where they are
}

}  // namespace
}  // namespace serve
