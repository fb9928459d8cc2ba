// SPDX-License-Identifier: Apache-2.0
// Implements the generator: chances, choices of objects, and the sequence of calls.

#include "stress/program_generator.h"

#include <fmt/core.h>

#include <algorithm>

namespace stress {

Program GenerateProgram(const ProgramOptions& options) {
    return ProgramGenerator(options).Generate();
}

ProgramGenerator::ProgramGenerator(const ProgramOptions& options)
    : options_(options), random_(options.seed) {
    program_.seed = options.seed;
    program_.parallel = options.parallel;
}

Program ProgramGenerator::Generate() {
    static const Action kActions[] = {
        {30, &ProgramGenerator::ActOnCells},
        {5, &ProgramGenerator::ActOnWord},
        {5, &ProgramGenerator::ActOnNotify},
        {10, &ProgramGenerator::ActOnEvent},
        {5, &ProgramGenerator::MakeEvents},
        {4, &ProgramGenerator::MakeStreams},
        {1, &ProgramGenerator::MakeContexts},
        {4, &ProgramGenerator::ActOnContexts},
        {3, &ProgramGenerator::HoldStream},
        {3, &ProgramGenerator::OpenSomeHold},
        {6, &ProgramGenerator::Synchronize},
        {8, &ProgramGenerator::Ask},
        {2, &ProgramGenerator::FailTask},
        {3, &ProgramGenerator::ActNow},
        {12, &ProgramGenerator::ActOnCapture},
        {8, &ProgramGenerator::ActOnModel},
        {2, &ProgramGenerator::UseScratchMemory},
        {1, &ProgramGenerator::UseDevice},
        {2, &ProgramGenerator::ProbeInside},
        {1, &ProgramGenerator::StopOnFailure},
        {1, &ProgramGenerator::DropBehindHold},
        {1, &ProgramGenerator::DropAnywhere},
        {1, &ProgramGenerator::ReportCallbacks},
        {1, &ProgramGenerator::UpdateEmptyGroup},
        {1, &ProgramGenerator::LoseWhatWasCaptured},
        {30, &ProgramGenerator::Illegal},
    };
    int total = 0;
    for (const Action& action : kActions) {
        total += action.weight;
    }
    if (options_.parallel) {
        // Captures of other programs are none of this one's business.
        for (int thread = 0; thread < kThreads; ++thread) {
            model_.threads[static_cast<size_t>(thread)].mode =
                ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
            Emit(thread, {0}, "aclmdlRICaptureThreadExchangeMode(THREAD_LOCAL)", [](World&) {
                aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
                return aclmdlRICaptureThreadExchangeMode(&mode);
            });
        }
    }
    const auto isChoiceLeft = [this] {
        return options_.choices == nullptr || chosen_ < options_.choices->size();
    };
    while (program_.calls.size() < options_.limit && isChoiceLeft()) {
        int chosen = Random(total);
        const Action* action = kActions;
        while (chosen >= action->weight) {
            chosen -= action->weight;
            ++action;
        }
        (this->*action->act)();
    }
    Finish();
    return std::move(program_);
}

int ProgramGenerator::Random(int count) {
    if (options_.choices != nullptr && chosen_ < options_.choices->size()) {
        return (*options_.choices)[chosen_++] % count;  // the first 256 are enough
    }
    return static_cast<int>(random_() % static_cast<uint64_t>(count));
}

bool ProgramGenerator::Chance(int percent) { return Random(100) < percent; }

int ProgramGenerator::AnyThread() { return Chance(85) ? 0 : 1 + Random(kThreads - 1); }

Slot ProgramGenerator::AnyStream() {
    return Pick(model_.streams, [](const ModelStream& stream) { return stream.alive; });
}

Slot ProgramGenerator::AnyFreeStream() {
    return Pick(model_.streams, [&](const ModelStream& stream) {
        return stream.alive && model_.CaptureOf(stream) == nullptr;
    });
}

Slot ProgramGenerator::AnyEvent() {
    return Pick(model_.events, [](const ModelEvent& event) { return event.alive; });
}

Slot ProgramGenerator::BadHandle(Slot wrongKind) {
    switch (Random(6)) {
        case 0:
            return kForeign;
        case 1:
            return kNonsense;
        case 2:
            return wrongKind;
        case 3:
            return kNull;
        default:
            return deadSlots_.empty() ? kNonsense
                                      : deadSlots_[static_cast<size_t>(
                                            Random(static_cast<int>(deadSlots_.size())))];
    }
}

Slot ProgramGenerator::NullForDefault(Slot slot) {
    const ModelStream& stream = model_.streams.at(slot);
    const bool isDefault = model_.contexts.at(stream.context).defaultStream == slot;
    return isDefault && Chance(50) ? kNull : slot;
}

void ProgramGenerator::Emit(int thread, const Codes& codes, std::string text, Run run) {
    int& lastError = model_.threads[static_cast<size_t>(thread)].lastError;
    if (codes.size() > 1) {
        lastError = -1;  // unknown
    } else if (codes[0] != 0) {
        lastError = codes[0];
    }
    program_.calls.push_back({thread, std::move(text), codes, std::move(run)});
}

void ProgramGenerator::EmitCheck() {
    struct Expected {
        int index;
        bool word;
        uint64_t value;
    };
    std::vector<Expected> expected;
    for (int cell = 0; cell < kCells; ++cell) {
        if (model_.host.Covers(model_.accesses[static_cast<size_t>(cell)].write)) {
            expected.push_back({cell, false, model_.cells[static_cast<size_t>(cell)]});
        }
    }
    for (int word = 0; word < kWords; ++word) {
        const ModelWord& entry = model_.words[static_cast<size_t>(word)];
        if (model_.host.Covers(entry.accesses.write)) {
            expected.push_back({word, true, entry.value});
        }
    }
    program_.calls.push_back(
        {0, "look at the cells", {0}, [expected](World& world) {
             for (const Expected& one : expected) {
                 const uint64_t found =
                     one.word ? __atomic_load_n(world.Word(one.index), __ATOMIC_ACQUIRE)
                              : *world.Cell(one.index);
                 if (found != one.value) {
                     world.Complain(fmt::format("{} {} holds {:#x}; expected {:#x}",
                                                one.word ? "word" : "cell", one.index, found,
                                                one.value));
                 }
             }
             return 0;
         }});
}

void ProgramGenerator::EnterContextOf(int thread, Slot stream, bool always) {
    const Slot context = model_.streams.at(stream).context;
    if (model_.threads[static_cast<size_t>(thread)].context != context && (always || Chance(93))) {
        SetContext(thread, context);
    }
}

void ProgramGenerator::Finish() {
    while (true) {
        const auto hold = std::find_if(model_.holds.begin(), model_.holds.end(),
                                       [](const ModelHold& entry) { return !entry.open; });
        if (hold == model_.holds.end()) {
            break;
        }
        OpenHold(&*hold);
    }
    SetContext(0, kPrimary);
    for (size_t index = 0; index < model_.captures.size(); ++index) {
        if (!model_.captures[index].over) {
            (void)JoinAll(0, static_cast<int>(index));
        }
    }
    while (Slot event = AnyEvent()) {
        DestroyEvent(0, event);
    }
    while (Slot notify =
               Pick(model_.notifies, [](const ModelNotify& entry) { return entry.alive; })) {
        DestroyNotify(0, notify);
    }
    for (Slot left = 1; left != kNull;) {
        SetContext(0, kPrimary);
        size_t failures = 0;
        for (const auto& [slot, stream] : model_.streams) {
            failures += stream.alive && !stream.failures.empty() ? 1 : 0;
        }
        left = failures > 0 ? 1 : kNull;
        SynchronizeDevice(0);
    }
    EmitCheck();
    for (const auto& [slot, graph] : std::map<Slot, ModelGraph>(model_.graphs)) {
        if (graph.alive) {
            DestroyModel(0, slot);
        }
    }
    for (const auto& [slot, stream] : std::map<Slot, ModelStream>(model_.streams)) {
        if (stream.alive && model_.contexts.at(stream.context).defaultStream != slot) {
            EnterContextOf(0, slot);
            DestroyStream(0, slot);
        }
    }
    for (const auto& [slot, context] : std::map<Slot, ModelContext>(model_.contexts)) {
        if (context.alive && slot != kPrimary) {
            DestroyContext(0, slot);
        }
    }
    SetContext(0, kPrimary);
    for (const auto& [slot, there] : std::map<Slot, bool>(model_.blocks)) {
        if (there) {
            Emit(0, {0}, fmt::format("aclrtFree(#{})", slot),
                 [slot = slot](World& world) { return aclrtFree(world[slot]); });
        }
    }
    for (; deviceUses_ > 1; --deviceUses_) {
        Emit(0, {0}, "aclrtResetDevice(own)",
             [](World& world) { return aclrtResetDevice(world.device); });
    }
}

}  // namespace stress
