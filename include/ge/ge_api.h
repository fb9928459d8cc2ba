// SPDX-License-Identifier: Apache-2.0
/// Sessions, which run graphs on the emulated device. docs/graph_mode.md describes the behaviour.
#ifndef ADVSTEP_GE_GE_API_H_
#define ADVSTEP_GE_GE_API_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../graph/ascend_string.h"
#include "../graph/graph.h"
#include "../graph/tensor.h"
#include "ge_api_error_codes.h"
#include "ge_api_types.h"
#include "ge_graph_compile_summary.h"

namespace advstep {
namespace graph {
class SessionCore;
}  // namespace graph
}  // namespace advstep

namespace ge {

/// The type of options that are written in braces at a call, for instance {}. Without it, braces
/// would be ambiguous: they could mean a map of either kind of strings.
using OptionList = std::initializer_list<std::pair<const AscendString, AscendString>>;

/// Starts graph mode. This call comes before the first session. A second call succeeds and changes
/// no options. Returns FAILED for an empty key, and for a value that is not an integer if the
/// option expects one.
ADVSTEP_GRAPH_API Status GEInitialize(const std::map<AscendString, AscendString>& options);
ADVSTEP_GRAPH_API Status GEInitialize(const std::map<std::string, std::string>& options);
ADVSTEP_GRAPH_API Status GEInitialize(OptionList options);

/// Waits for the queued runs of all sessions, then ends the sessions. A call from the callback of a
/// run does not wait. Returns SUCCESS. GEInitialize may follow, but does not revive the sessions.
ADVSTEP_GRAPH_API Status GEFinalize();

/// These functions return the calling thread's messages since the last such call: at most the
/// newest 1000, each on a line as `Title(Code): text`; "" if there are none.
ADVSTEP_GRAPH_API AscendString GEGetErrorMsgV2();
ADVSTEP_GRAPH_API AscendString GEGetWarningMsgV2();
ADVSTEP_GRAPH_API std::string GEGetErrorMsg();
ADVSTEP_GRAPH_API std::string GEGetWarningMsg();

/// A session, which keeps graphs and their Variables, and runs the graphs. Any thread may make any
/// call. A call returns SUCCESS, or FAILED with a message. Calls of a session return FAILED if
/// GEInitialize was not called before the session was made, or if GEFinalize was called since; and
/// in the child of a fork, which makes sessions of its own.
class ADVSTEP_GRAPH_API ADVSTEP_GRAPH_OWN_LAYOUT Session {
 public:
    /// Makes a session. Unknown options are ignored, with a warning. If a known option has a bad
    /// value, all calls of the session fail.
    explicit Session(const std::map<AscendString, AscendString>& options);
    explicit Session(const std::map<std::string, std::string>& options);
    explicit Session(OptionList options);
    /// Waits for queued runs. If the callback of a run destroys the session, the destructor does
    /// not wait, and queued runs still run.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Stores the present state of the graph under a number. If the number is in use, the call
    /// succeeds and the first graph stays. AddGraph takes a graph only once; AddGraphWithCopy has
    /// no such rule.
    Status AddGraph(uint32_t graphId, const Graph& graph);
    Status AddGraph(uint32_t graphId, const Graph& graph,
                    const std::map<AscendString, AscendString>& options);
    Status AddGraph(uint32_t graphId, const Graph& graph,
                    const std::map<std::string, std::string>& options);
    Status AddGraph(uint32_t graphId, const Graph& graph, OptionList options);
    Status AddGraphWithCopy(uint32_t graphId, const Graph& graph);
    Status AddGraphWithCopy(uint32_t graphId, const Graph& graph,
                            const std::map<AscendString, AscendString>& options);
    /// Removes a graph. Its queued runs still run.
    Status RemoveGraph(uint32_t graphId);

    /// Makes all checks of RunGraph that need no data. Like all runs, it returns 1343242242 for an
    /// unknown number.
    Status BuildGraph(uint32_t graphId, const std::vector<Tensor>& inputs);
    /// Runs the graph after all queued runs. inputs[i] is the input of the Data operator with index
    /// i. If the indices are not 0 to n - 1, it is that of the i-th Data operator in the order of
    /// SetInputs. The call replaces outputs on success. It fails while another RunGraph of the
    /// session is in progress.
    Status RunGraph(uint32_t graphId, const std::vector<Tensor>& inputs,
                    std::vector<Tensor>& outputs);
    /// Copies the inputs, queues a run and returns. One thread makes all runs of a session, in
    /// order, and calls the callback after each. If this call fails it makes no callback. A
    /// callback may call RunGraph, and so may a function of an operator that such a run calls; the
    /// graph then runs at once, in that thread. Neither may wait for a RunGraph or CompileGraph of
    /// the session in another thread, which comes after the run.
    Status RunGraphAsync(uint32_t graphId, const std::vector<Tensor>& inputs,
                         RunAsyncCallback callback);

    /// Copies Variables of the session. A Variable that no run has needed yet has its initial
    /// value. The program first synchronises the streams that may change the Variables. On success
    /// the call replaces tensors. It fails if no graph of the session has a Variable of that name.
    Status GetVariables(const std::vector<AscendString>& names, std::vector<Tensor>& tensors);
    Status GetVariables(const std::vector<std::string>& names, std::vector<Tensor>& tensors);
    Status GetVariables(std::initializer_list<AscendString> names, std::vector<Tensor>& tensors);

    /// Makes all checks of a run that need no data, with the descriptions of the Data operators,
    /// and computes the sizes that GetCompiledGraphSummary returns. It fails while a RunGraph or
    /// another CompileGraph of the session is in progress.
    Status CompileGraph(uint32_t graphId);
    /// Returns null before a successful CompileGraph.
    std::shared_ptr<CompiledGraphSummary> GetCompiledGraphSummary(uint32_t graphId);
    /// Prepares a compiled graph for runs on streams. It fails before CompileGraph, and if it is
    /// called twice. RunGraphWithStreamAsync works without CompileGraph and LoadGraph. Options are
    /// checked and have no effect.
    Status LoadGraph(const uint32_t graphId, const std::map<AscendString, AscendString>& options,
                     void* stream) const;
    /// Queues a run on a stream of the calling thread's current context, null for the default one,
    /// and returns. It waits for no stream. Tensors are in device memory: the program calls SetData with the address, the size and an empty deleter.
    /// outputs has one tensor for each output of the graph, with at least its bytes; the call sets
    /// its description. The program's memory must live until the run has ended. A synchronisation
    /// of the stream reports the failure of an operator on the device. An output may have the
    /// memory of the input that it updates; otherwise it must not overlap another tensor, nor may a
    /// RefData that the graph updates. The stream may be in a capture. If the call fails it queues
    /// nothing, with one exception: if the message names an operator that could not be queued, the
    /// operators before it are queued.
    Status RunGraphWithStreamAsync(uint32_t graphId, void* stream,
                                   const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);

    /// Returns true only for an unknown number.
    bool IsGraphNeedRebuild(uint32_t graphId);
    /// Returns the session's number, which no other session of the process has.
    uint64_t GetSessionId() const;

 private:
    std::shared_ptr<advstep::graph::SessionCore> core_;
};

}  // namespace ge

#endif  // ADVSTEP_GE_GE_API_H_
