/// Sessions: graphs are added, and run on the emulated device. Behaviour: docs/graph_mode.md.
#ifndef ADVSTEP_GE_GE_API_H_
#define ADVSTEP_GE_GE_API_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "../graph/ascend_string.h"
#include "../graph/graph.h"
#include "../graph/tensor.h"
#include "ge_api_error_codes.h"
#include "ge_api_types.h"

namespace advstep {
namespace graph {
class SessionCore;
}  // namespace graph
}  // namespace advstep

namespace ge {

/// Must come before the first session. The second call succeeds, and the first one's options stay.
/// FAILED for an empty key, or a value that is not an integer where one is expected.
ADVSTEP_GRAPH_API Status GEInitialize(const std::map<AscendString, AscendString>& options);

/// Ends all sessions, after their queued runs, for good; in a callback of a run it does not wait for
/// them. Always SUCCESS. GEInitialize may follow.
ADVSTEP_GRAPH_API Status GEFinalize();

/// The calling thread's messages since the last call, a line each as `Title(Code): text`; "" when
/// there are none. At most the newest 1000.
ADVSTEP_GRAPH_API AscendString GEGetErrorMsgV2();
ADVSTEP_GRAPH_API AscendString GEGetWarningMsgV2();

/// Every call may be made from any thread. Calls return SUCCESS, or FAILED with a message; and
/// FAILED on a session that was made without GEInitialize or lived through GEFinalize.
class ADVSTEP_GRAPH_API Session {
 public:
    /// Unknown options are ignored, with a warning. A bad option makes a session that only fails.
    explicit Session(const std::map<AscendString, AscendString>& options);
    /// Waits for queued runs; in a callback of a run it does not wait, and they still run.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Records the graph as it is now, under a number. If the number is in use, it succeeds and the
    /// first graph stays. A graph can be added once, AddGraphWithCopy aside.
    Status AddGraph(uint32_t graphId, const Graph& graph);
    Status AddGraph(uint32_t graphId, const Graph& graph,
                    const std::map<AscendString, AscendString>& options);
    Status AddGraphWithCopy(uint32_t graphId, const Graph& graph);
    Status AddGraphWithCopy(uint32_t graphId, const Graph& graph,
                            const std::map<AscendString, AscendString>& options);
    /// Queued runs still run.
    Status RemoveGraph(uint32_t graphId);

    /// Makes all the checks of RunGraph that need no data.
    /// 1343242242 for an unknown number, as the runs.
    Status BuildGraph(uint32_t graphId, const std::vector<Tensor>& inputs);
    /// Runs the graph, behind runs that are queued. inputs[i] feeds the Data operator of index i;
    /// where the indices are not 0 to n - 1, the i-th one in the order of SetInputs. outputs is
    /// cleared, and filled on success. Fails while another RunGraph of the session is under way.
    Status RunGraph(uint32_t graphId, const std::vector<Tensor>& inputs,
                    std::vector<Tensor>& outputs);
    /// Copies the inputs, queues a run and returns. Runs of a session are made in order, by one
    /// thread, which then makes the callback. On failure there is no callback.
    Status RunGraphAsync(uint32_t graphId, const std::vector<Tensor>& inputs,
                         RunAsyncCallback callback);

    /// True for an unknown number only.
    bool IsGraphNeedRebuild(uint32_t graphId);
    /// A number that no other session of the process has.
    uint64_t GetSessionId() const;

 private:
    std::shared_ptr<advstep::graph::SessionCore> core_;
};

}  // namespace ge

#endif  // ADVSTEP_GE_GE_API_H_
