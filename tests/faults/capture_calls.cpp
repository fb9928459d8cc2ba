// SPDX-License-Identifier: Apache-2.0
// Captures, replays and task groups.
#include "faults/scene.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"

namespace faults {
namespace {

using support::AdvanceStepBatch;

int Begin(Scene& s) { return aclmdlRICaptureBegin(s.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED); }
int End(Scene& s) { return aclmdlRICaptureEnd(s.stream, &s.made); }
int Destroy(Scene& s) { return aclmdlRIDestroy(s.made); }
int Discard(Scene& s) { return First({End(s), Destroy(s)}); }

AdvanceStepBatch& Batch(Scene& s) {
    if (s.batch == nullptr) {
        s.batch = std::make_shared<AdvanceStepBatch>(support::MakeBatch(4, 3, 4, 5, 1));
    }
    return *static_cast<AdvanceStepBatch*>(s.batch.get());
}
int Launch(Scene& s) {
    AdvanceStepBatch& batch = Batch(s);
    const int code = batch.Plan();
    return code != 0 ? code : batch.Launch(s.stream);
}
int Copy(Scene& s) {
    return aclrtMemcpyAsync(s.device, kBytes, s.pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                            s.stream);
}

// Another stream joins and comes back.
int ForkAndJoin(Scene& s) {
    return First({aclrtRecordEvent(s.event, s.stream), aclrtStreamWaitEvent(s.other, s.event),
                  aclrtMemsetAsync(s.device, kBytes, 7, kBytes, s.other),
                  aclrtRecordEvent(s.event, s.other), aclrtStreamWaitEvent(s.stream, s.event)});
}
int Record(Scene& s) { return First({Begin(s), Copy(s), ForkAndJoin(s), Launch(s)}); }
int Model(Scene& s) { return First({Record(s), End(s)}); }

int BeginGroup(Scene& s) { return aclmdlRICaptureTaskGrpBegin(s.stream); }
int EndGroup(Scene& s) { return aclmdlRICaptureTaskGrpEnd(s.stream, &s.more); }
int Grouped(Scene& s) { return First({Begin(s), BeginGroup(s), Launch(s), EndGroup(s), End(s)}); }
// The end of a capture without memory is an end without a model.
int RecordUnlessCaptured(Scene& s) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    const int code = aclmdlRICaptureGetInfo(s.stream, &status, nullptr);
    return First({code, status == ACL_MODEL_RI_CAPTURE_STATUS_NONE ? Record(s) : 0});
}

int BeginUpdate(Scene& s) { return aclmdlRICaptureTaskUpdateBegin(s.stream, s.more); }
int EndUpdate(Scene& s) { return aclmdlRICaptureTaskUpdateEnd(s.stream); }

// The end of an update without memory leaves the model as it was.
int UpdateAgain(Scene& s) { return First({BeginUpdate(s), Launch(s)}); }

// An external event, which a model waits for: s.more.
int MakeExternal(Scene& s) { return aclrtCreateEventWithFlag(&s.more, ACL_EVENT_EXTERNAL); }
int DropExternal(Scene& s) { return aclrtDestroyEvent(s.more); }
int RecordExternal(Scene& s) { return aclrtRecordEvent(s.more, s.stream); }
int WaitOnExternal(Scene& s) { return aclrtStreamWaitEvent(s.stream, s.more); }
int BeginExternal(Scene& s) { return First({MakeExternal(s), Begin(s)}); }
int DiscardExternal(Scene& s) { return First({Discard(s), DropExternal(s)}); }

int Drain(Scene& s) { return aclrtSynchronizeStream(s.stream); }

int Named(Scene& s) {
    return First(
        {Model(s), aclmdlRISetName(s.made, "a name that needs memory to be copied twice")});
}
int TellEnd(Scene& s) { return aclmdlRIDestroyRegisterCallback(s.made, &Nothing, nullptr); }

}  // namespace

std::vector<Call> CaptureCalls() {
    return {
        {"aclmdlRICaptureBegin", nullptr, &Begin, &Discard},
        {"aclmdlRICaptureEnd", &Record, &End, &Destroy, false, &RecordUnlessCaptured},
        {"aclmdlRICaptureGetInfo", &Begin,
         [](Scene& s) -> int {
             aclmdlRICaptureStatus status;
             return aclmdlRICaptureGetInfo(s.stream, &status, nullptr);
         },
         &Discard},
        {"aclmdlRICaptureThreadExchangeMode", nullptr,
         [](Scene&) -> int {
             aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
             return aclmdlRICaptureThreadExchangeMode(&mode);
         },
         nullptr},
        {"CapturedCopy", &Begin, &Copy, &Discard},
        OfAclnn({"CapturedLaunch",
                 [](Scene& s) -> int {
                     (void)Batch(s);
                     return Begin(s);
                 },
                 &Launch, &Discard}),
        {"CapturedRecord", &Begin,
         [](Scene& s) -> int { return aclrtRecordEvent(s.event, s.stream); }, &Discard},
        {"MakeExternalEvent", nullptr, &MakeExternal, &DropExternal},
        {"RecordExternalEvent", &MakeExternal, &RecordExternal, &InTurn<Drain, DropExternal>},
        {"DropUsedExternalEvent", &InTurn<MakeExternal, RecordExternal, WaitOnExternal>,
         &DropExternal, &Drain},
        {"CapturedExternalRecord", &BeginExternal, &RecordExternal, &DiscardExternal},
        {"CapturedExternalWait", &BeginExternal, &WaitOnExternal, &DiscardExternal},
        {"aclmdlRICaptureTaskGrpBegin", &Begin, &BeginGroup, &InTurn<EndGroup, Discard>},
        {"aclmdlRICaptureTaskGrpEnd", &InTurn<Begin, BeginGroup, Launch>, &EndGroup, &Discard},
        {"aclmdlRICaptureTaskUpdateBegin", &Grouped, &BeginUpdate,
         &InTurn<Launch, EndUpdate, Destroy>},
        {"aclmdlRICaptureTaskUpdateEnd", &InTurn<Grouped, BeginUpdate, Launch>, &EndUpdate,
         &Destroy, false, &UpdateAgain},
        {"aclmdlRIExecuteAsync", &Model,
         [](Scene& s) -> int { return aclmdlRIExecuteAsync(s.made, s.stream); },
         &InTurn<Drain, Destroy>},
        {"aclmdlRIExecute", &Model, [](Scene& s) -> int { return aclmdlRIExecute(s.made, 10000); },
         &Destroy},
        {"aclmdlRIDestroy", &Model, &Destroy, nullptr},
        {"aclmdlRISetName", &Model,
         [](Scene& s) -> int {
             return aclmdlRISetName(s.made,
                                    "a name that is too long to be kept in a string object");
         },
         &Destroy},
        {"aclmdlRIGetName", &Named,
         [](Scene& s) -> int { return aclmdlRIGetName(s.made, sizeof(s.host), s.host); }, &Destroy},
        {"aclmdlRIDestroyRegisterCallback", &Model, &TellEnd, &Destroy},
        {"aclmdlRIDestroyUnregisterCallback", &InTurn<Model, TellEnd>,
         [](Scene& s) -> int { return aclmdlRIDestroyUnregisterCallback(s.made, &Nothing); },
         &Destroy},
        {"SynchronizeReplay",
         [](Scene& s) {
             return First({Model(s), aclmdlRIExecuteAsync(s.made, s.stream)});
         },
         &Drain, &Destroy},
    };
}

}  // namespace faults
