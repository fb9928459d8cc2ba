// SPDX-License-Identifier: Apache-2.0
// Conditional tasks, records and waits with a flag, the stop of a stream.
#include "faults/scene.h"

namespace faults {
namespace {

int BeginAny(Scene& s) { return aclmdlRICaptureBegin(s.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED); }
int MakeVariable(Scene& s) {
    aclmdlRI model = nullptr;
    return First(
        {aclmdlRICaptureGetInfo(s.stream, nullptr, &model),
         aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &s.more)});
}
int BeginWithVariable(Scene& s) { return First({BeginAny(s), MakeVariable(s)}); }
int AddTask(Scene& s) {
    return aclmdlRIAddCondTask({s.more, ACL_MODEL_RI_COND_TYPE_IF, 1, &s.made}, s.stream, 0);
}
int BeginWithTask(Scene& s) { return First({BeginWithVariable(s), AddTask(s)}); }
int BeginPart(Scene& s) {
    return aclmdlRICaptureToModelRIBegin(s.other, s.made, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
}
int FillPart(Scene& s) {
    return First({aclrtMemsetAsync(s.device, kBytes, 7, kBytes, s.other),
                  aclmdlRICaptureEnd(s.other, &s.made)});
}
int DiscardBoth(Scene& s) {
    return First({aclmdlRICaptureEnd(s.stream, &s.made), aclmdlRIDestroy(s.made)});
}
int MakeConditional(Scene& s) {
    return First(
        {BeginWithTask(s), BeginPart(s), FillPart(s), aclmdlRICaptureEnd(s.stream, &s.made)});
}
int Finish(Scene& s) { return aclrtSynchronizeStream(s.stream); }

// An event of ACL_EVENT_SYNC alone: s.more.
int BeginWithEvent(Scene& s) {
    return First({aclrtCreateEventExWithFlag(&s.more, ACL_EVENT_SYNC), BeginAny(s)});
}
int RecordInGraph(Scene& s) {
    return aclrtRecordEventWithFlag(s.more, s.stream, ACL_EVENT_RECORD_EXTERNAL);
}
int WaitInGraph(Scene& s) {
    return aclrtStreamWaitEventWithFlag(s.stream, s.more, 0, ACL_EVENT_WAIT_EXTERNAL);
}
int DiscardWithEvent(Scene& s) { return First({DiscardBoth(s), aclrtDestroyEvent(s.more)}); }

}  // namespace

std::vector<Call> ConditionalCalls() {
    return {
        {"aclmdlRICondHandleCreate", &BeginAny, &MakeVariable, &DiscardBoth},
        {"aclmdlRICondHandleGetCondPtr", &BeginWithVariable,
         [](Scene& s) -> int {
             return aclmdlRICondHandleGetCondPtr(s.more, reinterpret_cast<uint64_t**>(s.host));
         },
         &DiscardBoth},
        {"aclmdlRIAddCondTask", &BeginWithVariable, &AddTask,
         &InTurn<BeginPart, FillPart, DiscardBoth>},
        {"aclmdlRICaptureToModelRIBegin", &BeginWithTask, &BeginPart,
         &InTurn<FillPart, DiscardBoth>},
        {"ReplayConditional", &MakeConditional,
         [](Scene& s) -> int {
             // A shortage during the run is a failure of the task.
             return First({aclmdlRIExecuteAsync(s.made, s.stream), Finish(s)});
         },
         [](Scene& s) -> int { return aclmdlRIDestroy(s.made); }},
        {"aclrtRecordEventWithFlag", &BeginWithEvent, &RecordInGraph, &DiscardWithEvent},
        {"aclrtStreamWaitEventWithFlag", &BeginWithEvent, &WaitInGraph, &DiscardWithEvent},
        {"ReplayExternalMarks",
         [](Scene& s) {
             return First({BeginWithEvent(s), RecordInGraph(s), WaitInGraph(s),
                           aclmdlRICaptureEnd(s.stream, &s.made)});
         },
         [](Scene& s) -> int { return aclmdlRIExecuteAsync(s.made, s.stream); },
         [](Scene& s) {
             return First({Finish(s), aclmdlRIDestroy(s.made), aclrtDestroyEvent(s.more)});
         }},
    };
}

}  // namespace faults
