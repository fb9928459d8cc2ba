// SPDX-License-Identifier: Apache-2.0
// Models with conditional tasks for tests.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_CONDITIONAL_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_CONDITIONAL_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "conformance/capture_fixture.h"

namespace conformance {

constexpr auto kIf = ACL_MODEL_RI_COND_TYPE_IF;
constexpr auto kWhile = ACL_MODEL_RI_COND_TYPE_WHILE;
constexpr auto kSwitch = ACL_MODEL_RI_COND_TYPE_SWITCH;
constexpr auto kAssign = ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
constexpr auto kLeave = static_cast<aclmdlRICondHandleFlag>(0);

class ConditionalTest : public CaptureTest {
 protected:
    using Body = std::function<void(const Stream& stream)>;

    static aclmdlRI ModelOf(const Stream& stream) {
        aclmdlRI model = nullptr;
        aclmdlRICaptureStatus status = kNone;
        EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream.Get(), &status, &model)));
        return model;
    }
    static aclmdlRICondHandle MakeCondition(const Stream& stream, uint32_t value = 0,
                                            aclmdlRICondHandleFlag flag = kAssign) {
        aclmdlRICondHandle handle = nullptr;
        EXPECT_TRUE(IsOk(aclmdlRICondHandleCreate(ModelOf(stream), value, flag, &handle)));
        return handle;
    }
    static uint64_t* Variable(aclmdlRICondHandle handle) {
        uint64_t* variable = nullptr;
        EXPECT_TRUE(IsOk(aclmdlRICondHandleGetCondPtr(handle, &variable)));
        return variable;
    }
    static void CaptureInto(aclmdlRI part, const Body& body) {
        const Stream stream = MakeStream();
        ASSERT_TRUE(IsOk(aclmdlRICaptureToModelRIBegin(stream.Get(), part, kRelaxed)));
        body(stream);
        aclmdlRI ended = nullptr;
        ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &ended)));
        EXPECT_EQ(ended, part);
    }
    // Records a task with these sub-graphs on the capturing stream.
    static std::vector<aclmdlRI> Add(const Stream& stream, aclmdlRICondHandle handle,
                                     aclmdlRICondTaskType type, const std::vector<Body>& bodies) {
        std::vector<aclmdlRI> parts(bodies.size());
        EXPECT_TRUE(IsOk(aclmdlRIAddCondTask(
            {handle, type, static_cast<uint32_t>(parts.size()), parts.data()}, stream.Get(), 0)));
        for (size_t index = 0; index < parts.size(); ++index) {
            CaptureInto(parts[index], bodies[index]);
        }
        return parts;
    }
    // Takes one off the variable, in stream order.
    static void CountDown(const Stream& stream, uint64_t* variable) {
        EXPECT_TRUE(IsOk(support::Enqueue(
            stream.Get(), [variable] { __atomic_fetch_sub(variable, 1, __ATOMIC_RELAXED); })));
    }
    Body Marks(int value) const {
        return [this, value](const Stream& stream) { Mark(stream, value); };
    }
    // A loop without an end around the body.
    Model CaptureEndless(const Stream& stream, const Body& body) {
        Begin(stream.Get(), kRelaxed);
        Mark(stream, 0);
        Add(stream, MakeCondition(stream, 1), kWhile, {body});
        Mark(stream, 99);
        return End(stream.Get());
    }
    static void Write(uint64_t* variable, uint64_t value) {
        EXPECT_TRUE(IsOk(aclrtMemcpy(variable, sizeof(value), &value, sizeof(value),
                                     ACL_MEMCPY_HOST_TO_DEVICE)));
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_CONDITIONAL_FIXTURE_H_
