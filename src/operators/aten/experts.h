// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// The k experts of each token with the largest scores, and their weights.
void GateToExperts(Call& call);

/// The rows of tokens in the order of their experts, and where each (token, k) has gone.
void RouteToExperts(Call& call);
void RouteToExpertsGrad(Call& call);

/// As RouteToExperts without experts that are elsewhere; and the way back, weighted.
void PermuteTokens(Call& call);
void PermuteTokensGrad(Call& call);
void UnpermuteTokens(Call& call);
void UnpermuteTokensGrad(Call& call);

/// The sum of what the experts of each token made, weighted.
void FinalizeRouting(Call& call);
void FinalizeRoutingGrad(Call& call);

/// Products of groups of rows (or of columns) with the matrix of their group.
void GroupedMatmul(Call& call);

/// SwiGLU of such products of INT8, rounded by row.
void GroupedSwigluQuant(Call& call);

/// Sums over the rows of each token of products of INT8 with the matrix of their group, times
/// scales and logits; plus rows of sharedInput.
void GroupedFinalize(Call& call);

}  // namespace advstep_operators
