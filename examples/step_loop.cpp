// SPDX-License-Identifier: Apache-2.0
// An engine's loop with both operators: Step hands out blocks, preempts and recovers; AdvanceStep
// moves every sequence one token forward. Each request must generate the tokens that it generates
// alone on a contiguous cache. docs/tutorial.md shows the parts between the marks.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "advance_step/advance_step.hpp"

namespace {

using namespace advance_step;
using Values = std::vector<int64_t>;

constexpr int64_t kSlots = 3;
constexpr int64_t kRows = kSlots + 1;  // and a padding row, which conformance standard wants
constexpr int64_t kBlockSize = 4;
constexpr int64_t kColumns = 5;  // of the block table
constexpr int64_t kMostTokens = kColumns * kBlockSize;
constexpr int64_t kPool = 5;  // blocks that Step hands out, after one for the prompt of each slot

struct Request {
    Values prompt;  // at most one block
    int64_t generate = 0;
};

// Instead of K and V a place of the cache holds its token; the next token depends on all of them.
int64_t NextToken(const Values& cached) {
    return std::accumulate(cached.begin(), cached.end(), int64_t{0}) * 31 % 1000;
}

Values GenerateAlone(const Request& request) {
    Values cache = request.prompt;
    for (int64_t count = 0; count < request.generate; ++count) {
        cache.push_back(NextToken(cache));
    }
    return {cache.begin() + static_cast<int64_t>(request.prompt.size()), cache.end()};
}

struct Batch {
    Tensor inputTokens = Tensor::From({kRows}, Values(kRows));
    Tensor sampledTokenIds = Tensor::From({kSlots, 1}, Values(kSlots));
    Tensor inputPositions = Tensor::From({kRows}, Values(kRows));
    Tensor seqLens = Tensor::From({kRows}, Values(kRows));
    Tensor slotMapping = Tensor::From({kRows}, Values(kRows));
    Tensor blockTables = Tensor::From({kRows, kColumns}, Values(kRows* kColumns));

    AdvanceStepArguments Arguments() const {
        AdvanceStepArguments arguments;
        arguments.inputTokens = inputTokens;
        arguments.sampledTokenIds = sampledTokenIds;
        arguments.inputPositions = inputPositions;
        arguments.seqLens = seqLens;
        arguments.slotMapping = slotMapping;
        arguments.blockTables = blockTables;
        arguments.numSeqs = kRows;
        arguments.numQueries = kSlots;
        arguments.blockSize = kBlockSize;
        return arguments;
    }
};

class Engine {
 public:
    explicit Engine(std::deque<Request> requests) : waiting_(std::move(requests)) {}

    // [loop]
    // Returns whether there is more to do.
    bool Iterate() {
        Admit();
        s_.Upload();
        step_.Run(stream_);  // takes blocks back, preempts, hands out, recovers
        stream_.Synchronize();
        s_.Download();
        s_.Check();
        AdvanceRows();
        for (int64_t slot = 0; slot < kSlots; ++slot) {
            if (s_.seqLensThisTime[slot] > 0) {
                RunModel(slot);
            }
        }
        return !waiting_.empty() || std::any_of(request_, request_ + kSlots,
                                                [](const Request& r) { return r.generate > 0; });
    }

    // A free slot takes the next request. Its first block is the host's: slot 0 has block 0.
    void Admit() {
        for (int64_t slot = 0; slot < kSlots; ++slot) {
            if (s_.firstTokenIds[slot] != -1 || waiting_.empty()) {
                continue;
            }
            request_[slot] = std::move(waiting_.front());
            waiting_.pop_front();
            const Values& prompt = request_[slot].prompt;
            std::copy(prompt.begin(), prompt.end(), &s_.inputIds[slot * kMostTokens]);
            s_.firstTokenIds[slot] = prompt[0];
            s_.blockTables[slot * kColumns] = static_cast<int32_t>(slot);
            s_.encoderBlockLens[slot] = 1;
            s_.oriSeqLensEncoder[slot] = s_.seqLensEncoder[slot] = s_.seqLensThisTime[slot] =
                static_cast<int32_t>(prompt.size());
            s_.seqLensDecoder[slot] = 0;
            s_.stepIdx[slot] = 0;
            s_.stopFlags[slot] = 0;
        }
    }

    // Computes where the newest token of each sequence goes. A row that decodes nothing has the
    // first block of its slot, so that it writes no other slot's.
    void AdvanceRows() {
        Values tokens(kSlots), lengths(kRows), tables(kRows * kColumns);
        for (int64_t slot = 0; slot < kSlots; ++slot) {
            tables[slot * kColumns] = slot;
            if (s_.seqLensThisTime[slot] > 0 && s_.seqLensEncoder[slot] == 0) {
                tokens[slot] = s_.nextTokens[slot];
                lengths[slot] = s_.seqLensDecoder[slot];
                std::copy_n(&s_.blockTables[slot * kColumns], kColumns, &tables[slot * kColumns]);
            }
        }
        batch_.sampledTokenIds.Upload(tokens);
        batch_.seqLens.Upload(lengths);
        batch_.blockTables.Upload(tables);
        advance_.Run(stream_);
        stream_.Synchronize();
        places_ = batch_.slotMapping.Download<int64_t>();
    }

    // Writes the fed tokens into the cache and samples. A recovered slot feeds its prompt and all
    // that it has generated.
    void RunModel(int64_t slot) {
        const int64_t prefill = s_.seqLensEncoder[slot];
        for (int64_t position = 0; position < prefill; ++position) {
            cache_[PlaceOf(slot, position)] = s_.inputIds[slot * kMostTokens + position];
        }
        if (prefill == 0) {
            cache_[places_[slot]] = s_.nextTokens[slot];
        }
        int32_t& cached = s_.seqLensDecoder[slot];
        cached = prefill > 0 ? static_cast<int32_t>(prefill) : cached + 1;
        s_.seqLensEncoder[slot] = 0;
        s_.seqLensThisTime[slot] = 1;
        s_.preIds[slot * kMostTokens + s_.stepIdx[slot]] = s_.nextTokens[slot];
        ++s_.stepIdx[slot];
        s_.nextTokens[slot] = NextToken(Cached(slot));
        if (s_.stepIdx[slot] == request_[slot].generate) {
            Finish(slot);
        }
    }
    // [/loop]

    void PrintSlots() const {
        for (int64_t slot = 0; slot < kSlots; ++slot) {
            if (s_.isBlockStep[slot] != 0) {
                std::printf("   preempted    ");
            } else if (s_.seqLensThisTime[slot] == 0) {
                std::printf("   -            ");
            } else {
                std::printf(
                    "   %2d in block %d", s_.seqLensDecoder[slot] - 1,
                    static_cast<int>(PlaceOf(slot, s_.seqLensDecoder[slot] - 1) / kBlockSize));
            }
        }
        std::puts("");
    }
    AdvStepCounters Counters() const { return device_.Counters(); }
    bool AreTokensRight() const { return right_; }

 private:
    int64_t PlaceOf(int64_t slot, int64_t position) const {
        const int64_t block = s_.blockTables[slot * kColumns + position / kBlockSize];
        return block * kBlockSize + position % kBlockSize;
    }
    Values Cached(int64_t slot) const {
        Values tokens;
        for (int64_t position = 0; position < s_.seqLensDecoder[slot]; ++position) {
            tokens.push_back(cache_[PlaceOf(slot, position)]);
        }
        return tokens;
    }
    // The next Step takes the blocks back, and frees the slot.
    void Finish(int64_t slot) {
        Values generated;
        for (int64_t k = 1; k < s_.stepIdx[slot]; ++k) {
            generated.push_back(s_.preIds[slot * kMostTokens + k]);
        }
        generated.push_back(s_.nextTokens[slot]);
        right_ = right_ && generated == GenerateAlone(request_[slot]);
        s_.stopFlags[slot] = 1;
        s_.seqLensThisTime[slot] = 0;
        request_[slot] = {};
    }

    // The device is destroyed last.
    Device device_ = Device::Open(0);
    Stream stream_ = Stream::Create();
    StepState s_ =
        StepState::Make({kSlots, kColumns, kPool, kSlots, kMostTokens, kMostTokens, kBlockSize});
    Batch batch_;
    Executor step_ = Step::Plan(s_.Arguments());
    Executor advance_ = AdvanceStep::Plan(batch_.Arguments());
    Values cache_ = Values((kSlots + kPool) * kBlockSize);
    Values places_;
    Request request_[kSlots];
    std::deque<Request> waiting_;
    bool right_ = true;
};

}  // namespace

int main() {
    try {
        Engine engine({{{11, 12, 13}, 12}, {{21}, 10}, {{31, 32}, 14}, {{41, 42, 43, 44}, 6}});
        std::puts("position and block of the newest token of each slot");
        bool more = true;
        while (more) {
            more = engine.Iterate();
            engine.PrintSlots();
        }
        const AdvStepCounters counters = engine.Counters();
        std::printf("preempted %d times, recovered %d times; the tokens are %s\n",
                    static_cast<int>(counters.preempted), static_cast<int>(counters.recovered),
                    engine.AreTokensRight() ? "right" : "WRONG");
        return engine.AreTokensRight() && counters.recovered > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const Error& error) {
        std::fprintf(stderr, "error %d: %s\n", error.Code(), error.what());
        return EXIT_FAILURE;
    }
}
