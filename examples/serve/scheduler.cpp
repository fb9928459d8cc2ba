#include "scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace serve {
namespace {

// Longer prefills would keep the running sequences waiting. A longer prompt gets one of its own.
constexpr int64_t kPrefillTokens = 8192;

void ExpectFits(const Request& request, const Options& options) {
    const int64_t blocks = options.BlocksFor(request.TotalTokens());
    const std::string needs = fmt::format("{}:{}: request of {} + {} tokens needs {} blocks of {}",
                                          options.trace, request.line, request.promptTokens,
                                          request.generatedTokens, blocks, options.blockSize);
    if (blocks > options.MaxBlocks()) {
        throw NeverFits(fmt::format("{}; a block table has {} (--max-len {})", needs,
                                    options.MaxBlocks(), options.maxLen));
    }
    if (blocks > options.blocks) {
        throw NeverFits(fmt::format("{}; the KV cache has {} (--blocks)", needs, options.blocks));
    }
}

}  // namespace

Scheduler::Scheduler(const std::vector<Request>& requests, const Options& options)
    : requests_(requests), options_(options), prefillRoom_(kPrefillTokens), pool_(options.blocks) {
    for (const Request& request : requests) {
        ExpectFits(request, options);
        prefillRoom_ = std::max(prefillRoom_, request.promptTokens);
    }
}

void Scheduler::Arrive(int64_t now) {
    while (nextArrival_ < requests_.size() && requests_[nextArrival_].arrival <= now) {
        waiting_.push_back(&requests_[nextArrival_++]);
    }
}

bool Scheduler::HeadFits(int64_t promptTokens) const {
    const Request& head = *waiting_.front();
    return RowCount() < options_.maxSeqs && promptTokens + head.promptTokens <= prefillRoom_ &&
           options_.BlocksFor(head.TotalTokens()) <= pool_.Free();
}

Scheduler::Admission Scheduler::Admit() {
    Admission admission{RowCount(), 0, 0};
    while (!waiting_.empty() && HeadFits(admission.promptTokens)) {
        const Request* request = waiting_.front();
        waiting_.pop_front();
        rows_.push_back({request, pool_.Take(options_.BlocksFor(request->TotalTokens())), {}});
        rows_.back().tokens.reserve(static_cast<size_t>(request->generatedTokens));
        admission.promptTokens += request->promptTokens;
        ++admission.count;
    }
    return admission;
}

Sequence Scheduler::Retire(int64_t row) {
    const auto index = static_cast<size_t>(row);
    Sequence retired = std::move(rows_.at(index));
    if (index + 1 < rows_.size()) {
        rows_[index] = std::move(rows_.back());
    }
    rows_.pop_back();
    pool_.Give(retired.blocks);
    return retired;
}

}  // namespace serve
