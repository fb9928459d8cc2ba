// SPDX-License-Identifier: Apache-2.0
// Choices of a program's next action: memory, the device, and calls inside host functions.
#include <fmt/core.h>

#include "stress/program_generator.h"

namespace stress {

void ProgramGenerator::ActNow() {
    const int thread = AnyThread();
    const int cell = Random(kCells);
    if (model_.accesses[static_cast<size_t>(cell)].Conflict(model_.host, true).lane >= 0) {
        return;
    }
    const int code = model_.ActNow(thread);
    const uint64_t value = Filled(nextId_++);
    const uint64_t before = model_.cells[static_cast<size_t>(cell)];
    if (Chance(50)) {
        Emit(thread, {code}, fmt::format("aclrtMemcpy(from cell {})", cell), [=](World& world) {
            uint64_t found = before;
            const int got = aclrtMemcpy(&found, sizeof(found), world.Cell(cell), sizeof(found),
                                        ACL_MEMCPY_DEFAULT);
            if (found != before) {
                world.Complain(
                    fmt::format("cell {} gave {:#x}; expected {:#x}", cell, found, before));
            }
            return got;
        });
        return;
    }
    if (code == 0) {
        model_.HostWrite(cell, value);
    }
    const bool fills = Chance(50);
    Emit(thread, {code}, fmt::format("{}(cell {})", fills ? "aclrtMemset" : "aclrtMemcpy", cell),
         [=](World& world) {
             return fills ? aclrtMemset(world.Cell(cell), sizeof(value),
                                        static_cast<int32_t>(value & 0xff), sizeof(value))
                          : aclrtMemcpy(world.Cell(cell), sizeof(value), &value, sizeof(value),
                                        ACL_MEMCPY_DEFAULT);
         });
}

void ProgramGenerator::ProbeInside() {
    const int thread = AnyThread();
    const Slot slot = AnyFreeStream();
    EnterContextOf(thread, slot);
    const Slot context = model_.streams.at(slot).context;
    const int code = model_.Work(thread, slot, Effect{});
    Emit(thread, {code}, fmt::format("aclrtLaunchHostFunc(#{}, probe)", slot), [=](World& world) {
        // While the function runs its stream may be captured or destroyed, or its context.
        const aclrtStream stream = world[slot];
        const aclrtContext own = world[context];
        return world.Launch(stream, [=, &world] {
            aclrtContext current = nullptr;
            const int found = aclrtGetCurrentContext(&current);
            if (found != ACL_ERROR_RT_CONTEXT_NULL && (found != 0 || current != own)) {
                world.Complain("a host function has another context than its stream");
            }
            const int waited = aclrtSynchronizeStream(stream);
            if (waited != ACL_ERROR_RT_FEATURE_NOT_SUPPORT &&
                waited != ACL_ERROR_RT_STREAM_CAPTURED &&
                waited != ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED &&
                waited != ACL_ERROR_RT_INVALID_HANDLE && waited != ACL_ERROR_RT_CONTEXT_NULL) {
                world.Complain(fmt::format("a host function waited for itself: {}", waited));
            }
            if (const int reset = aclrtResetDevice(world.device);
                reset != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
                world.Complain(fmt::format("a host function reset the device: {}", reset));
            }
        });
    });
}

void ProgramGenerator::UseScratchMemory() {
    const int thread = AnyThread();
    const Slot slot = AnyFreeStream();
    EnterContextOf(thread, slot);
    const Slot block = NewSlot();
    const auto size = static_cast<size_t>(1 + Random(5000));
    const auto fill = [=](World& world) {
        return aclrtMemsetAsync(world[block], size, 7, size, world[slot]);
    };
    const auto release = [=](World& world) { return aclrtFree(world[block]); };
    Emit(thread, {0}, fmt::format("aclrtMalloc(#{}, {})", block, size),
         [=](World& world) { return aclrtMalloc(&world[block], size, ACL_MEM_MALLOC_HUGE_FIRST); });
    for (int count = Random(3); count > 0; --count) {
        const int code = model_.Work(thread, slot, Effect{});
        Emit(thread, {code}, fmt::format("aclrtMemsetAsync(#{}, #{})", block, slot), fill);
    }
    Emit(thread, {0}, fmt::format("aclrtFree(#{})", block), release);
    if (!options_.parallel) {  // or another program may have the address by now
        Emit(thread, {ACL_ERROR_RT_PARAM_INVALID}, "the same again", release);
        Emit(thread, {ACL_ERROR_RT_PARAM_INVALID},
             fmt::format("aclrtMemsetAsync(#{}, #{}), freed", block, slot), fill);
    }
}

void ProgramGenerator::UseDevice() {
    const int thread = AnyThread();
    if (deviceUses_ > 1 && Chance(50)) {
        --deviceUses_;
        Emit(thread, {0}, "aclrtResetDevice(own)",
             [](World& world) { return aclrtResetDevice(world.device); });
        return;
    }
    ++deviceUses_;
    model_.threads[static_cast<size_t>(thread)].context = kPrimary;
    Emit(thread, {0}, "aclrtSetDevice(own)",
         [](World& world) { return aclrtSetDevice(world.device); });
}

void ProgramGenerator::ActOnCells() {
    const int thread = AnyThread();
    const Slot slot = AnyStream();
    const bool pageable = Chance(5);
    const Effect effect = AnyEffect(pageable);
    EnterContextOf(thread, slot, false);
    if (!OrderFor(thread, slot, effect)) {
        return;
    }
    if (pageable && model_.CaptureOf(model_.streams.at(slot)) == nullptr) {
        Release(model_.Now(model_.streams.at(slot)));
    }
    EnterContextOf(thread, slot, false);  // after the last call that may change it
    const Slot named = NullForDefault(slot);
    Slot meant = kNull;
    if (model_.FindStream(thread, named, &meant) == 0 && meant != slot) {
        return;  // null means another context's default stream
    }
    if (pageable) {
        CopyPageable(thread, named, effect);
    } else if (effect.kind == Effect::Kind::kMix) {
        Launch(thread, named, effect);
    } else if (effect.kind == Effect::Kind::kFill) {
        Fill(thread, named, effect);
    } else {
        Copy(thread, named, effect);
    }
}

void ProgramGenerator::ActOnWord() {
    const int thread = AnyThread();
    const Slot slot = AnyFreeStream();
    const int index = Random(kWords);
    const ModelStream& stream = model_.streams.at(slot);
    const ModelWord& word = model_.words[static_cast<size_t>(index)];
    EnterContextOf(thread, slot);
    if (Chance(50)) {
        if (word.accesses.Conflict(model_.Now(stream), true).lane < 0) {
            WriteWord(thread, index, word.value + 1 + static_cast<uint64_t>(Random(5)), slot);
        }
        return;
    }
    if (word.value == 0 || model_.Blocked(word.clock)) {
        return;  // nothing may be known of what would end the wait
    }
    static const uint32_t kFlags[] = {ACL_STREAM_WAIT_VALUE_GEQ, ACL_STREAM_WAIT_VALUE_EQ,
                                      ACL_STREAM_WAIT_VALUE_AND, ACL_STREAM_WAIT_VALUE_NOR};
    WaitWord(thread, index, word.value, kFlags[Random(4)], slot);
}

}  // namespace stress
