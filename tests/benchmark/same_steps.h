// SPDX-License-Identifier: Apache-2.0
// Holds AdvanceStep and the bare loop against each other before either is timed.

#pragma once

#include "tests/benchmark/advance_batch.h"

/// Ends the program unless the queries of both have the same tokens, positions, lengths and slots.
void RequireSameRows(const AdvanceBatch& library, const BareBatch& plain);

/// Makes some steps of both, which must be at the start, and then calls RequireSameRows.
void RequireSameSteps(AdvanceBatch* library, BareSteps* plain);
