#include "server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace serve {

Server::Server(const std::vector<Request>& requests, const Options& options)
    : scheduler_(requests, options),
      progress_(static_cast<int64_t>(requests.size())),
      check_([this](const std::string& fault) {
          progress_.Clear();
          fmt::print(stderr, "serve: {}\n", fault);
      }),
      batch_(options, scheduler_.PrefillRoom()),
      model_(options, batch_),
      advance_(batch_, options.blockSize) {
    statistics_.requests = static_cast<int64_t>(requests.size());
}

void Server::Run() {
    // Whatever is written next, an error's message too, starts on an empty line.
    struct ClearProgress {
        ProgressBar& progress;
        ~ClearProgress() { progress.Clear(); }
    } const clearProgress{progress_};

    while (!scheduler_.Done()) {
        scheduler_.Arrive(clock_.Now());
        const int64_t promptTokens = Admit();
        if (scheduler_.Idle()) {
            // Nobody waits: in an idle server every request fits.
            clock_.JumpTo(scheduler_.NextArrivalTime());
            continue;
        }
        const int64_t sequences = scheduler_.RowCount();
        Step();
        clock_.CountIteration(promptTokens, sequences);
        ++statistics_.iterations;
        statistics_.peakSeqs = std::max(statistics_.peakSeqs, sequences);
        progress_.Update(statistics_.completed, sequences, scheduler_.Blocks().Used());
    }
    stream_.Synchronize();
}

int64_t Server::Admit() {
    const Scheduler::Admission admission = scheduler_.Admit();
    if (admission.count == 0) {
        return 0;
    }
    batch_.Load(stream_, scheduler_.Rows(), admission);
    model_.Prefill(stream_, admission.firstRow, admission.count);

    for (int64_t row = admission.firstRow; row < scheduler_.RowCount(); ++row) {
        const int64_t arrival = scheduler_.Rows()[static_cast<size_t>(row)].request->arrival;
        statistics_.waitSeconds += static_cast<double>(clock_.Now() - arrival) / kTicksPerSecond;
    }
    statistics_.promptTokens += admission.promptTokens;
    return admission.promptTokens;
}

void Server::Step() {
    const std::vector<Sequence>& rows = scheduler_.Rows();
    const int64_t numQueries = scheduler_.RowCount();
    // Every row's next token has been sampled, by the prefill or the previous step.
    advance_.Enqueue(stream_, numQueries);
    model_.Decode(stream_, numQueries);

    endingRows_.clear();
    for (int64_t row = 0; row < numQueries; ++row) {
        const Sequence& sequence = rows[static_cast<size_t>(row)];
        if (sequence.EndsNext()) {
            endingRows_.push_back(row);
            model_.ReadBack(stream_, row, sequence.request->TotalTokens());
        }
    }
    batch_.DownloadTokens(stream_, numQueries);
    stream_.Synchronize();

    advance_.CountDeviceTime();
    TakeTokens();
    RetireEnding();
}

void Server::TakeTokens() {
    int64_t row = 0;
    for (Sequence& sequence : scheduler_.Rows()) {
        sequence.tokens.push_back(batch_.InputToken(row++));
    }
    statistics_.generatedTokens += row;
}

void Server::RetireEnding() {
    // From the last row down, so that the row moved into a hole never is one that ends, too.
    for (int64_t i = static_cast<int64_t>(endingRows_.size()) - 1; i >= 0; --i) {
        const int64_t row = endingRows_[static_cast<size_t>(i)];
        const int64_t last = scheduler_.RowCount() - 1;
        const Sequence sequence = scheduler_.Retire(row);
        check_.Compare(sequence, batch_.SampledToken(row), model_.Cells(i));
        model_.Poison(stream_, sequence.blocks);
        if (row != last) {
            batch_.Move(stream_, last, row);
        }
        ++statistics_.completed;
    }
    model_.ForgetReadBacks();
}

Statistics Server::Result() const {
    Statistics result = statistics_;
    result.kvFaults = check_.Faults();
    result.peakBlocks = scheduler_.Blocks().PeakUsed();
    result.virtualSeconds = clock_.Seconds();
    result.op = advance_.Timing();
    return result;
}

}  // namespace serve
