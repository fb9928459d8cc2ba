// SPDX-License-Identifier: Apache-2.0
// The operator PagedAttention: its tensors, its checks, its tiling, its faults and its two calls.

#include "aclnn_paged_attention.h"

#include <cmath>
#include <cstddef>

#include "advance_step/graph_operator.h"
#include "paged_attention_kernel.h"

namespace op = advance_step::op;

namespace {

using own::PagedAttentionFault;
using own::PagedAttentionPayload;
using own::PagedAttentionTiling;

// [dims]
struct Dim {
    enum : uint8_t {
        kNone,
        kOne,
        kSeqs,
        kHeads,
        kHeadSize,
        kBlocks,
        kBlockSize,
        kKvHeads,
        kMaxBlocks,
        kCount
    };
};

constexpr op::Shapes kPerHead = {
    {"[numSeqs, numHeads, headSize]", Dim::kSeqs, Dim::kHeads, Dim::kHeadSize}};
// [/dims]
constexpr op::Shapes kCache = {{"[numBlocks, blockSize, numKvHeads, headSize]", Dim::kBlocks,
                                Dim::kBlockSize, Dim::kKvHeads, Dim::kHeadSize}};
constexpr op::Shapes kTables = {{"[numSeqs, maxBlocks]", Dim::kSeqs, Dim::kMaxBlocks}};
constexpr op::Shapes kPerSequence = {{"[numSeqs]", Dim::kSeqs},
                                     {"[numSeqs, 1]", Dim::kSeqs, Dim::kOne}};
constexpr op::DataTypes kIndex = op::Either(ACL_INT32, ACL_INT64);

struct PagedAttention {
    using Payload = PagedAttentionPayload;
    static constexpr const char kName[] = "aclnnPagedAttention";
    static constexpr op::Signature<6> kTensors = {{
        {"query", op::Access::kRead, op::Only(ACL_FLOAT), kPerHead, offsetof(Payload, query)},
        {"keyCache", op::Access::kRead, op::Only(ACL_FLOAT), kCache, offsetof(Payload, keyCache)},
        {"valueCache", op::Access::kRead, op::Only(ACL_FLOAT), kCache,
         offsetof(Payload, valueCache)},
        {"blockTables", op::Access::kRead, kIndex, kTables, offsetof(Payload, blockTables),
         op::Layout::kContiguousRows},
        {"seqLens", op::Access::kRead, kIndex, kPerSequence, offsetof(Payload, seqLens)},
        {"out", op::Access::kWritten, op::Only(ACL_FLOAT), kPerHead, offsetof(Payload, out)},
    }};
    static constexpr const char* kAttributes[] = {"scale"};

    static op::Status Plan(const op::Request& request, double scale, op::Planned<Payload>* plan);
    static op::Status Infer(const op::TensorView* views, double scale, op::InferredTensor* tensors);
};

constexpr size_t kQuery = op::PlaceOf(PagedAttention::kTensors, "query");
constexpr size_t kKeyCache = op::PlaceOf(PagedAttention::kTensors, "keyCache");
constexpr size_t kBlockTables = op::PlaceOf(PagedAttention::kTensors, "blockTables");
constexpr size_t kSeqLens = op::PlaceOf(PagedAttention::kTensors, "seqLens");
constexpr size_t kOut = op::PlaceOf(PagedAttention::kTensors, "out");

// query and keyCache set the dims that the other tensors must have.
op::Status CheckDims(const op::TensorView* views) {
    op::CallDims<Dim::kCount> dims{};
    dims.fill(op::kAtLeastOne);
    for (const size_t place : {kQuery, kKeyCache}) {
        ADVSTEP_OP_RETURN_IF_ERROR(
            op::CheckShape(views[place], PagedAttention::kTensors[place], dims.data()));
    }
    const int64_t* const query = views[kQuery].dims;
    const int64_t* const cache = views[kKeyCache].dims;
    dims[Dim::kOne] = 1;
    dims[Dim::kSeqs] = query[0];
    dims[Dim::kHeads] = query[1];
    dims[Dim::kHeadSize] = query[2];
    dims[Dim::kBlocks] = cache[0];
    dims[Dim::kBlockSize] = cache[1];
    dims[Dim::kKvHeads] = cache[2];
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckShapes<PagedAttention::kTensors>(views, dims));
    if (query[1] % cache[2] != 0) {
        return op::Error(op::kTilingError, "query has numHeads ", query[1],
                         "; expected a multiple of numKvHeads = ", cache[2]);
    }
    return {};
}

op::FaultReport Describe(const op::Fault& fault, const void* payload) {
    const PagedAttentionTiling& t = static_cast<const PagedAttentionPayload*>(payload)->tiling;
    const int64_t* const v = fault.values;
    const std::string who = op::Text("sequence ", fault.row, ": ");
    if (static_cast<PagedAttentionFault>(fault.kind) == PagedAttentionFault::kLength) {
        return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
                op::Text(who, "seqLens is ", v[0],
                         "; expected 1 <= seqLens <= maxBlocks * blockSize = ",
                         t.maxBlocks * t.blockSize)};
    }
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            op::Text(who, "blockTables has block ", v[1], " in column ", v[0],
                     "; expected 0 <= block < numBlocks = ", t.numBlocks)};
}

op::KernelProgram ProgramOf(bool tables32, bool lengths32) {
    const own::PagedAttentionKernels kernels = own::PagedAttentionKernelsFor(tables32, lengths32);
    return op::MakeKernelProgram(PagedAttention::kName, &op::InWords<&Describe>,
                                 {kernels.check, kernels.commit});
}

const op::KernelProgram* ProgramFor(bool tables32, bool lengths32) {
    static const op::KernelProgram programs[2][2] = {
        {ProgramOf(false, false), ProgramOf(false, true)},
        {ProgramOf(true, false), ProgramOf(true, true)}};
    return &programs[tables32][lengths32];
}

op::Status PagedAttention::Plan(const op::Request& request, double scale,
                                op::Planned<Payload>* plan) {
    const op::TensorView* const views = request.views;
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kTensors>(views));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckDims(views));
    if (!std::isfinite(static_cast<float>(scale))) {
        return op::Error(op::kTilingError, "scale is ", scale, "; expected a finite float");
    }
    const op::TensorView& tables = views[kBlockTables];
    PagedAttentionTiling& t = plan->payload.tiling;
    t.numSeqs = views[kQuery].dims[0];
    t.numHeads = views[kQuery].dims[1];
    t.headSize = views[kQuery].dims[2];
    t.numBlocks = views[kKeyCache].dims[0];
    t.blockSize = views[kKeyCache].dims[1];
    t.numKvHeads = views[kKeyCache].dims[2];
    t.maxBlocks = tables.dims[1];
    t.blockTableStride = t.numSeqs == 1 ? t.maxBlocks : tables.strides[0];
    t.scale = static_cast<float>(scale);
    const int64_t rows = t.numSeqs * t.numHeads;
    const op::Cores cores = op::CutRows(rows, request.environment.vectorCores);
    t.rowsPerCore = cores.rowsPerCore;
    plan->program = ProgramFor(tables.dataType == ACL_INT32, views[kSeqLens].dataType == ACL_INT32);
    plan->coreCount = cores.count;
    plan->rows = rows;
    return {};
}

op::Status PagedAttention::Infer(const op::TensorView* views, double /*scale*/,
                                 op::InferredTensor* tensors) {
    tensors[kOut].SetLike(views[kQuery]);
    return {};
}

}  // namespace

ADVSTEP_OPERATOR(aclnnPagedAttention, PagedAttention,
                 (const aclTensor* query, const aclTensor* keyCache, const aclTensor* valueCache,
                  const aclTensor* blockTables, const aclTensor* seqLens, double scale,
                  aclTensor* out),
                 (query, keyCache, valueCache, blockTables, seqLens, scale, out))

ADVSTEP_GRAPH_OPERATOR(PagedAttention, aclnnPagedAttention, PagedAttention)
