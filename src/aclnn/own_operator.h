// SPDX-License-Identifier: Apache-2.0
// The record of a registered operator, and the list of all.

#pragma once

#include <string>
#include <vector>

#include "advance_step/operator/core.h"
#include "src/aclnn/executor.h"
#include "src/base/status.h"

/// The object of the opaque handle. It is made while an operator's library is loaded, and not
/// changed after that; so calls read it without a lock. It is never freed.
struct AdvStepOperator {
    const AdvStepOperatorTable* table = nullptr;  // null: it is wrong
    std::string call;                             // name of phase two
    std::string phaseOne;                         // name of phase one
    std::string library;  // file of the operator's library, or "the program"
    std::string wrong;    // what is wrong with the table; empty: nothing
    std::vector<advstep::TensorSlot> slots;
    uint32_t optional = 0;                // a bit for each tensor that a call may leave out
    const AdvStepOperator* owner = this;  // the first of the tables that the operator has
    AdvStepOperator* next = nullptr;      // the one that was registered before

    bool IsOptional(size_t place) const { return (optional >> place & 1) != 0; }
};

namespace advstep {

/// Finds the first thing that is wrong with a table; its version and its sizes first.
/// 161002: something is.
Status CheckTable(const AdvStepOperatorTable& table);

/// Makes the record of a table, keeps the library of the table loaded, and adds the record to the
/// list. Tables of one call in one library are forms of one operator: phase two takes the plans of
/// all. 161002: the table is wrong; *op is a record that says so.
Status RegisterOperator(const AdvStepOperatorTable& table, const AdvStepOperator** op);

}  // namespace advstep
