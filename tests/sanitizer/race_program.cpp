// SPDX-License-Identifier: Apache-2.0
// Makes the random programs, and runs them by the public calls.
#include "race_program.h"

#include <array>
#include <cstdlib>
#include <sstream>
#include <thread>
#include <utility>

#include "device_program.h"
#include "support/random.h"

namespace race {

// What a program has on the device.
class Machine {
 public:
    Machine();
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    // Captures a model, whose tasks have sites from that place on.
    void Capture(const Steps& model, size_t place);
    void Make(const Step& step);

 private:
    void* At(const Range& range) const {
        return static_cast<char*>(buffers_[static_cast<size_t>(range.buffer)]) + range.begin;
    }
    static size_t SizeOf(const Range& range) {
        return static_cast<size_t>(range.end - range.begin);
    }
    void MakeAccess(const Step& step, aclrtStream stream);
    void MakeWait(const Step& step);
    void Renew(int buffer);

    std::array<aclrtStream, kStreams> streams_{};
    std::array<void*, kBuffers> buffers_{};
    std::array<aclrtEvent, kEvents> events_{};
    std::array<aclrtNotify, kNotifies> notifies_{};
    void* words_ = nullptr;
    aclmdlRI model_ = nullptr;
    aclrtStream captured_ = nullptr;  // where an access is captured
};

// A frame of its own for each step, with a name that is exported.
template <size_t N>
__attribute__((noinline)) void Site(Machine* machine, const Step* step) {
    machine->Make(*step);
    __asm__ volatile("");  // no tail call: the frame stays
}

namespace {

using SiteFunction = void (*)(Machine*, const Step*);

template <size_t... N>
std::array<SiteFunction, sizeof...(N)> MakeSites(std::index_sequence<N...>) {
    return {&Site<N>...};
}

const std::array<SiteFunction, size_t{kPrograms}* kSitesOfProgram> kSites =
    MakeSites(std::make_index_sequence<size_t{kPrograms} * kSitesOfProgram>());

}  // namespace

Machine::Machine() {
    for (aclrtStream& stream : streams_) {
        stream = corpus::NewStream();
    }
    for (void*& buffer : buffers_) {
        buffer = corpus::NewMemory(kBufferBytes);
    }
    for (aclrtEvent& event : events_) {
        event = corpus::NewEvent();
    }
    for (aclrtNotify& notify : notifies_) {
        notify = corpus::NewNotify();
    }
    words_ = corpus::NewMemory(kWords * sizeof(uint64_t));
}

void Machine::Capture(const Steps& model, size_t place) {
    const aclrtStream main = corpus::NewStream();
    const aclrtStream branch = corpus::NewStream();
    const aclrtEvent forked = corpus::NewCaptureEvent();
    const aclrtEvent joined = corpus::NewCaptureEvent();
    const auto capture = [&](size_t task, aclrtStream stream) {
        captured_ = stream;
        kSites[place + task](this, &model[task]);
        captured_ = nullptr;
    };
    corpus::Must(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    capture(0, main);
    corpus::Must(aclrtRecordEvent(forked, main));
    corpus::Must(aclrtStreamWaitEvent(branch, forked));
    capture(kBranchTask, branch);
    corpus::Must(aclrtRecordEvent(joined, branch));
    capture(2, main);
    corpus::Must(aclrtStreamWaitEvent(main, joined));
    capture(3, main);
    corpus::Must(aclmdlRICaptureEnd(main, &model_));
    corpus::Must(aclrtDestroyEvent(forked));
    corpus::Must(aclrtDestroyEvent(joined));
    corpus::Must(aclrtDestroyStream(main));
    corpus::Must(aclrtDestroyStream(branch));
}

Machine::~Machine() {
    corpus::Must(aclrtSynchronizeDevice());
    for (size_t i = 0; i < kStreams; ++i) {
        corpus::Must(aclrtDestroyStream(streams_[i]));
    }
    for (size_t i = 0; i < kBuffers; ++i) {
        corpus::Must(aclrtFree(buffers_[i]));
    }
    for (size_t i = 0; i < kEvents; ++i) {
        corpus::Must(aclrtDestroyEvent(events_[i]));
    }
    for (size_t i = 0; i < kNotifies; ++i) {
        corpus::Must(aclrtDestroyNotify(notifies_[i]));
    }
    corpus::Must(aclrtFree(words_));
    if (model_ != nullptr) {
        corpus::Must(aclmdlRIDestroy(model_));
    }
}

void Machine::Renew(int buffer) {
    void*& memory = buffers_[static_cast<size_t>(buffer)];
    corpus::Must(aclrtFree(memory));
    memory = corpus::NewUnwrittenMemory(kBufferBytes);
}

void Machine::MakeAccess(const Step& step, aclrtStream stream) {
    const size_t bytes = SizeOf(step.range);
    std::array<char, kBufferBytes> host{};
    switch (step.call) {
        case Call::kFill:
            return corpus::Must(aclrtMemsetAsync(At(step.range), bytes, 1, bytes, stream));
        case Call::kCopy:
            return corpus::Must(aclrtMemcpyAsync(At(step.range), bytes, At(step.from), bytes,
                                                 ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        case Call::kReduce:
            return corpus::Must(aclrtReduceAsync(At(step.range), At(step.from), bytes,
                                                 ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT8, stream,
                                                 nullptr));
        case Call::kHostWrite:
            return corpus::Must(aclrtMemset(At(step.range), bytes, 2, bytes));
        default:
            return corpus::Must(aclrtMemcpy(host.data(), host.size(), At(step.range), bytes,
                                            ACL_MEMCPY_DEVICE_TO_HOST));
    }
}

void Machine::MakeWait(const Step& step) {
    const aclrtStream stream = streams_[static_cast<size_t>(step.stream)];
    const aclrtEvent event = events_[static_cast<size_t>(step.object) % kEvents];
    const aclrtNotify notify = notifies_[static_cast<size_t>(step.object) % kNotifies];
    uint64_t* const word = static_cast<uint64_t*>(words_) + step.object % kWords;
    aclrtStreamStatus streamStatus = ACL_STREAM_STATUS_NOT_READY;
    aclrtEventRecordedStatus eventStatus = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    switch (step.call) {
        case Call::kRecord:
            return corpus::Must(aclrtRecordEvent(event, stream));
        case Call::kWait:
            return corpus::Must(aclrtStreamWaitEvent(stream, event));
        case Call::kNotify:
            return corpus::Must(aclrtRecordNotify(notify, stream));
        case Call::kWaitNotify:
            return corpus::Must(aclrtWaitAndResetNotify(notify, stream, 0));
        case Call::kWriteValue:
            return corpus::Must(aclrtValueWrite(word, 1, 0, stream));
        case Call::kWaitValue:
            return corpus::Must(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
        case Call::kSyncStream:
            return corpus::Must(aclrtSynchronizeStream(stream));
        case Call::kSyncEvent:
            return corpus::Must(aclrtSynchronizeEvent(event));
        case Call::kAskStream:
            while (streamStatus != ACL_STREAM_STATUS_COMPLETE) {
                corpus::Must(aclrtStreamQuery(stream, &streamStatus));
            }
            return;
        case Call::kAskEvent:
            while (eventStatus != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
                corpus::Must(aclrtQueryEventStatus(event, &eventStatus));
            }
            return;
        default:
            return corpus::Must(aclrtSynchronizeDevice());
    }
}

void Machine::Make(const Step& step) {
    switch (step.call) {
        case Call::kFill:
        case Call::kCopy:
        case Call::kReduce:
        case Call::kHostWrite:
        case Call::kHostRead:
            return MakeAccess(step, captured_ != nullptr
                                        ? captured_
                                        : streams_[static_cast<size_t>(step.stream)]);
        case Call::kRenew:
            return Renew(step.range.buffer);
        case Call::kReplay:
            return corpus::Must(
                aclmdlRIExecuteAsync(model_, streams_[static_cast<size_t>(step.stream)]));
        default:
            return MakeWait(step);
    }
}

namespace {

// Chooses the calls of one program.
class Maker {
 public:
    explicit Maker(uint64_t seed)
        : random_(seed),
          streams_(static_cast<int>(random_.Between(2, kStreams))),
          buffers_(static_cast<int>(random_.Between(1, kBuffers))),
          orderOneIn_(random_.Between(1, 4)) {}

    Program Make() {
        Program program;
        if (random_.OneIn(3)) {
            MakeModel(&program.model);
        }
        const int64_t count = random_.Between(4, kMostSteps);
        while (static_cast<int64_t>(steps_.size()) < count) {
            steps_.push_back(random_.OneIn(orderOneIn_ + 1) ? Order() : Access());
        }
        DropEndlessWaits();
        if (!program.model.empty()) {
            AddReplays();
        }
        program.steps = steps_;
        return program;
    }

 private:
    int Below(int64_t count) { return static_cast<int>(random_.Between(0, count - 1)); }
    // A quarter, a half or the whole of a buffer.
    Range Part(int64_t size) {
        Range range;
        range.buffer = Below(buffers_);
        range.begin = Below(kBufferBytes / size) * static_cast<int>(size);
        range.end = range.begin + static_cast<int>(size);
        return range;
    }
    Step Access() {
        const Call calls[] = {Call::kFill,   Call::kFill,      Call::kCopy,     Call::kCopy,
                              Call::kReduce, Call::kHostWrite, Call::kHostRead, Call::kRenew};
        const int64_t sizes[] = {kBufferBytes / 4, kBufferBytes / 2, kBufferBytes};
        Step step;
        step.call = random_.OneOf(calls);
        step.stream = Below(streams_);
        const int64_t size = random_.OneOf(sizes);
        step.range = Part(size);
        step.from = Part(size);
        step.inThread = random_.OneIn(8);
        if (step.from.buffer == step.range.buffer && step.call == Call::kReduce) {
            step.from = step.range;  // the same range or none of it
        }
        if (step.call == Call::kRenew && !random_.OneIn(3)) {
            step.call = Call::kFill;
        }
        return step;
    }
    Step Order() {
        const Call calls[] = {Call::kRecord,     Call::kRecord,     Call::kWait,
                              Call::kWait,       Call::kWait,       Call::kNotify,
                              Call::kWaitNotify, Call::kWriteValue, Call::kWaitValue,
                              Call::kSyncStream, Call::kSyncEvent,  Call::kSyncDevice,
                              Call::kAskStream,  Call::kAskEvent};
        Step step;
        step.call = random_.OneOf(calls);
        step.stream = Below(streams_);
        step.object = Below(kEvents);
        step.inThread = random_.OneIn(8);
        switch (step.call) {
            case Call::kWait:
            case Call::kAskEvent:
            case Call::kSyncEvent:
                if (!Has(Call::kRecord, step.object)) {
                    step.call = Call::kRecord;
                }
                break;
            case Call::kNotify:
            case Call::kWaitNotify:
                step.object %= kNotifies;
                if (Has(step.call, step.object)) {
                    step.call = Call::kRecord;
                }
                break;
            case Call::kWriteValue:
                step.object %= kWords;
                if (Has(step.call, step.object)) {
                    step.call = Call::kWait;
                    return Has(Call::kRecord, step.object) ? step : Access();
                }
                break;
            case Call::kWaitValue:
                step.object %= kWords;
                break;
            case Call::kSyncDevice:
                step.call = random_.OneIn(2) ? Call::kSyncDevice : Call::kSyncStream;
                break;
            default:
                break;
        }
        return step;
    }
    void MakeModel(Steps* model) {
        while (model->size() < kModelTasks) {
            const Step step = Access();
            if (step.call == Call::kFill || step.call == Call::kCopy) {
                model->push_back(step);
            }
        }
    }
    // Two replays at most: each is several tasks. A model keeps its addresses.
    void AddReplays() {
        for (Step& step : steps_) {
            if (step.call == Call::kRenew) {
                step.call = Call::kFill;
            }
        }
        for (int i = 0; i < 2; ++i) {
            Step& step = steps_[static_cast<size_t>(Below(static_cast<int64_t>(steps_.size())))];
            if (IsAccess(step.call)) {
                step.call = Call::kReplay;
            }
        }
    }
    static bool IsAccess(Call call) {
        return call == Call::kFill || call == Call::kCopy || call == Call::kReduce;
    }
    bool Has(Call call, int object) const {
        for (const Step& step : steps_) {
            if (step.call == call && step.object == object) {
                return true;
            }
        }
        return false;
    }
    // What is never given is not awaited.
    void DropEndlessWaits() {
        for (Step& step : steps_) {
            if ((step.call == Call::kWaitNotify && !Has(Call::kNotify, step.object)) ||
                (step.call == Call::kWaitValue && !Has(Call::kWriteValue, step.object))) {
                step.call = Call::kSyncStream;
            }
        }
    }

    support::Random random_;
    const int streams_;
    const int buffers_;
    const int64_t orderOneIn_;
    Steps steps_;
};

const char* NameOf(Call call) {
    constexpr const char* kNames[] = {
        "fill",       "copy",       "reduce",    "record",     "wait",      "notify",
        "waitNotify", "writeValue", "waitValue", "syncStream", "syncEvent", "syncDevice",
        "askStream",  "askEvent",   "hostWrite", "hostRead",   "renew",     "replay"};
    return kNames[static_cast<size_t>(call)];
}

std::string TextOf(const Range& range) {
    return " b" + std::to_string(range.buffer) + "[" + std::to_string(range.begin) + "," +
           std::to_string(range.end) + ")";
}

}  // namespace

Program MakeProgram(uint64_t seed) { return Maker(seed).Make(); }

std::string TextOf(const Program& program) {
    std::ostringstream text;
    const auto add = [&](const char* place, const Steps& steps) {
        for (size_t i = 0; i < steps.size(); ++i) {
            text << "  " << place << i << ": " << NameOf(steps[i].call) << " stream "
                 << steps[i].stream << " object " << steps[i].object << TextOf(steps[i].range)
                 << " from" << TextOf(steps[i].from) << (steps[i].inThread ? " in a thread" : "")
                 << "\n";
        }
    };
    add("model ", program.model);
    add("", program.steps);
    return text.str();
}

int RunPrograms(const std::string& seeds) {
    std::istringstream text(seeds);
    uint64_t first = 0;
    corpus::Must(aclInit(nullptr));
    corpus::Must(aclrtSetDevice(0));
    text >> first;
    for (uint64_t seed = 0; text >> seed;) {
        const Program program = MakeProgram(seed);
        const Steps& steps = program.steps;
        const size_t place = (seed - first) * kSitesOfProgram;
        Machine machine;
        if (!program.model.empty()) {
            machine.Capture(program.model, place + kMostSteps);
        }
        for (size_t i = 0; i < steps.size(); ++i) {
            const SiteFunction site = kSites[place + i];
            if (steps[i].inThread) {
                std::thread([&] {
                    corpus::Must(aclrtSetDevice(0));
                    site(&machine, &steps[i]);
                }).join();
            } else {
                site(&machine, &steps[i]);
            }
        }
    }
    corpus::Must(aclrtResetDeviceForce(0));
    corpus::Must(aclFinalize());
    return 0;
}

int SiteIn(const std::string& text) {
    const size_t at = text.find("Site<");
    return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + 5);
}

}  // namespace race
