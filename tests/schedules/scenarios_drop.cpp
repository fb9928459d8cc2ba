// SPDX-License-Identifier: Apache-2.0
// Scenarios of calls that wait for work that another thread drops or destroys: a call whose work
// has not run, or has failed, says so.
#include <stdexcept>

#include "advance_step/fault_injection.h"
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// The stream drops more work before the thread that copies looks at what became of its copy.
SCENARIO(OneStream, copy_dropped, kSmall) {
    void* memory = nullptr;
    Ok(aclrtMalloc(&memory, 1, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    Ok(aclrtMemset(memory, 1, 7, 1), "aclrtMemset");
    runtime.Run({[&] {
                     char host = 0;
                     const aclError code =
                         aclrtMemcpyAsync(&host, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream);
                     ExpectOkOr(code, ACL_ERROR_RT_STREAM_ABORT, "aclrtMemcpyAsync");
                     Expect(code != ACL_SUCCESS || host == 7,
                            "a copy that was not run is an error");
                 },
                 [&] {
                     for (int mark = 0; mark < 4; mark += 2) {
                         work.Add(stream, mark);
                         Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                         work.Add(stream, mark + 1);
                         Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                     }
                 }});
    Ok(aclrtFree(memory), "aclrtFree");
}

// The stream is destroyed, and its object used again, before the thread that waited for a failed
// task looks.
SCENARIO(OneStream, destroyed_failure, kSmall) {
    Ok(advstepFailStream(stream, ACL_ERROR_RT_AICORE_EXCEPTION), "advstepFailStream");
    runtime.Run({[&] {
                     const aclError code = aclrtSynchronizeStream(stream);
                     Expect(code == ACL_ERROR_RT_AICORE_EXCEPTION ||
                                code == ACL_ERROR_RT_INVALID_HANDLE,
                            "the failed task is reported, or the stream is gone");
                 },
                 [&] {
                     Ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
                     Ok(aclrtSynchronizeStream(NewStream()), "the next stream");
                 }});
}

// The model is destroyed as soon as it may be.
SCENARIO(OneStream, executed_failure, kLarge) {
    aclmdlRI const model = Capture(stream, [&] {
        Ok(advstepFailStream(stream, ACL_ERROR_RT_AICORE_EXCEPTION), "advstepFailStream");
    });
    runtime.Run({[&] {
                     const aclError code = aclmdlRIExecute(model, -1);
                     Expect(code == ACL_ERROR_RT_AICORE_EXCEPTION ||
                                code == ACL_ERROR_RT_INVALID_HANDLE,
                            "the failed task is reported, or the model is gone");
                 },
                 [&] {
                     const aclError code = aclmdlRIDestroy(model);
                     if (code == ACL_SUCCESS) {
                         Ok(aclrtSynchronizeStream(NewStream()), "the next stream");
                     } else {
                         ExpectCode(code, ACL_ERROR_RT_MODEL_RUNNING, "aclmdlRIDestroy");
                     }
                 }});
}

// What is dropped has not run: a notify that it waits for does not come.
SCENARIO(OneStream, destroyed_work, kSmall) {
    Block(stream);
    work.Add(stream, 1);
    runtime.Run({[&] {
                     const aclError code = aclrtSynchronizeStream(stream);
                     Expect(
                         code == ACL_ERROR_RT_STREAM_ABORT || code == ACL_ERROR_RT_INVALID_HANDLE,
                         "a synchronisation returned " + std::to_string(code));
                 },
                 [&] { Ok(aclrtDestroyStreamForce(stream), "aclrtDestroyStreamForce"); }});
    Expect(!work.Ran(1), "dropped work is not run");
}

// An execution that succeeds has run as a whole.
SCENARIO(OneStream, executed_abort, kLarge) {
    aclmdlRI const model = Capture(stream, [&] {
        work.Add(stream, 1);
        work.Add(stream, 2);
    });
    runtime.Run({[&] {
                     const aclError code = aclmdlRIExecute(model, -1);
                     ExpectOkOr(code, ACL_ERROR_RT_DEVICE_TASK_ABORT, "aclmdlRIExecute");
                     Expect(code != ACL_SUCCESS || (work.Ran(1) && work.Ran(2)),
                            "an execution that was dropped is an error");
                 },
                 [&] { Ok(aclrtDeviceTaskAbort(0, 0), "aclrtDeviceTaskAbort"); }});
}

// The abort may find the stream of the replay still empty, and then the sub-graph.
SCENARIO(OneStream, sub_graph_abort, kLarge) {
    aclrtStream const body = NewStream();
    aclmdlRI const model = Capture(stream, [&] {
        (void)AddConditional(stream, ACL_MODEL_RI_COND_TYPE_IF, body, [&] { work.Add(body, 1); });
        work.Add(stream, 2);
    });
    runtime.Run({[&] {
                     const aclError queued = aclmdlRIExecuteAsync(model, stream);
                     ExpectOkOr(queued, ACL_ERROR_RT_DEVICE_TASK_ABORT, "aclmdlRIExecuteAsync");
                     const aclError code = aclrtSynchronizeStream(stream);
                     ExpectOkOr(code, ACL_ERROR_RT_DEVICE_TASK_ABORT, "aclrtSynchronizeStream");
                     Expect(code != ACL_SUCCESS || work.Ran(1) || !work.Ran(2),
                            "a sub-graph that was dropped is an error");
                 },
                 [&] { Ok(aclrtDeviceTaskAbort(0, 0), "aclrtDeviceTaskAbort"); }});
    const size_t before = work.ran().size();
    Ok(aclmdlRIExecute(model, -1), "the next replay");
    Expect(std::vector<int>(work.ran().begin() + static_cast<ptrdiff_t>(before),
                            work.ran().end()) == std::vector<int>{1, 2},
           "the next replay is whole");
}

// Two threads replay a model whose first replay fails, in failure mode 1. Each call returns what
// became of its own replay.
SCENARIO(OneStream, replay_execute_fails, kLarge) {
    Ok(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), "aclrtSetStreamFailureMode");
    aclmdlRI const model = Capture(stream, [&] {
        work.Add(stream, 1, [&] {
            if (work.ran().size() == 1) {
                throw std::runtime_error("the first one fails");
            }
        });
        work.Add(stream, 2);
    });
    int succeeded = 0;
    int failed = 0;
    const auto execute = [&] {
        const aclError code = aclmdlRIExecute(model, -1);
        succeeded += code == ACL_SUCCESS ? 1 : 0;
        failed += code == ACL_ERROR_FAILURE ? 1 : 0;
    };
    runtime.Run({execute, execute});
    Expect(succeeded == 1 && failed == 1, "one of two calls is told of the failure");
    work.ExpectOnce(2);
    Ok(aclmdlRIDestroy(model), "aclmdlRIDestroy");
}

}  // namespace

}  // namespace schedules
