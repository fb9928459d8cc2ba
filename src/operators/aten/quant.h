// SPDX-License-Identifier: Apache-2.0
// Operators on whole numbers of few bits.

#pragma once

#include "src/operators/aten/rounding.h"

namespace advstep_operators {

/// Rows of x, times smooth scales (of groups), with a scale each, and an offset if the call asks.
void DynamicQuant(Call& call);

/// y = round(x * scale + offset) along an axis.
void AscendQuant(Call& call);

/// y = (x + offset) * scale.
void AscendAntiQuant(Call& call);

/// out = round(x / scales + zeroPoints) along an axis.
void Quantize(Call& call);

/// y = round(x * scale + offset) with a row of scales for each group of rows.
void GroupQuant(Call& call);

/// out = x * weightScale * activateScale + bias; a bias of INT32 is added before.
void DequantBias(Call& call);

/// A scale as QuantMatmul takes it: bits 13 to 31 of the float32, bit 46, and the offset in bits 37
/// to 45.
void TransQuantParam(Call& call);

/// Numbers of INT32 as INT4.
void ConvertWeightToHalves(Call& call);

/// Blocks of x along an axis as FLOAT8, with a power of two for each (microscaling formats of the
/// Open Compute Project); and x from these.
void DynamicMxQuant(Call& call);
void AntiMxQuant(Call& call);

/// x1 @ x2 with exact sums, times scales, plus offset or bias.
void QuantMatmul(Call& call);

/// x @ ((weight + offset) * scale) + bias, with scales for columns, or for groups of
/// antiquantGroupSize rows, computed in float32.
void WeightQuantBatchMatmul(Call& call);

/// Returns a scale in float32; one of 64 bits is what TransQuantParam makes.
at::Tensor ScaleOf(const at::Tensor& scale);

/// Returns the offset of a scale of 64 bits, which is 0 if it has none; undefined for other dtypes.
at::Tensor OffsetOf(const at::Tensor& scale);

/// Returns the exact product of matrices of whole numbers, in float64.
at::Tensor WholeProduct(const at::Tensor& one, const at::Tensor& other);

/// Returns the tensor, or of INT32 the INT4 in it, if `inWords`.
at::Tensor Unpacked(const at::Tensor& tensor, bool inWords);

}  // namespace advstep_operators
