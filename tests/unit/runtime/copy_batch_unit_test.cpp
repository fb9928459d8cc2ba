// SPDX-License-Identifier: Apache-2.0
// Tests of batched copies: order, weight, size of a record.

#include "src/runtime/memory/copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "acl/acl_base.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

TEST(CopyBatchTaskTest, CopiesInOrderWhenRun) {
    char bytes[] = "abcdef";
    void* dsts[] = {bytes + 1, bytes + 2};
    void* srcs[] = {bytes, bytes + 1};
    size_t sizes[] = {1, 2};
    CopyBatch batch;
    batch.dsts = dsts;
    batch.srcs = srcs;
    batch.sizes = sizes;
    batch.count = 2;
    size_t size = 0;
    ASSERT_TRUE(Succeeds(CopyBatchTask::Bytes(batch, &size)));
    std::vector<std::max_align_t> record(size / sizeof(std::max_align_t) + 1);
    const Task* const task = CopyBatchTask::Make(record.data(), batch);
    EXPECT_FALSE(task->heavy());
    sizes[0] = 99;  // the record has its own
    dsts[0] = srcs[0] = nullptr;
    EXPECT_STREQ(bytes, "abcdef");
    EXPECT_TRUE(Succeeds(task->run(*task)));
    EXPECT_STREQ(bytes, "aaacef");
}

TEST(CopyBatchTaskTest, ManySmallCopiesAreHeavyTogether) {
    char byte = 0;
    std::vector<void*> sides(1000, &byte);
    std::vector<size_t> sizes(1000, 1000);
    CopyBatch batch;
    batch.dsts = batch.srcs = sides.data();
    batch.sizes = sizes.data();
    batch.count = 1000;
    size_t size = 0;
    ASSERT_TRUE(Succeeds(CopyBatchTask::Bytes(batch, &size)));
    std::vector<std::max_align_t> record(size / sizeof(std::max_align_t) + 1);
    EXPECT_TRUE(CopyBatchTask::Make(record.data(), batch)->heavy());
    sizes.assign(1000, SIZE_MAX / 2);
    EXPECT_TRUE(CopyBatchTask::Make(record.data(), batch)->heavy()) << "no overflow";
}

TEST(CopyBatchTaskTest, ARecordHasItsLimit) {
    CopyBatch batch;
    batch.count = size_t{1} << 28;
    size_t size = 7;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, CopyBatchTask::Bytes(batch, &size),
                          {"numBatches is 268435456"}));
    EXPECT_EQ(size, 7U);
}

}  // namespace
}  // namespace advstep
