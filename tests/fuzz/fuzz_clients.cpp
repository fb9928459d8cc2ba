// SPDX-License-Identifier: Apache-2.0
// Calls of clients that no model follows: conditional tasks, flags of events, stops, keys of other
// processes, operators by name. Any handle, number or key: an answer at once, with a message if it
// is an error, and no output then; and after an abort everything can be destroyed.
#include <cstring>
#include <iterator>
#include <vector>

#include "fuzz/client_graphs.h"

namespace {

constexpr int kMostCalls = 120;

class Clients : ClientGraphs {
 public:
    explicit Clients(FuzzInput input) : ClientGraphs(input) {}

    void Run() {
        using Step = void (Clients::*)();
        static constexpr Step kSteps[] = {
            &Clients::Graph,         &Clients::Graph,        &Clients::BeginCapture,
            &Clients::EndCapture,    &Clients::BeginPart,    &Clients::MakeVariable,
            &Clients::AddTask,       &Clients::ReadVariable, &Clients::Replay,
            &Clients::Execute,       &Clients::DestroyModel, &Clients::Work,
            &Clients::MakeEvent,     &Clients::RecordEvent,  &Clients::WaitEvent,
            &Clients::Stop,          &Clients::Abort,        &Clients::Synchronize,
            &Clients::DestroyStream, &Clients::ExportBlock,  &Clients::ImportBlock,
            &Clients::Shareable,     &Clients::SharedEvent,  &Clients::Notify,
            &Clients::Option,        &Clients::Attribute,    &Clients::Operator};
        for (int call = 0; call < kMostCalls && !in_.IsOver(); ++call) {
            (this->*kSteps[in_.Byte() % std::size(kSteps)])();
        }
    }

 private:
    void Work() { (void)CALL(aclrtMemsetAsync, block_, kBlock, 1, in_.Byte(), Pick(streams_)); }

    void MakeEvent() {
        void* made = Fresh();
        const auto flag = static_cast<uint32_t>(in_.Byte() % 4 == 0   ? in_.Value(64)
                                                : in_.Byte() % 2 != 0 ? ACL_EVENT_SYNC
                                                                      : ACL_EVENT_IPC);
        Keep(CALL(aclrtCreateEventExWithFlag, &made, flag), made, events_);
    }
    void RecordEvent() {
        (void)CALL(aclrtRecordEventWithFlag, Pick(events_), Pick(streams_),
                   static_cast<uint32_t>(in_.Value(1)));
    }
    void WaitEvent() {
        (void)CALL(aclrtStreamWaitEventWithFlag, Pick(streams_), Pick(events_), 1,
                   static_cast<uint32_t>(in_.Value(1)));
    }
    void Stop() { (void)CALL(aclrtStreamStop, Pick(streams_)); }
    void Abort() { (void)CALL(aclrtStreamAbort, Pick(streams_)); }
    void Synchronize() { (void)CALL(aclrtSynchronizeStreamWithTimeout, Pick(streams_), 1); }
    void DestroyStream() {
        void*& slot = Slot(streams_);
        (void)CALL(aclrtDestroyStreamForce, in_.Byte() % 4 == 0 ? Pick(streams_) : slot);
        void* made = Fresh();
        if (CALL(aclrtCreateStream, &made) == ACL_SUCCESS) {
            slot = made;
        }
    }

    void ExportBlock() {
        char key[80] = {};
        const auto length = static_cast<size_t>(in_.In(60, 80));
        const bool aside = in_.Byte() == 0;
        if (CALL(aclrtIpcMemGetExportKey, static_cast<char*>(block_) + (aside ? 64 : 0), kBlock / 2,
                 key, length, static_cast<uint64_t>(in_.Value(1))) == ACL_SUCCESS) {
            key_ = key;
        } else {
            FUZZ_REQUIRE(key[0] == 0);
        }
    }
    void ImportBlock() {
        const std::string key = Spoilt(key_);
        auto pid = static_cast<int32_t>(in_.Value(1 << 20));
        void* made = Fresh();
        switch (in_.Byte() % 3) {
            case 0:
                if (CALL(aclrtIpcMemImportByKey, &made, key.c_str(),
                         static_cast<uint64_t>(in_.Value(1))) != ACL_SUCCESS) {
                    FUZZ_REQUIRE(made == kUntouched);
                } else {
                    (void)CALL(aclrtMemset, made, kBlock / 2, 3, kBlock / 2);
                }
                break;
            case 1:
                (void)CALL(aclrtIpcMemClose, key.c_str());
                break;
            default:
                (void)CALL(aclrtIpcMemSetImportPid, key.c_str(), &pid, in_.Byte() % 2);
                break;
        }
    }
    void Shareable() {
        aclrtPhysicalMemProp prop{};
        prop.memAttr = ACL_HBM_MEM_NORMAL;
        prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
        void* memory = nullptr;
        uint64_t handle = static_cast<uint64_t>(in_.Value(1 << 20));
        if (aclrtMallocPhysical(&memory, size_t{2} << 20, &prop, 0) == ACL_SUCCESS) {
            (void)CALL(aclrtMemExportToShareableHandle, memory, ACL_MEM_HANDLE_TYPE_NONE,
                       static_cast<uint64_t>(in_.Value(1)), &handle);
        }
        uint8_t bytes[sizeof(aclrtMemFabricHandle)] = {};
        std::memcpy(bytes, &handle, sizeof(handle));
        for (int changes = in_.Byte() % 3; changes > 0; --changes) {
            bytes[in_.Byte() % (in_.Byte() % 2 != 0 ? 8 : sizeof(bytes))] = in_.Byte();
        }
        auto pid = static_cast<int32_t>(in_.Value(1 << 20));
        const auto type = static_cast<aclrtMemSharedHandleType>(in_.Value(2));
        void* made = Fresh();
        int code = ACL_SUCCESS;
        switch (in_.Byte() % 3) {
            case 0:
                std::memcpy(&handle, bytes, sizeof(handle));
                code = CALL(aclrtMemImportFromShareableHandle, handle,
                            static_cast<int32_t>(in_.Value(1)), &made);
                break;
            case 1:
                code = CALL(aclrtMemImportFromShareableHandleV2, bytes, type,
                            static_cast<uint64_t>(in_.Value(1)), &made);
                break;
            default:
                code = CALL(aclrtMemSetPidToShareableHandleV2, bytes, type, &pid, in_.Byte() % 2);
                break;
        }
        FUZZ_REQUIRE(code == ACL_SUCCESS || made == kUntouched);
        if (memory != nullptr) {
            FUZZ_REQUIRE(aclrtFreePhysical(memory) == ACL_SUCCESS);
        }
    }
    void SharedEvent() {
        aclrtIpcEventHandle handle{};
        (void)CALL(aclrtIpcGetEventHandle, Pick(events_), &handle);
        for (int changes = in_.Byte() % 3; changes > 0; --changes) {
            handle.reserved[in_.Byte() % sizeof(handle.reserved)] = static_cast<char>(in_.Byte());
        }
        void* made = Fresh();
        Keep(CALL(aclrtIpcOpenEventHandle, handle, &made), made, events_);
    }
    void Notify() {
        aclrtNotify notify = nullptr;
        char key[65] = {};
        FUZZ_REQUIRE(aclrtCreateNotify(&notify, 0) == ACL_SUCCESS);
        (void)CALL(aclrtNotifyGetExportKey, notify, key, sizeof(key),
                   static_cast<uint64_t>(in_.Value(2)));
        void* made = Fresh();
        if (CALL(aclrtNotifyImportByKey, &made, Spoilt(key).c_str(),
                 static_cast<uint64_t>(in_.Value(3))) == ACL_SUCCESS) {
            FUZZ_REQUIRE(aclrtDestroyNotify(made) == ACL_SUCCESS);
        } else {
            FUZZ_REQUIRE(made == kUntouched);
        }
        FUZZ_REQUIRE(aclrtDestroyNotify(notify) == ACL_SUCCESS);
    }

    void Option() {
        const auto option = static_cast<aclCompileOpt>(in_.Value(16));
        const std::string text = Text();
        const bool set = CALL(aclSetCompileopt, option, text.c_str()) == ACL_SUCCESS;
        const size_t size = aclGetCompileoptSize(option);
        FUZZ_REQUIRE((size == text.size() + 1) == set && (size != 0) == set);
        std::vector<char> value(size + 1, 'x');
        if (CALL(aclGetCompileopt, option, value.data(), size) == ACL_SUCCESS) {
            FUZZ_REQUIRE(text == value.data());
        }
        FUZZ_REQUIRE(value.back() == 'x');
        (void)CALL(aclopSetCompileFlag, static_cast<aclOpCompileFlag>(in_.Value(1)));
    }
    void Attribute() {
        void*& slot = Slot(attributes_);
        if (slot == nullptr) {
            slot = aclopCreateAttr();
            FUZZ_REQUIRE(slot != nullptr);
        }
        auto* const attribute = static_cast<aclopAttr*>(in_.Byte() == 0 ? nullptr : slot);
        const std::string name = Text();
        const int64_t numbers[] = {in_.Value(9), in_.Value(9)};
        const int count = static_cast<int>(in_.In(-1, 2));
        const int64_t* const lists[] = {numbers, numbers};
        const int counts[] = {static_cast<int>(in_.In(-1, 2)), 1};
        switch (in_.Byte() % 4) {
            case 0:
                (void)CALL(aclopSetAttrInt, attribute, name.c_str(), numbers[0]);
                break;
            case 1:
                (void)CALL(aclopSetAttrString, attribute, name.c_str(), Text().c_str());
                break;
            case 2:
                (void)CALL(aclopSetAttrListInt, attribute, name.c_str(), count, numbers);
                break;
            default:
                (void)CALL(aclopSetAttrListListInt, attribute, name.c_str(), count, counts, lists);
                break;
        }
    }
    void Operator() {
        const std::string name = Text();
        const int code =
            CALL(aclopCompileAndExecute, name.c_str(), static_cast<int>(in_.In(-1, 0)), nullptr,
                 nullptr, 0, nullptr, nullptr, static_cast<aclopAttr*>(Slot(attributes_)),
                 ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, Pick(streams_));
        FUZZ_REQUIRE(code == ACL_ERROR_API_NOT_SUPPORT || code == ACL_ERROR_INVALID_PARAM);
    }
};

}  // namespace

extern "C" int fuzz_clients(const uint8_t* bytes, size_t size) {
    UseMachine("Ascend910B1", "standard");
    Clients(FuzzInput(bytes, size)).Run();
    FUZZ_REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
    return 0;
}
