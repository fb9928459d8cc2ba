// SPDX-License-Identifier: Apache-2.0
// The records of registered operators and host operators, and the list of all records.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advance_step/host_call.h"
#include "advance_step/operator/core.h"
#include "src/aclnn/executor.h"
#include "src/base/status.h"

namespace advstep {

/// What the records of operators and of host operators have in common. A record is made while the
/// operator's library is loaded, and never changed or freed. So calls read it without a lock.
struct RegisteredCall {
    enum class Kind : uint8_t { kOperator, kHostCall };

    explicit RegisteredCall(Kind registered) : kind(registered) {}

    const Kind kind;
    std::string call;                // name of phase two
    std::string phaseOne;            // name of phase one
    std::string library;             // file of the library, or "the program"
    const void* key = nullptr;       // the table; null: it is wrong
    const void* owner = this;        // the record of the operator's first table
    RegisteredCall* next = nullptr;  // the record that was made before
};

}  // namespace advstep

/// The record of a registered operator.
struct AdvStepOperator : advstep::RegisteredCall {
    AdvStepOperator() : RegisteredCall(Kind::kOperator) {}

    const AdvStepOperatorTable* table = nullptr;  // null: the table is wrong
    std::string wrong;  // the message of a wrong table; empty: the table is right
    std::vector<advstep::TensorSlot> slots;
    uint32_t optional = 0;  // a bit for each tensor for which a call may pass null

    uint64_t addressWords = 0;  // a bit for each pointer of the payload that is a tensor's address

    bool IsOptional(size_t place) const { return (optional >> place & 1) != 0; }
    /// Returns whether a tensor has its address at this offset of a pointer in the payload.
    bool HasAddressAt(size_t offset) const {
        return (addressWords >> (offset / sizeof(void*)) & 1) != 0;
    }
    static_assert(ADVSTEP_OPERATOR_MOST_PAYLOAD / sizeof(void*) <= 64);
};

/// The record of a registered host operator.
struct AdvStepHostCall : advstep::RegisteredCall {
    AdvStepHostCall() : RegisteredCall(Kind::kHostCall) {}

    const AdvStepHostCallTable* table = nullptr;
};

namespace advstep {

/// Checks a table, its version and its sizes first. 161002: something is wrong.
Status CheckTable(const AdvStepOperatorTable& table,
                  uint32_t mostTensors = ADVSTEP_OPERATOR_MOST_TENSORS);

/// Makes the record of a table, keeps the library of the table loaded, and adds the record to the
/// list. One operator may have several tables of one call in its library; its phase two takes the
/// plans of all of them. 161002: the table is wrong; *op is a record with the message.
Status RegisterOperator(const AdvStepOperatorTable& table, const AdvStepOperator** op);

/// The same for a host operator. *call is null if the table is wrong.
Status RegisterHostCall(const AdvStepHostCallTable& table, const AdvStepHostCall** call);

// The libraries of operators.

/// Returns the file of the library that contains an address; "" for the program itself.
std::string LibraryOf(const void* address);

/// Returns the name of a library in messages.
inline std::string NameOfLibrary(const std::string& file) {
    return file.empty() ? "the program" : file;
}

/// Keeps a library loaded even if a program closes it, because queued launches, plans and captured
/// models point to its kernels. 161002: that is not possible.
Status KeepLoaded(const std::string& file);

}  // namespace advstep
