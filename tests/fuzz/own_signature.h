// SPDX-License-Identifier: Apache-2.0
// Random tables of operators, right and wrong, and a kernel that serves all of them.

#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "advance_step/operator.h"
#include "fuzz/fuzz_input.h"

/// The first bytes of every payload; the addresses of the tensors come after them.
struct FuzzHead {
    const struct FuzzOperator* op;
    int64_t elements;
    int64_t rowsPerCore;
    int64_t add;
    int64_t badRow;  // -1: none
};

/// A table and what it points to. It lives as long as the process, as a library's table does.
struct FuzzOperator {
    AdvStepOperatorTable table{};
    std::vector<AdvStepOperatorTensor> tensors;
    std::deque<std::string> names;
    std::string call;
    advance_step::op::KernelProgram program;
    const AdvStepOperator* op = nullptr;
    aclnnStatus registered = 0;

    explicit FuzzOperator(unsigned key);

    /// Whether the table keeps the rules of core.h, by other means than the library's.
    bool IsRight() const {
        std::set<std::string> own;
        std::set<uint64_t> places;
        bool right = table.interfaceVersion == ADVSTEP_OPERATOR_INTERFACE && !tensors.empty() &&
                     tensors.size() <= 24 && table.payloadBytes <= 512 &&
                     call.compare(0, 5, "aclnn") == 0;
        for (const AdvStepOperatorTensor& tensor : tensors) {
            own.insert(tensor.name);
            places.insert(tensor.addressAt);
            right = right && *tensor.name != '\0' && tensor.addressAt % 8 == 0 &&
                    tensor.addressAt + 8 <= table.payloadBytes;
        }
        return right && own.size() == tensors.size() && places.size() == tensors.size();
    }
};

inline const int64_t* AddressIn(const void* payload, const AdvStepOperatorTensor& tensor) {
    return *reinterpret_cast<const int64_t* const*>(static_cast<const char*>(payload) +
                                                    tensor.addressAt);
}

/// Reports the bad row.
inline void CheckFuzz(const advance_step::op::CoreContext& core, const void* payload) {
    const auto& head = *static_cast<const FuzzHead*>(payload);
    const advance_step::op::RowRange rows =
        advance_step::op::RowsOf(core.index, head.rowsPerCore, head.elements, core.count);
    if (head.badRow >= rows.begin && head.badRow < rows.end) {
        core.Report(head.badRow, 3, {head.add});
    }
}

/// Written tensor number w is (w + 1) * (add + the sum of the tensors that are read).
inline void CommitFuzz(const advance_step::op::CoreContext& core, const void* payload) {
    const auto& head = *static_cast<const FuzzHead*>(payload);
    const advance_step::op::RowRange rows =
        advance_step::op::RowsOf(core.index, head.rowsPerCore, head.elements, core.count);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
        uint64_t sum = static_cast<uint64_t>(head.add);
        for (const AdvStepOperatorTensor& tensor : head.op->tensors) {
            const int64_t* const from = AddressIn(payload, tensor);
            sum += tensor.isWritten == 0 && from != nullptr ? static_cast<uint64_t>(from[row]) : 0;
        }
        uint64_t factor = 0;
        for (const AdvStepOperatorTensor& tensor : head.op->tensors) {
            factor += tensor.isWritten != 0 ? 1 : 0;
            int64_t* const to = const_cast<int64_t*>(AddressIn(payload, tensor));
            if (tensor.isWritten != 0 && to != nullptr) {
                to[row] = static_cast<int64_t>(factor * sum);
            }
        }
    }
}

inline FuzzOperator::FuzzOperator(unsigned key) {
    std::vector<uint8_t> bytes;
    for (unsigned state = key * 2654435761u + 1, i = 0; i < 2048; ++i) {
        state = state * 1664525u + 1013904223u;
        bytes.push_back(static_cast<uint8_t>(state >> 24));
    }
    FuzzInput random(bytes.data(), bytes.size());
    const auto oneOf = [&](int64_t most) { return random.In(0, most - 1) == 0; };
    const int64_t count = oneOf(8) ? random.In(0, 26) : random.In(1, 6);
    std::vector<uint64_t> slots;
    for (int64_t place = 0; place < count; ++place) {
        slots.push_back(sizeof(FuzzHead) + 8 * static_cast<uint64_t>(place));
        std::swap(slots.back(), slots[static_cast<size_t>(random.In(0, place))]);
    }
    for (int64_t place = 0; place < count; ++place) {
        const bool again = oneOf(60) && place > 0;
        names.push_back(again ? names.back() : oneOf(60) ? "" : "t" + std::to_string(place));
        uint64_t at = slots[static_cast<size_t>(place)];
        at = oneOf(60) ? slots[0] : oneOf(60) ? at + 4 : oneOf(60) ? at + 512 : at;
        tensors.push_back(
            {names.back().c_str(), at, oneOf(3) || place + 1 == count ? 1 : 0, oneOf(4) ? 1 : 0});
    }
    call = (oneOf(40) ? "acl" : "aclnn") + ("Fuzz" + std::to_string(key));
    table.structBytes = sizeof(table);
    table.interfaceVersion = oneOf(40) ? 2 : ADVSTEP_OPERATOR_INTERFACE;
    table.call = call.c_str();
    table.tensors = tensors.data();
    table.tensorCount = static_cast<uint32_t>(tensors.size());
    table.payloadBytes = static_cast<uint32_t>(
        oneOf(40) ? random.In(0, 600) : static_cast<int64_t>(sizeof(FuzzHead)) + 8 * count);
    program = advance_step::op::MakeKernelProgram(call.c_str(), nullptr, {&CheckFuzz, &CommitFuzz});
    registered = advstepRegisterOperator(&table, &op);
}
