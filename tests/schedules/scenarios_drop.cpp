// SPDX-License-Identifier: Apache-2.0
// Scenarios of calls that wait for work that another thread drops or destroys: a call whose work
// has not run, or has failed, says so.
#include "advance_step/fault_injection.h"
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// The stream drops more work before the thread that copies looks at what became of its copy.
void CopyIsDropped() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    void* memory = nullptr;
    HostWork work;
    Ok(aclrtMalloc(&memory, 1, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    Ok(aclrtMemset(memory, 1, 7, 1), "aclrtMemset");
    RunThreads({[&] {
                    runtime.Use();
                    char host = 0;
                    const aclError code =
                        aclrtMemcpyAsync(&host, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_ABORT,
                           "aclrtMemcpyAsync");
                    Expect(code != ACL_SUCCESS || host == 7, "a copy that was not run is an error");
                },
                [&] {
                    runtime.Use();
                    for (int mark = 0; mark < 4; mark += 2) {
                        work.Add(stream, mark);
                        Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                        work.Add(stream, mark + 1);
                        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                    }
                }});
    Ok(aclrtFree(memory), "aclrtFree");
}

}  // namespace

std::vector<Scenario> DropScenarios() { return {{"copy_dropped", true, &CopyIsDropped}}; }

}  // namespace schedules
