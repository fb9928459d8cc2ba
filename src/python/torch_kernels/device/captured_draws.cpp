// SPDX-License-Identifier: Apache-2.0
// Labels of the states of generators in graphs, and their offsets in a replay.

#include "torch_kernels/device/captured_draws.h"

#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "torch_kernels/device/current_stream.h"
#include "torch_kernels/device/generators.h"

namespace advstep_torch {
namespace {

// A capture refuses get_offset and set_offset, but not states: 8 bytes of the seed, then 8 of the
// offset.
constexpr int64_t kOffsetInState = 1;
// Labels are no offsets that a short program reaches, and a generator that gets one by mistake is
// there in a moment. They are multiples of 4, as offsets are.
constexpr uint64_t kFirstLabel = uint64_t{1} << 30U;

uint64_t OffsetInState(const at::Generator& npu) {
    return static_cast<uint64_t>(
        npu.get_state().view(at::kLong).const_data_ptr<int64_t>()[kOffsetInState]);
}

void SetOffsetInState(at::Generator* npu, uint64_t offset) {
    const at::Tensor state = npu->get_state();
    state.view(at::kLong).mutable_data_ptr<int64_t>()[kOffsetInState] =
        static_cast<int64_t>(offset);
    npu->set_state(state);
}

struct Table {
    std::mutex mutex;  // guards the map
    std::map<std::pair<const void*, const void*>, std::shared_ptr<CapturedDraws>> draws;
};

Table& TheTable() {
    static auto* const table = new Table;
    return *table;
}

// Takes the generators of a graph out of the table.
std::vector<std::shared_ptr<CapturedDraws>> Take(const void* model) {
    std::vector<std::shared_ptr<CapturedDraws>> taken;
    Table& table = TheTable();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto first = table.draws.lower_bound({model, nullptr});
    auto last = first;
    for (; last != table.draws.end() && last->first.first == model; ++last) {
        taken.push_back(std::move(last->second));
    }
    table.draws.erase(first, last);
    return taken;
}

int32_t RunSettle(void* args, char* message, size_t size) {
    constexpr int kFailed = 507018;  // the runtime's code for a kernel that runs on a host
    try {
        (*static_cast<std::shared_ptr<CapturedDraws>*>(args))->Settle();
        return 0;
    } catch (const std::exception& error) {
        (void)std::snprintf(message, size, "%s", error.what());
        return kFailed;
    }
}

void ReleaseSettle(void* args) { delete static_cast<std::shared_ptr<CapturedDraws>*>(args); }

}  // namespace

CapturedDraws::Draw CapturedDraws::Record() {
    const std::lock_guard<std::mutex> lock(npu_.mutex());
    newest_ = newest_ == 0 ? kFirstLabel : newest_ + 4;
    const Draw draw{OffsetInState(npu_), newest_, !recorded_};
    if (draw.first && draw.from >= kFirstLabel) {  // of the graph that this one is a part of
        outer_ = draw.from;
    }
    recorded_ = true;
    SetOffsetInState(&npu_, newest_);
    return draw;
}

uint64_t CapturedDraws::OffsetOf(uint64_t label) const {
    const auto found = offsets_.find(label);
    return found == offsets_.end() ? begin_ + label : found->second;
}

void CapturedDraws::Begin(const Draw& draw) {
    if (draw.first) {
        begin_ = npu_.get_offset();
        last_ = outer_;
    }
    if (draw.from != last_) {
        npu_.set_offset(OffsetOf(draw.from));
    }
    offsets_[draw.from] = npu_.get_offset();
}

void CapturedDraws::End(const Draw& draw) {
    offsets_[draw.to] = npu_.get_offset();
    last_ = draw.to;
}

bool CapturedDraws::EndCapture() {
    const std::lock_guard<std::mutex> lock(npu_.mutex());
    end_ = OffsetInState(npu_);
    SetOffsetInState(&npu_, outer_);
    return end_ != newest_;
}

void CapturedDraws::Settle() {
    const std::shared_ptr<Engine> engine = EngineOf(npu_);
    const std::lock_guard<std::mutex> engineLock(engine->mutex);
    const std::lock_guard<std::mutex> lock(npu_.mutex());
    if (end_ != last_) {
        npu_.set_offset(OffsetOf(end_));
    }
}

std::shared_ptr<CapturedDraws> CapturedDrawsOf(const void* model, const at::Generator& npu) {
    Table& table = TheTable();
    const std::lock_guard<std::mutex> lock(table.mutex);
    std::shared_ptr<CapturedDraws>& draws = table.draws[{model, npu.unsafeGetGeneratorImpl()}];
    if (draws == nullptr) {
        draws = std::make_shared<CapturedDraws>(npu);
    }
    return draws;
}

void BeginCapturedDraws(const void* model) { (void)Take(model); }

void EndCapturedDraws(void* stream, const void* model) {
    for (const std::shared_ptr<CapturedDraws>& draws : Take(model)) {
        if (!draws->EndCapture()) {
            continue;
        }
        const AdvStepHostOperator operation{
            "advance_step::settle_generator",          &RunSettle, &ReleaseSettle,
            new std::shared_ptr<CapturedDraws>(draws), nullptr,    0};
        Check(runtime.launch(stream, &operation), operation.name);
    }
}

}  // namespace advstep_torch
