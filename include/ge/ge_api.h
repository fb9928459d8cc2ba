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

/// Options written in braces at a call, {} among them. Maps are given by name. Without this form
/// the braces could mean a map of either kind of strings.
using OptionList = std::initializer_list<std::pair<const AscendString, AscendString>>;

/// Starts graph mode; it must be called before the first session. A second call succeeds and
/// changes no options. Returns FAILED for an empty key, and for a value that is not an integer if
/// the option expects one.
ADVSTEP_GRAPH_API Status GEInitialize(const std::map<AscendString, AscendString>& options);
ADVSTEP_GRAPH_API Status GEInitialize(const std::map<std::string, std::string>& options);
ADVSTEP_GRAPH_API Status GEInitialize(OptionList options);

/// Waits for the queued runs of all sessions, then ends the sessions. A call from the callback of a
/// run does not wait. Returns SUCCESS. GEInitialize may follow, but does not revive the sessions.
ADVSTEP_GRAPH_API Status GEFinalize();

/// Returns the calling thread's messages since the last call, at most the newest 1000, each on a
/// line as `Title(Code): text`; "" if there are none.
ADVSTEP_GRAPH_API AscendString GEGetErrorMsgV2();
ADVSTEP_GRAPH_API AscendString GEGetWarningMsgV2();
ADVSTEP_GRAPH_API std::string GEGetErrorMsg();
ADVSTEP_GRAPH_API std::string GEGetWarningMsg();

/// Every call may be made from any thread. A call returns SUCCESS, or FAILED with a message. Calls
/// of a session return FAILED if GEInitialize was not called before the session was made, or if
/// GEFinalize was called since.
class ADVSTEP_GRAPH_API Session {
 public:
    /// Ignores unknown options, with a warning. All calls of a session with a bad option fail.
    explicit Session(const std::map<AscendString, AscendString>& options);
    explicit Session(const std::map<std::string, std::string>& options);
    explicit Session(OptionList options);
    /// Waits for queued runs. A call from the callback of a run does not wait; queued runs still
    /// run.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Stores the present state of the graph under a number. If the number is in use, the call
    /// succeeds and the first graph stays. A graph can be added only once, except by
    /// AddGraphWithCopy.
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

    /// Makes all checks of RunGraph that need no data. Returns 1343242242 for an unknown number, as
    /// the runs do.
    Status BuildGraph(uint32_t graphId, const std::vector<Tensor>& inputs);
    /// Runs the graph after all queued runs. inputs[i] is the input of the Data operator with index
    /// i; if the indices are not 0 to n - 1, of the i-th Data operator in the order of SetInputs.
    /// The call clears outputs, and fills it on success. It fails while another RunGraph of the
    /// session is in progress.
    Status RunGraph(uint32_t graphId, const std::vector<Tensor>& inputs,
                    std::vector<Tensor>& outputs);
    /// Copies the inputs, queues a run and returns. One thread makes the runs of a session in
    /// order, and calls the callback after each. If this call fails there is no callback.
    Status RunGraphAsync(uint32_t graphId, const std::vector<Tensor>& inputs,
                         RunAsyncCallback callback);

    /// Copies Variables of the session. One that no run has needed yet has its initial value. A
    /// program synchronises the streams that may change them first. The call replaces tensors
    /// on success. It fails if no graph of the session has a Variable of a name.
    Status GetVariables(const std::vector<AscendString>& names, std::vector<Tensor>& tensors);
    Status GetVariables(const std::vector<std::string>& names, std::vector<Tensor>& tensors);
    Status GetVariables(std::initializer_list<AscendString> names, std::vector<Tensor>& tensors);

    /// Makes all checks of a run that need no data, with the descriptions of the Data operators,
    /// and measures the graph.
    Status CompileGraph(uint32_t graphId);
    /// Returns null before a successful CompileGraph.
    std::shared_ptr<CompiledGraphSummary> GetCompiledGraphSummary(uint32_t graphId);
    /// Prepares a compiled graph for runs on streams; it fails before CompileGraph and the second
    /// time. RunGraphWithStreamAsync needs neither call. Options are checked and have no effect.
    Status LoadGraph(const uint32_t graphId, const std::map<AscendString, AscendString>& options,
                     void* stream) const;
    /// Queues a run on a stream of the calling thread's current context, and returns. Tensors have
    /// device memory: SetData with its address, its size and an empty deleter. There is one tensor
    /// in outputs for each output of the graph, with at least its bytes; the call describes it.
    /// Memory of the program must live until the run has ended. A failure of an operator on the
    /// device is reported by the stream's synchronisation. An output may have the memory of the
    /// input that it updates; otherwise it must not overlap a tensor. The stream may be in a
    /// capture. If the call fails, nothing is queued, unless the message names an operator that
    /// could not be queued; those before it are.
    Status RunGraphWithStreamAsync(uint32_t graphId, void* stream,
                                   const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);

    /// Returns true only for an unknown number.
    bool IsGraphNeedRebuild(uint32_t graphId);
    /// Returns the session's number. No other session of the process has the same one.
    uint64_t GetSessionId() const;

 private:
    std::shared_ptr<advstep::graph::SessionCore> core_;
};

}  // namespace ge

#endif  // ADVSTEP_GE_GE_API_H_
