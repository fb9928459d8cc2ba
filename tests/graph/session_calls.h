// SPDX-License-Identifier: Apache-2.0
// Every call of a session that may fail.
#ifndef ADVANCE_STEP_TESTS_GRAPH_SESSION_CALLS_H_
#define ADVANCE_STEP_TESTS_GRAPH_SESSION_CALLS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph_fixture.h"

namespace graphs {

struct SessionCall {
    const char* name;  // in its messages
    std::function<ge::Status(ge::Session&)> make;
};

// The calls are of graph 1, with this graph for those that add one.
inline std::vector<SessionCall> EverySessionCall(const ge::Graph& graph) {
    using Options = std::map<ge::AscendString, ge::AscendString>;
    using Texts = std::map<std::string, std::string>;
    using Names = std::vector<ge::AscendString>;
    using TextNames = std::vector<std::string>;
    const auto run = [](ge::Status, std::vector<ge::Tensor>&) {
        ADD_FAILURE() << "a refused run was made";
    };
    static std::vector<ge::Tensor> outputs;
    return {
        {"AddGraph", [=](ge::Session& s) { return s.AddGraph(1, graph); }},
        {"AddGraph", [=](ge::Session& s) { return s.AddGraph(1, graph, Options{}); }},
        {"AddGraph", [=](ge::Session& s) { return s.AddGraph(1, graph, Texts{}); }},
        {"AddGraph",
         [=](ge::Session& s) {
             return s.AddGraph(1, graph, {{"ge.one", "1"}});
         }},
        {"AddGraphWithCopy", [=](ge::Session& s) { return s.AddGraphWithCopy(1, graph); }},
        {"AddGraphWithCopy",
         [=](ge::Session& s) { return s.AddGraphWithCopy(1, graph, Options{}); }},
        {"RemoveGraph", [](ge::Session& s) { return s.RemoveGraph(1); }},
        {"BuildGraph", [](ge::Session& s) { return s.BuildGraph(1, {}); }},
        {"RunGraph", [](ge::Session& s) { return s.RunGraph(1, {}, outputs); }},
        {"RunGraphAsync", [=](ge::Session& s) { return s.RunGraphAsync(1, {}, run); }},
        {"GetVariables", [](ge::Session& s) { return s.GetVariables(Names{"v"}, outputs); }},
        {"GetVariables", [](ge::Session& s) { return s.GetVariables(TextNames{"v"}, outputs); }},
        {"GetVariables",
         [](ge::Session& s) { return s.GetVariables({ge::AscendString("v")}, outputs); }},
        {"CompileGraph", [](ge::Session& s) { return s.CompileGraph(1); }},
        {"GetCompiledGraphSummary",
         [](ge::Session& s) {
             return s.GetCompiledGraphSummary(1) == nullptr ? ge::FAILED : ge::SUCCESS;
         }},
        {"LoadGraph", [](ge::Session& s) { return s.LoadGraph(1, Options{}, nullptr); }},
        {"RunGraphWithStreamAsync",
         [](ge::Session& s) { return s.RunGraphWithStreamAsync(1, nullptr, {}, outputs); }},
    };
}

// Returns the calls that the session does not refuse as one that is not alive; "" if it refuses
// all.
inline std::string CallsTakenBy(ge::Session& session, const ge::Graph& graph) {
    std::string taken;
    ge::GEGetErrorMsgV2();
    for (const SessionCall& call : EverySessionCall(graph)) {
        const ge::Status status = call.make(session);
        const std::string message = ge::GEGetErrorMsgV2().GetString();
        const std::string name = std::string("Session::") + call.name + ":";
        if (status != ge::FAILED || message.find("(E10062)") == std::string::npos ||
            message.find(name) == std::string::npos) {
            taken += std::string(call.name) + " returned " + std::to_string(status) + " with \"" +
                     message + "\"\n";
        }
    }
    return session.IsGraphNeedRebuild(1) ? taken : taken + "IsGraphNeedRebuild\n";
}

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_SESSION_CALLS_H_
