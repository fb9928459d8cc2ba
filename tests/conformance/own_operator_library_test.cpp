// SPDX-License-Identifier: Apache-2.0
// Libraries of operators: one that is closed while its work is queued, and two with the same names.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "advance_step/fault_injection.h"
#include "advance_step/operator.h"
#include "support/handles.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"
#include "support/tensor.h"

namespace conformance {
namespace {

using support::DeviceBuffer;
using support::IsOk;
using support::TakeMessage;

using Numbers = std::vector<int32_t>;
using PhaseOne = aclnnStatus(const aclTensor*, const aclTensor*, const aclScalar*, aclTensor*,
                             uint64_t*, aclOpExecutor**);
using PlanNamed = aclnnStatus(const aclTensor*, aclTensor*, const aclTensor*, uint64_t*,
                              aclOpExecutor**);
using PhaseTwo = aclnnStatus(void*, uint64_t, aclOpExecutor*, aclrtStream);

// A library of operators and its aclnnAdd.
class Library {
 public:
    explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        EXPECT_NE(handle_, nullptr) << dlerror();
        plan = reinterpret_cast<PhaseOne*>(dlsym(handle_, "aclnnAddGetWorkspaceSize"));
        run = reinterpret_cast<PhaseTwo*>(dlsym(handle_, "aclnnAdd"));
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() { Close(); }
    void Close() {
        if (handle_ != nullptr) {
            EXPECT_EQ(dlclose(handle_), 0);
            handle_ = nullptr;
        }
    }

    PhaseOne* plan;
    PhaseTwo* run;

 private:
    void* handle_;
};

class OwnLibraryTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_LOG", "warn"}}));
        int32_t one = 1;
        alpha_ = aclCreateScalar(&one, ACL_INT32);
        memory_ = DeviceBuffer(Numbers{1, 2, 10, 20, 0, 0});
        self_ = At(0);
        other_ = At(2);
        out_ = At(4);
    }
    void TearDown() override { aclDestroyScalar(alpha_); }
    support::Tensor At(size_t element) const {
        return support::Tensor(support::TensorSpec{{2}, memory_.At(element * 4), ACL_INT32});
    }
    aclOpExecutor* Plan(const Library& library) const {
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        EXPECT_TRUE(
            IsOk(library.plan(self_.Get(), other_.Get(), alpha_, out_.Get(), &size, &executor)));
        return executor;
    }
    void ExpectSum() const {
        EXPECT_EQ(memory_.Download<int32_t>(), (Numbers{1, 2, 10, 20, 11, 22}));
    }

    aclScalar* alpha_ = nullptr;
    DeviceBuffer memory_;
    support::Tensor self_, other_, out_;
};

TEST_F(OwnLibraryTest, QueuedWorkRunsAfterItsLibraryIsClosed) {
    Library library(OWN_OPERATORS_ONE);
    aclrtStream stream = nullptr;
    uint64_t hold = 0;
    ASSERT_TRUE(IsOk(aclrtCreateStream(&stream)));
    ASSERT_TRUE(IsOk(advstepHoldStream(stream, &hold)));
    ASSERT_TRUE(IsOk(library.run(nullptr, 0, Plan(library), stream)));
    aclOpExecutor* const planned = Plan(library);
    library.Close();
    ASSERT_TRUE(IsOk(advstepReleaseHold(hold)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
    ExpectSum();
    EXPECT_NE(dlopen(OWN_OPERATORS_ONE, RTLD_NOW | RTLD_NOLOAD), nullptr);
    EXPECT_TRUE(IsOk(library.run(nullptr, 0, planned, stream)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
    ASSERT_TRUE(IsOk(aclrtDestroyStream(stream)));
}

TEST_F(OwnLibraryTest, AModelRunsAfterItsLibraryIsClosed) {
    Library library(OWN_OPERATORS_ONE);
    aclrtStream stream = nullptr;
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateStream(&stream)));
    aclOpExecutor* const executor = Plan(library);
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL)));
    ASSERT_TRUE(IsOk(library.run(nullptr, 0, executor, stream)));
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream, &model)));
    library.Close();
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
    ExpectSum();
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(model)));
    ASSERT_TRUE(IsOk(aclrtDestroyStream(stream)));
}

// The libraries above have operators of graphs too, which keep them as well.
TEST_F(OwnLibraryTest, ALibraryWithoutOperatorsOfGraphsIsKept) {
    void* const library = dlopen(OWN_NAMED_ONE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto plan = reinterpret_cast<PlanNamed*>(dlsym(library, "aclnnNamedGetWorkspaceSize"));
    EXPECT_EQ(plan(nullptr, nullptr, nullptr, nullptr, nullptr), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(dlclose(library), 0);
    EXPECT_NE(dlopen(OWN_NAMED_ONE, RTLD_NOW | RTLD_NOLOAD), nullptr);
}

// A host operator is registered by its first call.
TEST_F(OwnLibraryTest, TwoLibrariesMayDefineTheSameHostOperator) {
    using PlanConcat =
        aclnnStatus(const aclTensorList*, int64_t, aclTensor*, uint64_t*, aclOpExecutor**);
    struct Concat {
        explicit Concat(const char* path) {
            void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            plan = reinterpret_cast<PlanConcat*>(dlsym(library, "aclnnConcatGetWorkspaceSize"));
            run = reinterpret_cast<PhaseTwo*>(dlsym(library, "aclnnConcat"));
            EXPECT_EQ(dlclose(library), 0);  // its kernels keep it loaded
        }
        PlanConcat* plan;
        PhaseTwo* run;
    };
    const Concat one(OWN_OPERATORS_ONE);
    const Concat other(OWN_OPERATORS_OTHER);
    const aclTensor* const member = At(0).Release();
    aclTensorList* const list = aclCreateTensorList(&member, 1);
    uint64_t size = 0;
    aclOpExecutor* executors[2] = {};
    ASSERT_TRUE(IsOk(one.plan(list, 0, out_.Get(), &size, &executors[0])));
    static bool isNew = true;
    {
        const support::StderrCapture capture;
        ASSERT_TRUE(IsOk(other.plan(list, 0, out_.Get(), &size, &executors[1])));
        EXPECT_EQ(capture.Text().find("operator aclnnConcat is defined by ") != std::string::npos,
                  isNew)
            << capture.Text();
        isNew = false;
    }
    EXPECT_TRUE(support::IsError(ACLNN_ERR_PARAM_INVALID,
                                 other.run(nullptr, 0, executors[0], nullptr),
                                 {"the aclnnConcat of another library"}));
    EXPECT_TRUE(IsOk(other.run(nullptr, 0, executors[1], nullptr)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(memory_.Download<int32_t>(), (Numbers{1, 2, 10, 20, 1, 2}));
    EXPECT_TRUE(IsOk(aclDestroyTensorList(list)));
}

TEST_F(OwnLibraryTest, TwoLibrariesMayDefineTheSameOperator) {
    const Library one(OWN_OPERATORS_ONE);
    // A test before may have loaded it, and then there is no warning any more.
    const bool isNew = dlopen(OWN_OPERATORS_OTHER, RTLD_NOW | RTLD_NOLOAD) == nullptr;
    const support::StderrCapture capture;
    const Library other(OWN_OPERATORS_OTHER);
    EXPECT_NE(one.plan, other.plan);
    EXPECT_EQ(capture.Text().find("operator aclnnAdd is defined by ") != std::string::npos, isNew)
        << capture.Text();
    // Each runs its own plans, and refuses those of the other.
    ASSERT_TRUE(IsOk(one.run(nullptr, 0, Plan(one), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    ASSERT_TRUE(IsOk(other.run(nullptr, 0, Plan(other), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    ExpectSum();
    EXPECT_EQ(other.run(nullptr, 0, Plan(one), nullptr), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(TakeMessage(),
              "aclnnAdd: executor was planned for the aclnnAdd of another library; expected one "
              "planned for that of this library");
}

// The dynamic linker may take a function of one library for that of the other, where both show it.
TEST_F(OwnLibraryTest, TwoLibrariesMayShowTheSameClass) {
    const DeviceBuffer numbers(std::vector<int64_t>{2, 3, 0});
    const auto at = [&](size_t element) {
        return support::Tensor(support::TensorSpec{{1}, numbers.At(element * 8), ACL_INT64});
    };
    const support::Tensor self = at(0), scale = at(1), out = at(2);
    for (const char* const path : {OWN_NAMED_ONE, OWN_NAMED_OTHER}) {
        void* const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        ASSERT_NE(library, nullptr) << dlerror();
        const auto plan =
            reinterpret_cast<PlanNamed*>(dlsym(library, "aclnnNamedGetWorkspaceSize"));
        const auto run = reinterpret_cast<PhaseTwo*>(dlsym(library, "aclnnNamed"));
        for (const bool isShort : {false, true}) {
            uint64_t size = 0;
            aclOpExecutor* executor = nullptr;
            ASSERT_TRUE(IsOk(
                plan(self.Get(), out.Get(), isShort ? nullptr : scale.Get(), &size, &executor)));
            ASSERT_TRUE(IsOk(run(nullptr, size, executor, nullptr))) << path;
            ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
            EXPECT_EQ(numbers.Download<int64_t>()[2], isShort ? 2 : 6);
        }
    }
}

}  // namespace
}  // namespace conformance
