// SPDX-License-Identifier: Apache-2.0
// Tests of aclnnConcat: values, lists whose addresses change, a captured model, refusals.
#include "../aclnn_concat.h"
#include "own_device.h"

namespace own {
namespace {

/// A list of new tensors in memory of other ones, which are destroyed with the list.
class OwnList {
 public:
    explicit OwnList(const std::vector<aclTensor*>& tensors)
        : list_(aclCreateTensorList(tensors.data(), tensors.size())) {}
    OwnList(const OwnList&) = delete;
    OwnList& operator=(const OwnList&) = delete;
    ~OwnList() { aclDestroyTensorList(list_); }

    aclTensorList* get() const { return list_; }

 private:
    aclTensorList* list_;
};

/// Makes a tensor of int64 at an address, which belongs to a list.
aclTensor* At(void* address, const std::vector<int64_t>& shape,
              const std::vector<int64_t>& strides = {}, int64_t offset = 0,
              aclDataType type = ACL_INT64) {
    return aclCreateTensor(shape.data(), shape.size(), type,
                           strides.empty() ? nullptr : strides.data(), offset, ACL_FORMAT_ND,
                           shape.data(), shape.size(), address);
}

int Plan(const OwnList& list, int64_t dim, aclTensor* out, aclOpExecutor** executor) {
    uint64_t workspaceSize = 1;
    const int code = aclnnConcatGetWorkspaceSize(list.get(), dim, out, &workspaceSize, executor);
    EXPECT_EQ(workspaceSize, code == 0 ? 0u : 1u);
    return code;
}

int RunConcat(const OwnList& list, int64_t dim, aclTensor* out) {
    aclOpExecutor* executor = nullptr;
    const int code = Plan(list, dim, out, &executor);
    return code != 0 ? code : aclnnConcat(nullptr, 0, executor, nullptr);
}

class ConcatTest : public testing::Test {
 protected:
    const OwnDevice device_;
    const OwnTensor<int64_t> one_{{2, 2}, {1, 2, 3, 4}};
    const OwnTensor<int64_t> two_{{2, 1}, {5, 6}};
    const OwnTensor<int64_t> out_{{2, 3}, std::vector<int64_t>(6)};
};

TEST_F(ConcatTest, JoinsAlongAnAxis) {
    {
        const OwnList list({At(one_.address(), {2, 2}), At(two_.address(), {2, 1})});
        ASSERT_EQ(RunConcat(list, -1, out_.get()), 0) << Message();
    }  // the tensors are gone before the run may have begun
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(out_.Values(), (std::vector<int64_t>{1, 2, 5, 3, 4, 6}));
    const OwnTensor<int64_t> rows({3, 2}, std::vector<int64_t>(6));
    const OwnList turned({At(one_.address(), {2, 2}, {1, 2}), At(two_.address(), {1, 2})});
    ASSERT_EQ(RunConcat(turned, 0, rows.get()), 0) << Message();
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(rows.Values(), (std::vector<int64_t>{1, 3, 2, 4, 5, 6}));
}

TEST_F(ConcatTest, MayOverlapItsTensors) {
    const OwnTensor<int64_t> line({4}, {1, 2, 3, 0});
    const OwnList list({At(line.address(), {1}, {1}, 1), At(line.address(), {3}, {1}, 0)});
    ASSERT_EQ(RunConcat(list, 0, line.get()), 0) << Message();
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(line.Values(), (std::vector<int64_t>{2, 1, 2, 3}));
}

TEST_F(ConcatTest, RepeatsWithOtherMembers) {
    const OwnTensor<int64_t> more({2, 1}, {7, 8});
    const OwnList list({At(one_.address(), {2, 2}), At(two_.address(), {2, 1})});
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(Plan(list, 1, out_.get(), &executor), 0) << Message();
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
    ASSERT_EQ(aclSetDynamicInputTensorAddr(executor, 0, 1, list.get(), more.address()), 0);
    ASSERT_EQ(aclnnConcat(nullptr, 0, executor, nullptr), 0) << Message();
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(out_.Values(), (std::vector<int64_t>{1, 2, 7, 3, 4, 8}));
    ASSERT_EQ(aclDestroyAclOpExecutor(executor), 0);
}

TEST_F(ConcatTest, IsCapturedAndReplayed) {
    OwnTensor<int64_t> line({1}, {1});
    const OwnTensor<int64_t> out({2}, {0, 0});
    const OwnList list({At(line.address(), {1}), At(line.address(), {1})});
    aclrtStream stream = nullptr;
    aclmdlRI model = nullptr;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    ASSERT_EQ(Plan(list, 0, out.get(), &executor), 0) << Message();
    ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    ASSERT_EQ(aclnnConcat(nullptr, 0, executor, stream), 0);
    ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0);
    for (const int64_t value : {1, 5}) {
        line.Upload({value});
        ASSERT_EQ(aclmdlRIExecuteAsync(model, stream), 0);
        ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
        EXPECT_EQ(out.Values(), (std::vector<int64_t>{value, value}));
    }
    ASSERT_EQ(aclmdlRIDestroy(model), 0);
    ASSERT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(ConcatTest, RefusesWrongCalls) {
    const auto expect = [&](int code, const std::vector<aclTensor*>& tensors, int64_t dim,
                            const char* words) {
        const OwnList list(tensors);
        EXPECT_EQ(RunConcat(list, dim, out_.get()), code) << words;
        const std::string message = Message();
        EXPECT_NE(message.find(words), std::string::npos) << message;
    };
    expect(ACLNN_ERR_PARAM_INVALID, {}, 0, "tensors is empty");
    expect(ACLNN_ERR_PARAM_NULLPTR, {nullptr}, 0, "null");
    expect(ACLNN_ERR_PARAM_INVALID, {At(one_.address(), {2, 3}, {}, 0, ACL_FLOAT)}, 0,
           "aclnnConcatGetWorkspaceSize: tensors[0] has dtype ACL_FLOAT; expected that of out");
    expect(ACLNN_ERR_INNER_TILING_ERROR, {At(one_.address(), {2, 3})}, 2, "dim is 2");
    expect(ACLNN_ERR_INNER_TILING_ERROR, {At(one_.address(), {1, 2})}, 1, "another shape");
    expect(ACLNN_ERR_INNER_TILING_ERROR, {At(one_.address(), {2, 2})}, 1, "expected 2, the sum");
    EXPECT_EQ(aclnnConcat(nullptr, 0, nullptr, nullptr), ACLNN_ERR_PARAM_NULLPTR);
}

}  // namespace
}  // namespace own
