// SPDX-License-Identifier: Apache-2.0
// A decode loop as one graph on a stream, and as calls of the operator.
// Each way makes 1,000 steps of AdvanceStep on one stream and then waits for it. The ways take
// turns, so that the difference of one run is what counts; docs/internals/benchmarking.md. With
// --series FILE it writes rows of the dashboard, which has no graph mode: it links the static twin.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_advance_step.h"
#include "ge/ge_api.h"
#include "ops_proto_legacy.h"
#include "ops_proto_nn.h"
#include "tests/benchmark/require.h"
#include "tests/benchmark/series_file.h"

namespace {

constexpr int kSteps = 1000;
constexpr int64_t kBlockSize = 16;
constexpr int64_t kColumns = kSteps / kBlockSize + 2;

double MedianOf(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Device memory of one tensor.
struct LoopTensor {
    LoopTensor(std::vector<int64_t> dims, int64_t elements)
        : shape(std::move(dims)), bytes(static_cast<size_t>(elements) * sizeof(int64_t)) {
        Require(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_NORMAL_ONLY));
        Clear();
        tensor = aclCreateTensor(shape.data(), shape.size(), ACL_INT64, nullptr, 0, ACL_FORMAT_ND,
                                 shape.data(), shape.size(), memory);
    }
    LoopTensor(const LoopTensor&) = delete;
    LoopTensor& operator=(const LoopTensor&) = delete;
    ~LoopTensor() {
        aclDestroyTensor(tensor);
        aclrtFree(memory);
    }
    void Clear() const { Require(aclrtMemset(memory, bytes, 0, bytes)); }
    ge::Tensor ForGraph() const {
        ge::Tensor made(ge::TensorDesc(ge::Shape(shape), ge::FORMAT_ND, ge::DT_INT64));
        made.SetData(static_cast<uint8_t*>(memory), bytes, [](uint8_t*) {});
        return made;
    }

    std::vector<int64_t> shape;
    size_t bytes;
    void* memory = nullptr;
    aclTensor* tensor = nullptr;
};

class DecodeLoop {
 public:
    explicit DecodeLoop(int64_t seqs)
        : seqs_(seqs),
          tokens_({seqs}, seqs),
          sampled_({seqs - 1, 1}, seqs - 1),
          positions_({seqs}, seqs),
          lengths_({seqs}, seqs),
          slots_({seqs}, seqs),
          tables_({seqs, kColumns}, seqs * kColumns),
          inputs_({sampled_.ForGraph(), tables_.ForGraph()}) {
        Require(aclrtCreateStream(&stream_));
        RequireGraph(ge::GEInitialize({}));
        session_ = new ge::Session({});
    }
    ~DecodeLoop() {
        delete session_;
        ge::GEFinalize();
        Require(aclrtDestroyStream(stream_));
    }
    DecodeLoop(const DecodeLoop&) = delete;
    DecodeLoop& operator=(const DecodeLoop&) = delete;

    // Both phases, as a program without graphs calls them. Nanoseconds of a step, as Graphs().
    double Calls() {
        lengths_.Clear();
        return Time(&calls_, [&] {
            uint64_t size = 0;
            aclOpExecutor* executor = nullptr;
            Require(aclnnAdvanceStepGetWorkspaceSize(
                tokens_.tensor, sampled_.tensor, positions_.tensor, lengths_.tensor, slots_.tensor,
                tables_.tensor, seqs_, seqs_ - 1, kBlockSize, &size, &executor));
            Require(aclnnAdvanceStep(nullptr, size, executor, stream_));
        });
    }
    // One graph, whose Variables are the state.
    double Graphs() {
        AddGraph();
        std::vector<ge::Tensor> none;
        const double time = Time(&graphs_, [&] {
            RequireGraph(session_->RunGraphWithStreamAsync(graphId_, stream_, inputs_, none));
        });
        RequireGraph(session_->RemoveGraph(graphId_));
        return time;
    }
    double CallNanoseconds() const { return MedianOf(calls_); }
    double GraphNanoseconds() const { return MedianOf(graphs_); }

 private:
    static void RequireGraph(ge::Status status) { Require(status == ge::SUCCESS ? 0 : 1); }

    // A graph of new Variables, which start as zeros. Its first run, which prepares it, is not
    // timed.
    void AddGraph() {
        ++graphId_;
        const auto state = [&](const char* name) {
            ge::op::Variable variable(name + std::to_string(graphId_));
            variable.update_output_desc_y(
                ge::TensorDesc(ge::Shape({seqs_}), ge::FORMAT_ND, ge::DT_INT64));
            return variable;
        };
        auto advance = ge::op::AdvanceStep("advance")
                           .set_attr_num_seqs(seqs_)
                           .set_attr_num_queries(seqs_ - 1)
                           .set_attr_block_size(kBlockSize);
        auto sampled = ge::op::Data("sampled").set_attr_index(0);
        auto tables = ge::op::Data("tables").set_attr_index(1);
        auto tokens = state("tokens");
        auto positions = state("positions");
        auto lengths = state("lengths");
        auto slots = state("slots");
        advance.set_input_input_tokens(tokens).set_input_sampled_token_ids(sampled);
        advance.set_input_input_positions(positions).set_input_seq_lens(lengths);
        advance.set_input_slot_mapping(slots).set_input_block_tables(tables);
        ge::Graph graph("decode");
        graph.SetInputs({sampled, tables});
        RequireGraph(session_->AddGraph(graphId_, graph));
        std::vector<ge::Tensor> none;
        RequireGraph(session_->RunGraphWithStreamAsync(graphId_, stream_, inputs_, none));
        Require(aclrtSynchronizeStream(stream_));
    }

    template <typename Step>
    double Time(std::vector<double>* times, Step&& step) const {
        const auto begin = std::chrono::steady_clock::now();
        for (int done = 0; done < kSteps; ++done) {
            step();
        }
        Require(aclrtSynchronizeStream(stream_));
        const auto time = std::chrono::steady_clock::now() - begin;
        times->push_back(std::chrono::duration<double, std::nano>(time).count() / kSteps);
        return times->back();
    }

    int64_t seqs_;
    LoopTensor tokens_, sampled_, positions_, lengths_, slots_, tables_;
    std::vector<ge::Tensor> inputs_;
    aclrtStream stream_ = nullptr;
    ge::Session* session_ = nullptr;
    uint32_t graphId_ = 0;
    std::vector<double> calls_;
    std::vector<double> graphs_;
};

// One iteration is a loop in each way; the counters are medians of all loops.
void GraphDecodeLoop(benchmark::State& state) {
    DecodeLoop loop(state.range(0));
    for (auto _ : state) {
        loop.Calls();
        loop.Graphs();
    }
    state.counters["calls_ns"] = loop.CallNanoseconds();
    state.counters["graph_ns"] = loop.GraphNanoseconds();
    state.counters["over_ns"] = loop.GraphNanoseconds() - loop.CallNanoseconds();
}

BENCHMARK(GraphDecodeLoop)->Arg(8)->Arg(256)->Iterations(50);

// The rows graph_loop_8 and graph_loop_256, in the form of peers.py. False: the file cannot be
// written.
bool WriteSeries(const char* path) {
    bench::SeriesFile file(path);
    Require(aclrtSetDevice(0));
    for (const int64_t seqs : {8, 256}) {
        DecodeLoop loop(seqs);
        file.Add("graph_loop_" + std::to_string(seqs),
                 {{[&](int64_t) { return loop.Graphs(); }, kSteps, kSteps},
                  {[&](int64_t) { return loop.Calls(); }, kSteps, kSteps}},
                 {});
    }
    return file.Close();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && argv[1] == std::string("--series")) {
        return WriteSeries(argv[2]) ? 0 : 1;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    Require(aclrtSetDevice(0));
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
