// SPDX-License-Identifier: Apache-2.0
// One call each: the model predicts, the program gets it.
#include <fmt/core.h>

#include <stdexcept>

#include "stress/program_generator.h"

namespace stress {

void ProgramGenerator::Record(int thread, Slot event, Slot stream) {
    const Slot named = model_.streams.count(stream) != 0 ? NullForDefault(stream) : stream;
    // As null it means the default stream of whatever context is current.
    const int code = model_.Record(thread, event, named);
    Emit(thread, {code}, fmt::format("aclrtRecordEvent(#{}, #{})", event, named),
         [=](World& world) { return aclrtRecordEvent(world[event], world[named]); });
}

void ProgramGenerator::Wait(int thread, Slot stream, Slot event) {
    const int code = model_.Wait(thread, stream, event);
    if (Chance(10)) {
        Emit(thread, {code},
             fmt::format("aclrtStreamWaitEventWithTimeout(#{}, #{})", stream, event),
             [=](World& world) {
                 return aclrtStreamWaitEventWithTimeout(world[stream], world[event], 600);
             });
        return;
    }
    Emit(thread, {code}, fmt::format("aclrtStreamWaitEvent(#{}, #{})", stream, event),
         [=](World& world) { return aclrtStreamWaitEvent(world[stream], world[event]); });
}

void ProgramGenerator::Reset(int thread, Slot event, Slot stream) {
    const int code = model_.Reset(thread, event, stream);
    Emit(thread, {code}, fmt::format("aclrtResetEvent(#{}, #{})", event, stream),
         [=](World& world) { return aclrtResetEvent(world[event], world[stream]); });
}

void ProgramGenerator::DestroyEvent(int thread, Slot event) {
    const int code = model_.DestroyEvent(event);
    Bury(code, event);
    Emit(thread, {code}, fmt::format("aclrtDestroyEvent(#{})", event),
         [=](World& world) { return aclrtDestroyEvent(world[event]); });
}

void ProgramGenerator::RecordNotify(int thread, Slot notify, Slot stream) {
    const int code = model_.RecordNotify(thread, notify, stream);
    Emit(thread, {code}, fmt::format("aclrtRecordNotify(#{}, #{})", notify, stream),
         [=](World& world) { return aclrtRecordNotify(world[notify], world[stream]); });
}

void ProgramGenerator::WaitNotify(int thread, Slot notify, Slot stream) {
    const int code = model_.WaitNotify(thread, notify, stream);
    Emit(thread, {code}, fmt::format("aclrtWaitAndResetNotify(#{}, #{})", notify, stream),
         [=](World& world) { return aclrtWaitAndResetNotify(world[notify], world[stream], 0); });
}

void ProgramGenerator::DestroyNotify(int thread, Slot notify) {
    const int code = model_.FindNotify(notify);
    if (code == 0) {
        model_.notifies.at(notify).alive = false;
        deadSlots_.push_back(notify);
    }
    Emit(thread, {code}, fmt::format("aclrtDestroyNotify(#{})", notify),
         [=](World& world) { return aclrtDestroyNotify(world[notify]); });
}

void ProgramGenerator::WriteWord(int thread, int word, uint64_t value, Slot stream) {
    const int code = model_.WriteWord(thread, word, value, stream);
    Emit(thread, {code}, fmt::format("aclrtValueWrite(word {}, {}, #{})", word, value, stream),
         [=](World& world) { return aclrtValueWrite(world.Word(word), value, 0, world[stream]); });
}

void ProgramGenerator::WaitWord(int thread, int word, uint64_t value, uint32_t flag, Slot stream) {
    const int code = model_.WaitWord(thread, word, value, flag, stream);
    Emit(
        thread, {code},
        fmt::format("aclrtValueWait(word {}, {}, {}, #{})", word, value, flag, stream),
        [=](World& world) { return aclrtValueWait(world.Word(word), value, flag, world[stream]); });
}

void ProgramGenerator::Launch(int thread, Slot stream, const Effect& effect) {
    const int code = model_.Work(thread, stream, effect);
    const int cell = effect.cell;
    const uint64_t id = effect.value;
    if (effect.kind == Effect::Kind::kThrow) {
        Emit(thread, {code}, fmt::format("aclrtLaunchHostFunc(#{}, throw)", stream),
             [=](World& world) {
                 return world.Launch(world[stream], [] { throw std::runtime_error("on purpose"); });
             });
        return;
    }
    Emit(thread, {code}, fmt::format("aclrtLaunchHostFunc(#{}, mix cell {}, {})", stream, cell, id),
         [=](World& world) {
             uint64_t* const address = world.Cell(cell);
             return world.Launch(world[stream], [=] { *address = Mix(*address, id); });
         });
}

void ProgramGenerator::Fill(int thread, Slot stream, const Effect& effect) {
    const int code = model_.Work(thread, stream, effect);
    const int cell = effect.cell;
    const auto value = static_cast<int32_t>(effect.value);
    Emit(thread, {code}, fmt::format("aclrtMemsetAsync(cell {}, {}, #{})", cell, value, stream),
         [=](World& world) {
             return aclrtMemsetAsync(world.Cell(cell), sizeof(uint64_t), value, sizeof(uint64_t),
                                     world[stream]);
         });
}

void ProgramGenerator::Copy(int thread, Slot stream, const Effect& effect) {
    const int cell = effect.cell;
    const int source = effect.source;
    const bool toDevice = cell < kDeviceCells;
    const bool fromDevice = source < kDeviceCells;
    aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
    if (Chance(70)) {
        static const aclrtMemcpyKind kInside[] = {ACL_MEMCPY_DEVICE_TO_DEVICE,
                                                  ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                                  ACL_MEMCPY_INTER_DEVICE_TO_DEVICE};
        kind = toDevice && fromDevice ? kInside[Random(3)]
               : toDevice
                   ? (Chance(50) ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)
               : fromDevice ? ACL_MEMCPY_DEVICE_TO_HOST
                            : ACL_MEMCPY_HOST_TO_HOST;
    }
    int code = 0;
    if (!toDevice && !fromDevice) {
        Slot found = kNull;
        code = model_.FindStream(thread, stream, &found);
        code = code != 0 ? code : ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    } else {
        code = model_.Work(thread, stream, effect);
    }
    if (Chance(25)) {
        Emit(thread, {code},
             fmt::format("aclrtMemcpy2dAsync(cell {}, cell {}, kind {}, #{})", cell, source,
                         static_cast<int>(kind), stream),
             [=](World& world) {
                 return aclrtMemcpy2dAsync(world.Cell(cell), 4, world.Cell(source), 4, 4, 2, kind,
                                           world[stream]);
             });
        return;
    }
    Emit(thread, {code},
         fmt::format("aclrtMemcpyAsync(cell {}, cell {}, kind {}, #{})", cell, source,
                     static_cast<int>(kind), stream),
         [=](World& world) {
             return aclrtMemcpyAsync(world.Cell(cell), sizeof(uint64_t), world.Cell(source),
                                     sizeof(uint64_t), kind, world[stream]);
         });
}

void ProgramGenerator::CopyPageable(int thread, Slot stream, const Effect& effect) {
    const int code = model_.Work(thread, stream, effect, true);
    const int cell = effect.cell;
    const uint64_t value = Filled(effect.value);
    Emit(thread, {code}, fmt::format("aclrtMemcpyAsync(cell {}, pageable, #{})", cell, stream),
         [=](World& world) {
             return aclrtMemcpyAsync(world.Cell(cell), sizeof(value), &value, sizeof(value),
                                     ACL_MEMCPY_HOST_TO_DEVICE, world[stream]);
         });
}

aclError World::Launch(aclrtStream stream, std::function<void()> fn) {
    std::function<void()>* kept = nullptr;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        kept = &functions_.emplace_back(std::move(fn));
    }
    return aclrtLaunchHostFunc(
        stream, [](void* args) { (*static_cast<std::function<void()>*>(args))(); }, kept);
}

void World::Complain(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (complaint_.empty()) {
        complaint_ = what;
    }
}

std::string World::Complaint() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return complaint_;
}

World::Gate& World::GateAt(int gate) {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (gates_.size() <= static_cast<size_t>(gate)) {
        gates_.emplace_back();
    }
    return gates_[static_cast<size_t>(gate)];
}

void World::OpenGates() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Gate& gate : gates_) {
        gate.opened.Set();
    }
}

}  // namespace stress
