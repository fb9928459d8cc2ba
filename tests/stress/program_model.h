// SPDX-License-Identifier: Apache-2.0
// A sequential model of the runtime: what a program of calls returns and leaves in memory.
//
// Work takes effect in the model when it is queued. That is right because a program only queues
// work that must run after everything it touches has been touched: the order of the calls is then
// one of the permitted orders, and all permitted orders end alike. What runs before what is kept in
// clocks, which also tell what has ended (a synchronisation covers it) and what cannot have begun
// (something before it is held).
//
// Every function that stands for a call returns the code the call must return, and changes the
// model only if that is 0. Who calls them keeps off calls with no single answer: a race between
// cells, a wait that nothing ends.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "stress/program_order.h"

namespace stress {

// A handle of the program, by number. 0 is null.
using Slot = int;
constexpr Slot kNull = 0;
constexpr Slot kPrimary = 1;         // the primary context
constexpr Slot kPrimaryDefault = 2;  // and its default stream
constexpr Slot kForeign = 3;         // the address of something else
constexpr Slot kNonsense = 4;        // a number that was never a handle
constexpr Slot kFirstFree = 5;

constexpr int kThreads = 3;
constexpr int kDeviceCells = 12;  // the cells behind them are pinned host memory
constexpr int kCells = 20;
constexpr int kWords = 4;  // that streams write and wait for

// What a piece of work does to the cells.
struct Effect {
    enum class Kind { kNothing, kMix, kFill, kCopy, kThrow };
    Kind kind = Kind::kNothing;
    int cell = 0;    // that is written
    int source = 0;  // of a copy
    uint64_t value = 0;

    bool Writes() const { return kind != Kind::kNothing && kind != Kind::kThrow; }
    bool Reads() const { return kind == Kind::kCopy; }
};

// value * 31 + id does not commute, so a cell shows the order of all that was done to it.
inline uint64_t Mix(uint64_t value, uint64_t id) { return value * 31 + id; }
inline uint64_t Filled(uint64_t byte) { return (byte & 0xff) * 0x0101010101010101ULL; }

struct ModelThread {
    Slot context = kNull;
    int mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    int lastError = 0;
};

struct ModelContext {
    Slot defaultStream = kNull;
    bool stops = false;  // failure mode
    bool alive = true;
};

struct ModelStream {
    Slot slot = kNull;
    Slot context = kNull;
    int lane = 0;
    uint32_t issued = 0;
    Clock clock;
    std::vector<uint32_t> failures;  // counts at which untold ones happened
    bool modeSet = false;
    bool skips = false;    // stands behind a failure that stops it: work is taken and skipped
    bool refuses = false;  // has stopped: work is refused
    bool alive = true;
    int capture = -1;
    int branch = 0;
};

enum class EventKind { kPlain, kWithFlag, kExWithFlag };

struct ModelEvent {
    EventKind kind = EventKind::kPlain;
    bool timing = true;
    bool waitable = true;
    bool alive = true;
    bool recorded = false;
    Slot stream = kNull;  // of the record
    Place place;
    Clock clock;
    bool reset = false;
    Place resetPlace;
    int capture = -1;  // recorded in it
    Place capturePlace;
    Clock captureClock;
};

struct ModelNotify {
    bool alive = true;
    bool set = false;
    bool reserved = false;  // a wait is queued, or a graph has it
    Clock clock;            // of the record
    Place taken;            // the last wait
};

struct ModelWord {
    uint64_t value = 0;
    Clock clock;  // of the last write
    Accesses accesses;
};

struct ModelCapture {
    Slot stream = kNull;
    Slot context = kNull;
    Slot model = kNull;
    int thread = 0;
    int mode = 0;
    bool over = false;
    bool invalidated = false;

    /// What a stream in it answers to calls that cannot be recorded.
    int Refusal() const {
        return invalidated ? ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED : ACL_ERROR_RT_STREAM_CAPTURED;
    }
    std::vector<uint32_t> lengths;  // of the branches
    std::vector<Clock> clocks;
    std::vector<bool> groupOpen;
    std::vector<Slot> streams;
    std::array<Accesses, kCells> cells;
    std::vector<Effect> effects;
    std::vector<Slot> notifies;
    std::vector<Slot> blocks;
};

struct ModelGraph {
    Slot context = kNull;
    bool alive = true;
    bool captured = true;  // still
    std::vector<Effect> effects;
    std::vector<Slot> notifies;  // that replays need
    std::vector<Slot> blocks;    // memory that replays need
    Place end;                   // of the last replay
    Clock endClock;
    int lane = -1;  // of aclmdlRIExecute
    uint32_t executed = 0;
};

struct ModelGroup {
    Slot model = kNull;
};

// Something that keeps a stream from going on: a host function at a gate, a wait for a notify.
struct ModelHold {
    Place place;
    bool open = false;
    Slot notify = kNull;  // null: a gate
    int gate = 0;
};

class ProgramModel {
 public:
    ProgramModel();

    // program_model.cpp: contexts, streams, work.
    int CheckContext(int thread) const;
    // The stream that a call means: its slot, or that of the default stream. Codes of every call.
    int FindStream(int thread, Slot slot, Slot* found) const;
    // The same and the context, which calls check later than other handles.
    int UseStream(int thread, Slot slot, ModelStream** stream);
    // Finds the stream, and then the object in `slot` by its own find function.
    int FindWithStream(int thread, Slot slot, Slot streamSlot,
                       int (ProgramModel::*find)(Slot) const) const;

    int CreateContext(int thread, Slot context, Slot defaultStream);
    int SetContext(int thread, Slot context);
    int DestroyContext(int thread, Slot context);
    int CreateStream(int thread, Slot stream);
    int DestroyStream(int thread, Slot stream, bool synchronises = true);
    int SetFailureMode(int thread, Slot stream, uint64_t mode);
    int CheckFree(int thread, Slot stream);  // query, abort, timed synchronisation that expires
    int SynchronizeStream(int thread, Slot stream);
    int SynchronizeDevice(int thread);
    int Work(int thread, Slot stream, const Effect& effect, bool pageable = false);
    int ActNow(int thread) const;  // copies and fills outside streams
    void HostWrite(int cell, uint64_t value);

    // program_model_sync.cpp: events, notifies, words.
    void CreateEvent(Slot event, EventKind kind, uint32_t flag);
    int FindEvent(Slot event) const;
    int DestroyEvent(Slot event);
    int Record(int thread, Slot event, Slot stream);
    int Reset(int thread, Slot event, Slot stream);
    int Wait(int thread, Slot stream, Slot event);
    int ReadEvent(Slot event) const;  // codes that all queries have
    int SynchronizeEvent(Slot event, bool* perhapsTold);
    bool CertainlyComplete(const ModelEvent& event) const;
    bool CertainlyPending(const ModelEvent& event) const;
    bool CountsAsRecorded(const ModelEvent& event, bool* certain) const;
    int FindNotify(Slot notify) const;
    int EnterWithNotify(int thread, Slot slot, Slot streamSlot,
                        const std::function<void(ModelStream*)>& queued);
    int RecordNotify(int thread, Slot notify, Slot stream);
    int WaitNotify(int thread, Slot notify, Slot stream);
    int WriteWord(int thread, int word, uint64_t value, Slot stream);
    int WaitWord(int thread, int word, uint64_t value, uint32_t flag, Slot stream);

    // program_model_capture.cpp.
    int Begin(int thread, Slot stream, int mode, Slot model);
    int End(int thread, Slot stream);
    int BeginGroup(int thread, Slot stream);
    int EndGroup(int thread, Slot stream, Slot group);
    int Forbidden(int thread, int code) const;
    int FindModel(Slot model) const;
    int Replay(int thread, Slot model, Slot stream);
    int Execute(int thread, Slot model);
    int DestroyModel(Slot model);  // not while it is unknown whether it runs
    ModelCapture* CaptureOf(const ModelStream& stream);
    int UseCapture(int thread, Slot slot, ModelStream** stream, ModelCapture** capture);
    // The same, and the branch of the stream, whose task group must be open or not.
    int UseGroup(int thread, Slot slot, bool open, ModelCapture** capture, size_t* branch);

    // Order.
    Clock Now(const ModelStream& stream) const;  // what its next work comes after
    bool Blocked(const Clock& clock) const;
    bool Blocked(const ModelStream& stream) const { return Blocked(Now(stream)); }
    ModelHold* HoldOf(const Clock& clock);
    Place Conflict(const ModelStream& stream, const Effect& effect);
    Place ConflictOfReplay(const ModelGraph& graph, const Clock& clock) const;
    Slot StreamOfLane(int lane) const;
    void Covered(const Clock& clock) { host.Join(clock); }

    int LaneCount() const { return lanes_; }
    int NewLane() { return lanes_++; }

    std::array<ModelThread, kThreads> threads;
    std::map<Slot, ModelContext> contexts;
    std::map<Slot, ModelStream> streams;
    std::map<Slot, ModelEvent> events;
    std::map<Slot, ModelNotify> notifies;
    std::map<Slot, ModelGraph> graphs;
    std::map<Slot, ModelGroup> groups;
    std::map<Slot, bool> blocks;  // scratch memory: whether it is there
    std::vector<ModelCapture> captures;
    std::vector<ModelHold> holds;
    std::array<uint64_t, kCells> cells{};
    std::array<Accesses, kCells> accesses;
    std::array<ModelWord, kWords> words;
    Clock host;  // what a synchronisation has covered

 private:
    // What an ordinary piece of work meets at its stream; 0: it is queued, unless *recording.
    int Enter(int thread, Slot stream, int refusalInCapture, bool launch, ModelStream** found,
              ModelCapture** recording);
    Place Queue(ModelStream* stream);
    void Apply(const Effect& effect, const Place& place);
    int RecordInCapture(ModelCapture* capture, int branch, const Effect& effect);

    int lanes_ = 0;
};

}  // namespace stress
