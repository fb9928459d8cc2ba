// SPDX-License-Identifier: Apache-2.0
// Implements what scenarios are made of.
#include "tests/schedules/scenario.h"

#include <algorithm>

namespace schedules {

void RunThreads(std::initializer_list<std::function<void()>> bodies) {
    Control(true);
    std::vector<int> threads;
    for (const auto& body : bodies) {
        threads.push_back(Start(body));
    }
    for (const int thread : threads) {
        Join(thread);
    }
    Control(false);
}

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
