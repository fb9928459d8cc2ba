// SPDX-License-Identifier: Apache-2.0
// Makes random programs: which call comes next is chosen here, what it must return the model says.
//
// The calls of a program with one seed begin alike whatever their limit, so a failing program is
// shortened by a lower limit.

#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "stress/program.h"
#include "stress/program_model.h"

namespace stress {

struct ProgramOptions {
    uint64_t seed = 0;
    size_t limit = 600;     // calls, after which the program is brought to its end
    bool parallel = false;  // other programs run beside it
    // Makes the choices in the place of the seed; the program is brought to its end after the last.
    const std::vector<uint8_t>* choices = nullptr;
};

Program GenerateProgram(const ProgramOptions& options);

class ProgramGenerator {
 public:
    explicit ProgramGenerator(const ProgramOptions& options);
    Program Generate();

 private:
    using Codes = std::vector<int>;
    using Run = std::function<int(World&)>;
    struct Action {
        int weight;
        void (ProgramGenerator::*act)();
    };

    // program_generator.cpp: choices, and how calls get into the program.
    int Random(int count);
    bool Chance(int percent);
    int AnyThread();
    Slot NewSlot() { return program_.slots++; }
    template <typename Table, typename Accept>
    Slot Pick(const Table& table, Accept&& accept);
    Slot AnyStream();                 // alive
    Slot EnterAnyStream(int thread);  // with its context
    Slot AnyFreeStream();             // and in no capture
    Slot AnyEvent();
    // Calls use() with it, if there is one.
    template <class Use>
    void WithAnyEvent(const Use& use) {
        if (const Slot event = AnyEvent(); event != kNull) {
            use(event);
        }
    }
    Slot BadHandle(Slot wrongKind);
    Slot NullForDefault(Slot stream);
    void Emit(int thread, const Codes& codes, std::string text, Run run);
    void EmitCheck();
    // Makes the stream's context current in the thread; mostly.
    void EnterContextOf(int thread, Slot stream, bool always = true);
    void Release(const Clock& clock);
    void OpenHold(ModelHold* hold);
    // Makes what the stream does next come after the place, or says that it cannot.
    bool Order(int thread, Slot stream, const Place& place);
    bool OrderFor(int thread, Slot stream, const Effect& effect);
    void Finish();

    // program_calls*.cpp: one call each, with what the model says.
    void Record(int thread, Slot event, Slot stream);
    void Wait(int thread, Slot stream, Slot event);
    void Reset(int thread, Slot event, Slot stream);
    void DestroyEvent(int thread, Slot event);
    void RecordNotify(int thread, Slot notify, Slot stream);
    void WaitNotify(int thread, Slot notify, Slot stream);
    void DestroyNotify(int thread, Slot notify);
    void WriteWord(int thread, int word, uint64_t value, Slot stream);
    void WaitWord(int thread, int word, uint64_t value, uint32_t flag, Slot stream);
    void Launch(int thread, Slot stream, const Effect& effect);
    void Fill(int thread, Slot stream, const Effect& effect);
    void Copy(int thread, Slot stream, const Effect& effect);
    void CopyPageable(int thread, Slot stream, const Effect& effect);
    void SynchronizeStream(int thread, Slot stream);
    void SynchronizeEvent(int thread, Slot event);
    void SynchronizeDevice(int thread);
    void QueryStream(int thread, Slot stream);
    void QueryEvent(int thread, Slot event);
    void ElapsedTime(int thread, Slot first, Slot second);
    void SetContext(int thread, Slot context);
    void DestroyContext(int thread, Slot context);
    void DestroyStream(int thread, Slot stream);
    void SetFailureMode(int thread, Slot stream, uint64_t mode);
    void Begin(int thread, Slot stream, int mode);
    void End(int thread, Slot stream);
    void CaptureInfo(int thread, Slot stream);
    void BeginGroup(int thread, Slot stream);
    void EndGroup(int thread, Slot stream);
    void Replay(int thread, Slot model, Slot stream);
    void Execute(int thread, Slot model);
    void DestroyModel(int thread, Slot model);
    Slot CreateStream(int thread);
    Slot CreateEvent(int thread, EventKind kind, uint32_t flag);

    // program_actions*.cpp: what a program does next.
    void ActOnCells();
    void ActOnWord();
    void ActOnNotify();
    void ActOnEvent();
    void MakeEvents();
    void MakeStreams();
    void MakeContexts();
    void ActOnContexts();
    void HoldStream();
    void OpenSomeHold();
    void Synchronize();
    void Ask();
    void FailTask();
    void ActNow();
    void ActOnCapture();
    void ActOnModel();
    void UseScratchMemory();
    void UseDevice();
    void ProbeInside();

    // program_scenarios.cpp: several calls that belong together.
    void StopOnFailure();
    void DropBehindHold();
    void DropAnywhere();
    // The object is gone if the call that destroys it returns 0.
    void Bury(int code, Slot slot) {
        if (code == 0) {
            deadSlots_.push_back(slot);
        }
    }
    // Queues a host function that waits for the next gate, whose number it returns.
    int HoldAtGate(int thread, Slot slot);
    // Has another stream wait for what the stream was given, and drops that. Returns the other.
    Slot DropBeforeWaiter(int thread, Slot slot, Slot event);
    void ReportCallbacks();
    void UpdateEmptyGroup();
    void LoseWhatWasCaptured();

    // program_illegal.cpp.
    void Illegal();
    void BadHandles();
    void BadValues();
    void BadWhileCapturing();

    Effect AnyEffect(bool pageable = false);
    Slot JoinAll(int thread, int capture);

    const ProgramOptions options_;
    std::mt19937_64 random_;
    size_t chosen_ = 0;  // of options_.choices
    Program program_;
    ProgramModel model_;
    int gates_ = 0;
    uint64_t nextId_ = 1;
    int deviceUses_ = 1;
    std::vector<Slot> deadSlots_;
};

template <typename Table, typename Accept>
Slot ProgramGenerator::Pick(const Table& table, Accept&& accept) {
    std::vector<Slot> found;
    for (const auto& [slot, entry] : table) {
        if (accept(entry)) {
            found.push_back(slot);
        }
    }
    return found.empty() ? kNull
                         : found[static_cast<size_t>(Random(static_cast<int>(found.size())))];
}

}  // namespace stress
