// SPDX-License-Identifier: Apache-2.0
// Registers operators, and keeps their libraries loaded.

#include "src/aclnn/operator_registry.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

#include "aclnn/acl_meta.h"
#include "src/base/log.h"

namespace advstep {

namespace {

constexpr std::string_view kCallBegin = "aclnn";

// The record that was made last. Records are only added, each by one exchange. So several threads
// may load libraries, and the child of a fork finds a complete list.
std::atomic<RegisteredCall*> lastRegistered{nullptr};

Status WrongTensor(uint32_t place, const char* name, const std::string& what) {
    return Error(ACLNN_ERR_PARAM_INVALID, "tensor {}, {}, {}", place,
                 name == nullptr ? "without a name" : name, what);
}

bool HasName(const AdvStepOperatorTensor& tensor) {
    return tensor.name != nullptr && tensor.name[0] != '\0';
}

Status CheckTensors(const AdvStepOperatorTable& table) {
    for (uint32_t place = 0; place < table.tensorCount; ++place) {
        const AdvStepOperatorTensor& tensor = table.tensors[place];
        if (!HasName(tensor)) {
            return WrongTensor(place, nullptr, "is in the table; expected a name");
        }
        if (tensor.addressAt % alignof(void*) != 0 || tensor.addressAt > table.payloadBytes ||
            table.payloadBytes - tensor.addressAt < sizeof(void*)) {
            return WrongTensor(
                place, tensor.name,
                fmt::format("has its address at byte {} of a payload of {}; expected an aligned "
                            "pointer inside it",
                            tensor.addressAt, table.payloadBytes));
        }
        for (uint32_t other = 0; other < place; ++other) {
            const AdvStepOperatorTensor& before = table.tensors[other];
            if (std::string_view(before.name) == tensor.name) {
                return WrongTensor(
                    place, tensor.name,
                    fmt::format("has the name of tensor {}; expected its own", other));
            }
            if (before.addressAt == tensor.addressAt) {
                return WrongTensor(
                    place, tensor.name,
                    fmt::format("has its address where {} has it, at byte {}; expected a pointer "
                                "of its own",
                                before.name, tensor.addressAt));
            }
        }
    }
    return {};
}

void WarnOfSameName(const RegisteredCall& op) {
    for (const RegisteredCall* other = op.next; other != nullptr; other = other->next) {
        if (other->call == op.call && other->library != op.library) {
            Log(LogLevel::kWarn,
                "operator {} is defined by {} and by {}; the executors of one are refused by the "
                "other",
                op.call, other->library, op.library);
            return;
        }
    }
}

// Returns the name of a table's call, which is at the same place in every version.
std::string NameOf(const AdvStepOperatorTable& table) {
    constexpr size_t kNameEnds = offsetof(AdvStepOperatorTable, call) + sizeof(table.call);
    return table.structBytes >= kNameEnds && table.call != nullptr ? table.call : "";
}

// Finds the record of another table of the same operator; null if there is none.
const RegisteredCall* OtherTable(const RegisteredCall& op) {
    const RegisteredCall* other = lastRegistered.load(std::memory_order_acquire);
    while (other != nullptr && (other->key == nullptr || other->kind != op.kind ||
                                other->call != op.call || other->library != op.library)) {
        other = other->next;
    }
    return other;
}

const RegisteredCall* RegisteredBefore(const void* table) {
    const RegisteredCall* op = lastRegistered.load(std::memory_order_acquire);
    while (op != nullptr && op->key != table) {
        op = op->next;
    }
    return op;
}

void Push(RegisteredCall* op) {
    op->next = lastRegistered.load(std::memory_order_relaxed);
    while (!lastRegistered.compare_exchange_weak(op->next, op, std::memory_order_acq_rel)) {
    }
}

// Makes a record with a right table part of the list. The operator's records share an owner.
void PushRight(const void* table, RegisteredCall* op) {
    op->key = table;
    if (const RegisteredCall* const other = OtherTable(*op); other != nullptr) {
        op->owner = other->owner;
    }
    Push(op);
    WarnOfSameName(*op);
}

Status CheckName(const char* call) {
    if (call == nullptr || std::string_view(call).substr(0, kCallBegin.size()) != kCallBegin) {
        return Error(ACLNN_ERR_PARAM_INVALID, "call is {}; expected a name that begins with {}",
                     call == nullptr ? "null" : call, kCallBegin);
    }
    return {};
}

Status CheckHostTable(const AdvStepHostCallTable& table) {
    if (table.structBytes != sizeof(AdvStepHostCallTable) ||
        table.interfaceVersion != ADVSTEP_HOST_CALL_INTERFACE) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "it was compiled for version {} of the interface of host operators ({} "
                     "bytes); expected version {} ({} bytes): compile it with the headers of this "
                     "library",
                     table.interfaceVersion, table.structBytes, ADVSTEP_HOST_CALL_INTERFACE,
                     sizeof(AdvStepHostCallTable));
    }
    ADVSTEP_RETURN_IF_ERROR(CheckName(table.call));
    return table.run != nullptr
               ? Status()
               : Error(ACLNN_ERR_PARAM_INVALID, "run is null; expected a function");
}

}  // namespace

Status CheckTable(const AdvStepOperatorTable& table, uint32_t mostTensors) {
    if (table.structBytes != sizeof(AdvStepOperatorTable) ||
        table.interfaceVersion != ADVSTEP_OPERATOR_INTERFACE) {
        return Error(
            ACLNN_ERR_PARAM_INVALID,
            "it was compiled for version {} of the operator interface ({} bytes); expected "
            "version {} ({} bytes): compile it with the headers of this library",
            table.interfaceVersion, table.structBytes, ADVSTEP_OPERATOR_INTERFACE,
            sizeof(AdvStepOperatorTable));
    }
    ADVSTEP_RETURN_IF_ERROR(CheckName(table.call));
    if (table.tensorCount < 1 || table.tensorCount > mostTensors || table.tensors == nullptr) {
        return Error(ACLNN_ERR_PARAM_INVALID, "tensorCount is {}; expected 1 to {} tensors",
                     table.tensorCount, mostTensors);
    }
    if (table.payloadBytes > ADVSTEP_OPERATOR_MOST_PAYLOAD) {
        return Error(ACLNN_ERR_PARAM_INVALID, "payloadBytes is {}; expected at most {}",
                     table.payloadBytes, ADVSTEP_OPERATOR_MOST_PAYLOAD);
    }
    return CheckTensors(table);
}

Status RegisterOperator(const AdvStepOperatorTable& table, const AdvStepOperator** op) {
    if (const RegisteredCall* const before = RegisteredBefore(&table); before != nullptr) {
        *op = static_cast<const AdvStepOperator*>(before);
        return {};
    }
    auto made = std::make_unique<AdvStepOperator>();
    const std::string file = LibraryOf(&table);
    made->library = NameOfLibrary(file);
    Status status = CheckTable(table);
    const std::string name = NameOf(table);
    made->call = name.empty() ? "without a name" : name;
    made->phaseOne = name.empty() ? made->call : name + "GetWorkspaceSize";
    if (status.ok()) {
        for (uint32_t place = 0; place < table.tensorCount; ++place) {
            const AdvStepOperatorTensor& tensor = table.tensors[place];
            made->slots.push_back({tensor.name, tensor.isWritten != 0, tensor.addressAt});
            made->addressWords |= uint64_t{1} << (tensor.addressAt / sizeof(void*));
            made->optional |= tensor.isOptional != 0 ? uint32_t{1} << place : 0;
        }
        status = KeepLoaded(file);
    }
    if (!status.ok()) {
        made->wrong = fmt::format("the table of operator {} in {} is wrong: {}", made->call,
                                  made->library, status.message());
        status = Status(status.code(), made->wrong);
        Log(LogLevel::kError, "{}", made->wrong);
    }
    AdvStepOperator* const registered = made.release();
    if (status.ok()) {
        registered->table = &table;
        PushRight(&table, registered);
    } else {
        Push(registered);
    }
    *op = registered;
    return status;
}

Status RegisterHostCall(const AdvStepHostCallTable& table, const AdvStepHostCall** call) {
    if (const RegisteredCall* const before = RegisteredBefore(&table); before != nullptr) {
        *call = static_cast<const AdvStepHostCall*>(before);
        return {};
    }
    const std::string file = LibraryOf(&table);
    auto made = std::make_unique<AdvStepHostCall>();
    made->library = NameOfLibrary(file);
    Status status = CheckHostTable(table);
    if (status.ok()) {
        status = KeepLoaded(file);
    }
    if (!status.ok()) {
        constexpr size_t kNameEnds = offsetof(AdvStepHostCallTable, call) + sizeof(table.call);
        const bool hasName = table.structBytes >= kNameEnds && table.call != nullptr;
        return Error(status.code(), "the table of host operator {} in {} is wrong: {}",
                     hasName ? table.call : "without a name", made->library, status.message());
    }
    made->table = &table;
    made->call = table.call;
    made->phaseOne = made->call + "GetWorkspaceSize";
    AdvStepHostCall* const registered = made.release();
    PushRight(&table, registered);
    *call = registered;
    return {};
}

std::string LibraryOf(const void* address) {
    Dl_info info;
    link_map* object = nullptr;
    const int found = dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP);
    return found == 0 || object == nullptr || object->l_name == nullptr ? "" : object->l_name;
}

Status KeepLoaded(const std::string& file) {
    if (file.empty() || file == LibraryOf(&lastRegistered)) {
        return {};  // the program and this library are never unloaded
    }
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) {
        const char* const why = dlerror();
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "its library {} cannot be kept loaded: {}; expected one that dlopen finds",
                     file, why != nullptr ? why : "unknown reason");
    }
    return {};
}

}  // namespace advstep
