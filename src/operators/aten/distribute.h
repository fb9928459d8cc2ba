// SPDX-License-Identifier: Apache-2.0
// Tokens between the ranks of experts, where there is one rank. Several ranks are refused.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// The rows of tokens in the order of their experts, rounded by row if the call asks, and what the
/// way back needs. Rows behind the last token are 0.
void DispatchTokens(Call& call);

/// The sum of what the experts of each token made, weighted, plus sharedExpertX. A token of which
/// no expert takes part has the sum 0.
void CombineTokens(Call& call);

/// The RMS norm of that sum and residualX.
void CombineTokensAddRmsNorm(Call& call);

/// One rank waits for no other.
void WaitForRanks(Call& call);

}  // namespace advstep_operators
