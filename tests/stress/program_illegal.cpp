// SPDX-License-Identifier: Apache-2.0
// Calls that must be refused, each with its code, and change nothing.
#include <fmt/core.h>

#include <limits>

#include <functional>

#include "stress/program_generator.h"

namespace stress {

void ProgramGenerator::Illegal() {
    const int choice = Random(10);
    if (choice < 4) {
        BadHandles();
    } else if (choice < 7) {
        BadValues();
    } else {
        BadWhileCapturing();
    }
}

void ProgramGenerator::BadHandles() {
    const int thread = AnyThread();
    const Slot stream = AnyStream();
    const Slot event = AnyEvent();
    const Slot badStream = BadHandle(event);
    const Slot bad = BadHandle(stream);
    const bool isStream = model_.streams.count(bad) != 0;
    if (Chance(90)) {
        EnterContextOf(thread, stream);
    }
    Effect effect = AnyEffect();
    effect.kind = Effect::Kind::kMix;
    // NULL is the default stream for the first five, and not a bad handle.
    const std::function<void()> calls[] = {
        [&] { Record(thread, event, badStream); },
        [&] { Wait(thread, badStream, event); },
        [&] { Launch(thread, badStream, effect); },
        [&] { SynchronizeStream(thread, badStream); },
        [&] { QueryStream(thread, badStream); },
        [&] { DestroyStream(thread, badStream); },
        [&] { Begin(thread, badStream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED); },
        [&] { End(thread, badStream); },
        [&] { CaptureInfo(thread, badStream); },
        [&] { BeginGroup(thread, badStream); },
        [&] { Record(thread, bad, stream); },
        [&] { Wait(thread, stream, bad); },
        [&] { DestroyEvent(thread, bad); },
        [&] { SynchronizeEvent(thread, bad); },
        [&] { QueryEvent(thread, bad); },
        [&] { RecordNotify(thread, bad, stream); },
        [&] { WaitNotify(thread, bad, stream); },
        [&] { DestroyNotify(thread, bad); },
        [&] { Replay(thread, bad, stream); },
        [&] { DestroyModel(thread, bad); },
        [&] { SetContext(thread, bad); },
        [&] {
            if (isStream || bad == kForeign || bad == kNonsense || bad == kNull) {
                DestroyContext(thread, bad);
            } else {
                Execute(thread, bad);
            }
        }};
    if (const int call = Random(22); call >= 5 || badStream != kNull) {
        calls[call]();
    }
}

void ProgramGenerator::BadValues() {
    struct Row {
        const char* text;
        int code;
        int (*run)(World&);
    };
    static const Row kRows[] = {
        {"aclrtCreateStream(null)", ACL_ERROR_INVALID_PARAM,
         [](World&) { return aclrtCreateStream(nullptr); }},
        {"aclrtCreateStreamWithConfig(priority 8)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) {
             aclrtStream made = nullptr;
             return aclrtCreateStreamWithConfig(&made, 8, 0);
         }},
        {"aclrtCreateStreamWithConfig(flag 0x100)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) {
             aclrtStream made = nullptr;
             return aclrtCreateStreamWithConfig(&made, 0, 0x100);
         }},
        {"aclrtCreateEvent(null)", ACL_ERROR_INVALID_PARAM,
         [](World&) { return aclrtCreateEvent(nullptr); }},
        {"aclrtCreateEventWithFlag(0)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) {
             aclrtEvent made = nullptr;
             return aclrtCreateEventWithFlag(&made, 0);
         }},
        {"aclrtCreateEventExWithFlag(IPC)", ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         [](World&) {
             aclrtEvent made = nullptr;
             return aclrtCreateEventExWithFlag(&made, ACL_EVENT_DEVICE_USE_ONLY);
         }},
        {"aclrtLaunchHostFunc(no function)", ACL_ERROR_INVALID_PARAM,
         [](World&) { return aclrtLaunchHostFunc(nullptr, nullptr, nullptr); }},
        {"aclrtMemcpyAsync(count > destMax)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) {
             return aclrtMemcpyAsync(world.Cell(0), 4, world.Cell(1), 8,
                                     ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr);
         }},
        {"aclrtMemcpyAsync(kind 9)", ACL_ERROR_INVALID_PARAM,
         [](World& world) {
             return aclrtMemcpyAsync(world.Cell(0), 8, world.Cell(1), 8,
                                     static_cast<aclrtMemcpyKind>(9), nullptr);
         }},
        {"aclrtMemcpyAsync(to null)", ACL_ERROR_INVALID_PARAM,
         [](World& world) {
             return aclrtMemcpyAsync(nullptr, 8, world.Cell(1), 8, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                     nullptr);
         }},
        {"aclrtMemcpyAsync(from beyond the allocation)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) {
             return aclrtMemcpyAsync(world.Cell(0), 4096, world.Cell(1), 4096,
                                     ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr);
         }},
        {"aclrtMemcpy(count > destMax)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) {
             return aclrtMemcpy(world.Cell(0), 4, world.Cell(1), 8, ACL_MEMCPY_DEVICE_TO_DEVICE);
         }},
        {"aclrtMemsetAsync(count > maxCount)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) { return aclrtMemsetAsync(world.Cell(0), 4, 0, 8, nullptr); }},
        {"aclrtMemsetAsync(no device memory)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) { return aclrtMemsetAsync(world[kForeign], 4, 0, 4, nullptr); }},
        {"aclrtFree(null)", ACL_ERROR_INVALID_PARAM, [](World&) { return aclrtFree(nullptr); }},
        {"aclrtFree(no device memory)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) { return aclrtFree(world[kForeign]); }},
        {"aclrtFree(inside an allocation)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) { return aclrtFree(world.Cell(1)); }},
        {"aclrtMalloc(0)", ACL_ERROR_INVALID_PARAM,
         [](World&) {
             void* made = nullptr;
             return aclrtMalloc(&made, 0, ACL_MEM_MALLOC_HUGE_FIRST);
         }},
        {"aclrtMalloc(too much)", ACL_ERROR_RT_MEMORY_ALLOCATION,
         [](World&) {
             void* made = nullptr;
             return aclrtMalloc(&made, std::numeric_limits<size_t>::max() / 4,
                                ACL_MEM_MALLOC_HUGE_FIRST);
         }},
        {"aclrtValueWrite(flag 1)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) { return aclrtValueWrite(world.Word(0), 1, 1, nullptr); }},
        {"aclrtValueWrite(misaligned)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) {
             return aclrtValueWrite(reinterpret_cast<char*>(world.Word(0)) - 4, 1, 0, nullptr);
         }},
        {"aclrtValueWait(flag 4)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) { return aclrtValueWait(world.Word(0), 1, 4, nullptr); }},
        {"aclrtValueWait(null)", ACL_ERROR_INVALID_PARAM,
         [](World&) { return aclrtValueWait(nullptr, 1, 0, nullptr); }},
        {"aclrtCreateNotify(flag 2)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) {
             aclrtNotify made = nullptr;
             return aclrtCreateNotify(&made, 2);
         }},
        {"aclrtSynchronizeStreamWithTimeout(0)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) { return aclrtSynchronizeStreamWithTimeout(nullptr, 0); }},
        {"aclrtSynchronizeDeviceWithTimeout(-2)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) { return aclrtSynchronizeDeviceWithTimeout(-2); }},
        {"aclrtProcessReport(0)", ACL_ERROR_INVALID_PARAM,
         [](World&) { return aclrtProcessReport(0); }},
        {"aclrtSetDevice(4000)", ACL_ERROR_RT_INVALID_DEVICEID,
         [](World&) { return aclrtSetDevice(4000); }},
        {"aclrtResetDevice(-1)", ACL_ERROR_RT_INVALID_DEVICEID,
         [](World&) { return aclrtResetDevice(-1); }},
        {"aclrtCreateContext(device -1)", ACL_ERROR_RT_INVALID_DEVICEID,
         [](World&) {
             aclrtContext made = nullptr;
             return aclrtCreateContext(&made, -1);
         }},
        {"aclmdlRICaptureGetInfo(no output)", ACL_ERROR_INVALID_PARAM,
         [](World& world) {
             return aclmdlRICaptureGetInfo(world[kPrimaryDefault], nullptr, nullptr);
         }},
        {"aclmdlRICaptureBegin(mode 3)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) {
             return aclmdlRICaptureBegin(world[kPrimaryDefault],
                                         static_cast<aclmdlRICaptureMode>(3));
         }},
        {"aclmdlRICaptureBegin(default stream)", ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         [](World& world) {
             return aclmdlRICaptureBegin(world[kPrimaryDefault], ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
         }},
        {"aclmdlRICaptureThreadExchangeMode(3)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) {
             auto mode = static_cast<aclmdlRICaptureMode>(3);
             return aclmdlRICaptureThreadExchangeMode(&mode);
         }},
        {"aclrtSetStreamFailureMode(2)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) { return aclrtSetStreamFailureMode(nullptr, 2); }},
        {"aclrtGetLastError(level 1)", ACL_ERROR_RT_PARAM_INVALID,
         [](World&) { return aclrtGetLastError(static_cast<aclrtLastErrLevel>(1)); }},
        {"aclrtLaunchCallback(not subscribed)", ACL_ERROR_RT_STREAM_NO_CB_REG,
         [](World&) {
             return aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, nullptr);
         }},
        {"aclrtStreamQuery(no status)", ACL_ERROR_INVALID_PARAM,
         [](World&) { return aclrtStreamQuery(nullptr, nullptr); }},
        {"aclrtDestroyStream(default stream)", ACL_ERROR_RT_PARAM_INVALID,
         [](World& world) { return aclrtDestroyStream(world[kPrimaryDefault]); }},
        {"aclrtDestroyContext(primary)", ACL_ERROR_RT_CONTEXT_NULL,
         [](World& world) { return aclrtDestroyContext(world[kPrimary]); }},
    };
    const int thread = AnyThread();
    if (model_.threads[static_cast<size_t>(thread)].context != kPrimary) {
        SetContext(thread, kPrimary);
    }
    for (int count = 1 + Random(3); count > 0; --count) {
        const Row& row = kRows[Random(static_cast<int>(sizeof(kRows) / sizeof(kRows[0])))];
        Emit(thread, {row.code}, row.text, row.run);
    }
}

void ProgramGenerator::BadWhileCapturing() {
    const Slot member = Pick(model_.streams, [&](const ModelStream& stream) {
        return stream.alive && model_.CaptureOf(stream) != nullptr;
    });
    if (member == kNull) {
        return;
    }
    const int thread = AnyThread();
    const ModelCapture& capture = *model_.CaptureOf(model_.streams.at(member));
    const Slot model = capture.model;
    if (capture.invalidated) {
        return;
    }
    EnterContextOf(thread, member);
    Effect effect = AnyEffect(true);
    switch (Random(11)) {
        case 0:
            return SynchronizeStream(thread, member);
        case 1:
            return QueryStream(thread, member);
        case 2:
            return DestroyStream(thread, member);
        case 3:
            return CopyPageable(thread, member, effect);
        case 4:
            return Begin(thread, member, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
        case 5:
            return SynchronizeDevice(thread);
        case 6:
            return DestroyModel(thread, model);
        case 7:
            return Replay(thread, model, member);
        case 8:
            return ActNow();
        case 9:
            return Emit(thread, {ACL_ERROR_RT_STREAM_CAPTURED},
                        fmt::format("aclrtStreamAbort(#{})", member),
                        [=](World& world) { return aclrtStreamAbort(world[member]); });
        default: {
            const Slot old = CreateEvent(thread, EventKind::kPlain, 0);
            Record(thread, old, member);
            Wait(thread, member, old);
            return DestroyEvent(thread, old);
        }
    }
}

}  // namespace stress
