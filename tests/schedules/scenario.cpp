// SPDX-License-Identifier: Apache-2.0
// Implements what scenarios are made of.
#include "tests/schedules/scenario.h"

#include <algorithm>

namespace schedules {
namespace {

// Runs the functions as threads, which use the runtime if there is one.
void Run(std::initializer_list<std::function<void()>> bodies, const Runtime* runtime) {
    Control(true);
    std::vector<int> threads;
    for (const auto& body : bodies) {
        threads.push_back(Start([&body, runtime] {
            if (runtime != nullptr) {
                runtime->Use();
            }
            body();
        }));
    }
    for (const int thread : threads) {
        Join(thread);
    }
    Control(false);
}

}  // namespace

std::vector<Scenario>& Scenarios() {
    static std::vector<Scenario> scenarios;
    return scenarios;
}

void RunThreads(std::initializer_list<std::function<void()>> bodies) { Run(bodies, nullptr); }

Runtime::Runtime() {
    Ok(aclInit(nullptr), "aclInit");
    Ok(aclrtSetDevice(0), "aclrtSetDevice");
    Ok(aclrtGetCurrentContext(&context_), "aclrtGetCurrentContext");
}

Runtime::~Runtime() {
    if (!ended_) {
        Ok(aclFinalize(), "aclFinalize");
    }
}

void Runtime::Run(std::initializer_list<std::function<void()>> bodies) const {
    schedules::Run(bodies, this);
}

aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    Ok(aclrtCreateStream(&stream), "aclrtCreateStream");
    return stream;
}

aclrtEvent NewEvent() {
    aclrtEvent event = nullptr;
    Ok(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), "aclrtCreateEventExWithFlag");
    return event;
}

aclrtNotify NewNotify() {
    aclrtNotify notify = nullptr;
    Ok(aclrtCreateNotify(&notify, 0), "aclrtCreateNotify");
    return notify;
}

void Order(aclrtStream from, aclrtStream to) {
    aclrtEvent const event = NewEvent();
    Ok(aclrtRecordEvent(event, from), "aclrtRecordEvent");
    Ok(aclrtStreamWaitEvent(to, event), "aclrtStreamWaitEvent");
}

void Block(aclrtStream stream) {
    Ok(aclrtWaitAndResetNotify(NewNotify(), stream, 0), "aclrtWaitAndResetNotify");
}

aclmdlRI Capture(aclrtStream stream, const std::function<void()>& fill) {
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    fill();
    Ok(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    return model;
}

aclmdlRICondHandle NewCondition(aclrtStream stream, uint32_t value) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    aclmdlRICondHandle condition = nullptr;
    Ok(aclmdlRICaptureGetInfo(stream, &status, &model), "aclmdlRICaptureGetInfo");
    Ok(aclmdlRICondHandleCreate(model, value, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition),
       "aclmdlRICondHandleCreate");
    return condition;
}

aclError AddTask(aclrtStream stream, aclmdlRICondTaskType type, aclmdlRICondHandle condition,
                 aclmdlRI* part) {
    return aclmdlRIAddCondTask({condition, type, 1, part}, stream, 0);
}

void FillPart(aclmdlRI part, aclrtStream body, const std::function<void()>& fill) {
    Ok(aclmdlRICaptureToModelRIBegin(body, part, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
       "aclmdlRICaptureToModelRIBegin");
    fill();
    Ok(aclmdlRICaptureEnd(body, &part), "aclmdlRICaptureEnd of the sub-graph");
}

aclmdlRI AddConditional(aclrtStream stream, aclmdlRICondTaskType type, aclrtStream body,
                        const std::function<void()>& fill) {
    aclmdlRI part = nullptr;
    Ok(AddTask(stream, type, NewCondition(stream, 1), &part), "aclmdlRIAddCondTask");
    FillPart(part, body, fill);
    return part;
}

void HostWork::Run(void* argument) {
    auto& function = *static_cast<Function*>(argument);
    function.owner->ran_.push_back(function.mark);
    if (function.then) {
        function.then();
    }
}

aclError HostWork::Launch(aclrtStream stream, int mark, std::function<void()> then) {
    functions_.push_back({this, mark, std::move(then)});
    return aclrtLaunchHostFunc(stream, &Run, &functions_.back());
}

size_t HostWork::Place(int mark) const {
    return static_cast<size_t>(std::find(ran_.begin(), ran_.end(), mark) - ran_.begin());
}

void HostWork::ExpectOrder(int first, int second) const {
    Expect(Ran(first) && Ran(second) && Place(first) < Place(second),
           "host function " + std::to_string(first) + " before " + std::to_string(second));
}

void HostWork::ExpectOnce(int mark) const {
    Expect(std::count(ran_.begin(), ran_.end(), mark) == 1,
           "host function " + std::to_string(mark) + " once");
}

}  // namespace schedules
