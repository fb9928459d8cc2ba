// SPDX-License-Identifier: Apache-2.0
// The mini server of docs/tutorial.md: continuous batching over a paged KV cache, in five steps.
// The tutorial shows the parts between the marks; tests/lint/check_snippets.py holds it to that.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

#include "advance_step/advance_step.hpp"

namespace {

using namespace advance_step;
using Values = std::vector<int64_t>;

// [sizes]
constexpr int64_t kSlots = 3;          // sequences at a time
constexpr int64_t kRows = kSlots + 1;  // and a padding row, which conformance standard wants
constexpr int64_t kBlockSize = 4;      // tokens per block
constexpr int64_t kColumns = 4;        // of the block table: the longest sequence has 16 tokens
constexpr int64_t kBlocks = 9;         // block 0 is for rows without a sequence
// [/sizes]

// [batch]
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
// [/batch]

// [request]
struct Request {
    char name;
    int64_t prompt;    // tokens
    int64_t generate;  // tokens
};

struct Sequence {
    Request request{};
    Values tokens;  // prompt and generated; the newest is not in the cache yet
    Values blocks;
    bool IsDone() const {
        return static_cast<int64_t>(tokens.size()) == request.prompt + request.generate;
    }
};
// [/request]

// [model]
// Instead of K and V a slot holds its token. The next token depends on all that are in the cache.
int64_t NextToken(int64_t sum) { return sum * 31 % 1000; }

int64_t SlotOf(const Sequence& sequence, int64_t position) {
    return sequence.blocks[position / kBlockSize] * kBlockSize + position % kBlockSize;
}

int64_t RunModel(const Values& cache, const Sequence& sequence, int64_t length) {
    int64_t sum = 0;
    for (int64_t position = 0; position < length; ++position) {
        sum += cache[SlotOf(sequence, position)];
    }
    return NextToken(sum);
}
// [/model]

class Server {
 public:
    explicit Server(std::deque<Request> requests) : waiting_(std::move(requests)) {
        for (int64_t block = kBlocks - 1; block > 0; --block) {
            freeBlocks_.push_back(block);
        }
    }

    bool IsDone() const { return waiting_.empty() && running_ == 0; }

    // [admit]
    void Admit() {
        for (Sequence& sequence : slots_) {
            if (!sequence.blocks.empty() || waiting_.empty()) {
                continue;
            }
            const Request request = waiting_.front();
            const int64_t most = request.prompt + request.generate;
            const int64_t needed = (most + kBlockSize - 1) / kBlockSize;
            if (needed > static_cast<int64_t>(freeBlocks_.size())) {
                return;  // first come, first served
            }
            waiting_.pop_front();
            sequence = Sequence{request, {}, {freeBlocks_.end() - needed, freeBlocks_.end()}};
            freeBlocks_.resize(freeBlocks_.size() - needed);
            for (int64_t position = 0; position < request.prompt; ++position) {
                sequence.tokens.push_back(request.name + position);
                cache_[SlotOf(sequence, position)] = sequence.tokens.back();
            }
            sequence.tokens.push_back(RunModel(cache_, sequence, request.prompt));
            ++running_;
        }
    }
    // [/admit]

    // [iterate]
    void Iterate() {
        Values sampled(kSlots);
        Values lengths(kRows);  // 0, and block 0, where there is no sequence
        Values tables(kRows * kColumns);
        for (int64_t slot = 0; slot < kSlots; ++slot) {
            const Sequence& sequence = slots_[slot];
            if (!sequence.blocks.empty()) {
                sampled[slot] = sequence.tokens.back();
                lengths[slot] = static_cast<int64_t>(sequence.tokens.size()) - 1;
                std::copy(sequence.blocks.begin(), sequence.blocks.end(),
                          tables.begin() + slot * kColumns);
            }
        }
        batch_.sampledTokenIds.Upload(sampled);
        batch_.seqLens.Upload(lengths);
        batch_.blockTables.Upload(tables);
        plan_.Run(stream_);
        stream_.Synchronize();
        TakeTokens(batch_.inputTokens.Download<int64_t>(), batch_.seqLens.Download<int64_t>(),
                   batch_.slotMapping.Download<int64_t>());
    }
    // [/iterate]

    AdvStepCounters Counters() const { return device_.Counters(); }

 private:
    // [take]
    void TakeTokens(const Values& inputs, const Values& lengths, const Values& slotMapping) {
        for (int64_t slot = 0; slot < kSlots; ++slot) {
            Sequence& sequence = slots_[slot];
            if (sequence.blocks.empty()) {
                std::printf("   -         ");
                continue;
            }
            cache_[slotMapping[slot]] = inputs[slot];
            const int64_t next = RunModel(cache_, sequence, lengths[slot]);
            std::printf("   %c %2d -> %2d", sequence.request.name,
                        static_cast<int>(lengths[slot] - 1), static_cast<int>(slotMapping[slot]));
            if (sequence.IsDone()) {
                Retire(sequence, next);
            } else {
                sequence.tokens.push_back(next);
            }
        }
        std::puts("");
    }
    // [/take]

    // [retire]
    void Retire(Sequence& sequence, int64_t next) {
        // The same request on a cache without blocks.
        int64_t sum = 0;
        for (int64_t position = 0; position < sequence.request.prompt; ++position) {
            sum += sequence.request.name + position;
        }
        for (int64_t count = 0; count < sequence.request.generate; ++count) {
            sum += NextToken(sum);
        }
        if (next != NextToken(sum)) {
            std::fprintf(stderr, "sequence %c has read a wrong slot\n", sequence.request.name);
            std::exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe): one thread
        }
        freeBlocks_.insert(freeBlocks_.end(), sequence.blocks.begin(), sequence.blocks.end());
        sequence = Sequence{};
        --running_;
    }
    // [/retire]

    // [device]
    Device device_ = Device::Open(0);
    Stream stream_ = Stream::Create();
    Batch batch_;
    Executor plan_ = AdvanceStep::Plan(batch_.Arguments());
    // [/device]

    Values cache_ = Values(kBlocks * kBlockSize);
    Values freeBlocks_;
    std::vector<Sequence> slots_ = std::vector<Sequence>(kSlots);
    std::deque<Request> waiting_;
    int64_t running_ = 0;
};

}  // namespace

// [main]
int main() {
    try {
        Server server({{'A', 5, 4}, {'B', 2, 2}, {'C', 7, 5}, {'D', 3, 6}, {'E', 1, 3}});
        std::puts("  position -> slot, of the sequence in each slot of the batch");
        while (!server.IsDone()) {
            server.Admit();
            server.Iterate();
        }
        std::printf("%d rows moved, idle ones included\n",
                    static_cast<int>(server.Counters().advanced));
    } catch (const Error& error) {
        std::fprintf(stderr, "error %d: %s\n", error.Code(), error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
// [/main]
