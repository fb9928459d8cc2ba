// SPDX-License-Identifier: Apache-2.0
// The public calls of graph mode: initialisation, sessions and messages.

#include "ge/ge_api.h"

#include <utility>

#include "src/graph/ir/messages.h"
#include "src/graph/session/engine.h"
#include "src/graph/session/session_core.h"

namespace ge {

using advstep::graph::Boundary;
using advstep::graph::OptionMap;
using advstep::graph::Options;
using advstep::graph::Outcome;
using advstep::graph::ParseOptions;
using advstep::graph::SessionCore;
using advstep::graph::TheEngine;

namespace {

OptionMap ToOptions(const std::map<std::string, std::string>& options) {
    OptionMap made;
    for (const auto& [key, value] : options) {
        made.emplace(AscendString(key.data(), key.size()),
                     AscendString(value.data(), value.size()));
    }
    return made;
}

AscendString ToMessage(const std::string& text) { return AscendString(text.data(), text.size()); }

// The body of a public call of a session.
template <typename Body>
Status InSession(const char* call, const std::shared_ptr<SessionCore>& core, Body&& body) {
    return Boundary(call, [&]() -> Outcome {
        ADVSTEP_GRAPH_RETURN_IF_ERROR(TheEngine().CheckOwn(core));
        return body(*core);
    });
}

// The options of a graph are checked, but none of them changes the run.
Outcome CheckAndAdd(SessionCore& core, uint32_t graphId, const Graph& graph,
                    const OptionMap& options, bool isCopy) {
    Options ignored;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(ParseOptions(options, &ignored));
    return core.AddGraph(graphId, graph, isCopy);
}

// The names are copied where memory that is short ends the call.
template <typename Names>
Status ReadVariables(const std::shared_ptr<SessionCore>& core, const Names& names,
                     std::vector<Tensor>* tensors) {
    return InSession("Session::GetVariables", core, [&](SessionCore& session) {
        std::vector<std::string> texts;
        for (const AscendString& name : names) {
            texts.emplace_back(name.GetString());
        }
        return session.GetVariables(texts, tensors);
    });
}

}  // namespace

Status GEInitialize(const OptionMap& options) {
    return Boundary("GEInitialize", [&] { return TheEngine().Initialize(options); });
}

Status GEInitialize(const std::map<std::string, std::string>& options) {
    return Boundary("GEInitialize", [&] { return TheEngine().Initialize(ToOptions(options)); });
}

Status GEInitialize(OptionList options) {
    return Boundary("GEInitialize", [&] { return TheEngine().Initialize(options); });
}

Status GEFinalize() {
    return Boundary("GEFinalize", [] {
        TheEngine().Finalize();
        return Outcome();
    });
}

AscendString GEGetErrorMsgV2() { return ToMessage(advstep::graph::TakeErrors()); }

AscendString GEGetWarningMsgV2() { return ToMessage(advstep::graph::TakeWarnings()); }

std::string GEGetErrorMsg() { return advstep::graph::TakeErrors(); }

std::string GEGetWarningMsg() { return advstep::graph::TakeWarnings(); }

Session::Session(const OptionMap& options) {
    Boundary("Session", [&] { return TheEngine().MakeSession(options, &core_); });
}

Session::Session(const std::map<std::string, std::string>& options) {
    Boundary("Session", [&] { return TheEngine().MakeSession(ToOptions(options), &core_); });
}

Session::Session(OptionList options) {
    Boundary("Session", [&] { return TheEngine().MakeSession(options, &core_); });
}

Session::~Session() {
    if (core_ == nullptr) {
        return;
    }
    if (!TheEngine().IsOwn(core_)) {
        TheEngine().Abandon(std::move(core_));
        return;
    }
    InSession("~Session", core_, [](SessionCore& core) {
        core.End(true);
        return Outcome();
    });
}

Status Session::AddGraph(uint32_t graphId, const Graph& graph) {
    return AddGraph(graphId, graph, OptionMap());
}

Status Session::AddGraph(uint32_t graphId, const Graph& graph, const OptionMap& options) {
    return InSession("Session::AddGraph", core_, [&](SessionCore& core) {
        return CheckAndAdd(core, graphId, graph, options, false);
    });
}

Status Session::AddGraph(uint32_t graphId, const Graph& graph,
                         const std::map<std::string, std::string>& options) {
    return InSession("Session::AddGraph", core_, [&](SessionCore& core) {
        return CheckAndAdd(core, graphId, graph, ToOptions(options), false);
    });
}

Status Session::AddGraph(uint32_t graphId, const Graph& graph, OptionList options) {
    return InSession("Session::AddGraph", core_, [&](SessionCore& core) {
        return CheckAndAdd(core, graphId, graph, options, false);
    });
}

Status Session::AddGraphWithCopy(uint32_t graphId, const Graph& graph) {
    return AddGraphWithCopy(graphId, graph, {});
}

Status Session::AddGraphWithCopy(uint32_t graphId, const Graph& graph, const OptionMap& options) {
    return InSession("Session::AddGraphWithCopy", core_, [&](SessionCore& core) {
        return CheckAndAdd(core, graphId, graph, options, true);
    });
}

Status Session::RemoveGraph(uint32_t graphId) {
    return InSession("Session::RemoveGraph", core_,
                     [&](SessionCore& core) { return core.RemoveGraph(graphId); });
}

Status Session::BuildGraph(uint32_t graphId, const std::vector<Tensor>& inputs) {
    return InSession("Session::BuildGraph", core_,
                     [&](SessionCore& core) { return core.BuildGraph(graphId, inputs); });
}

Status Session::RunGraph(uint32_t graphId, const std::vector<Tensor>& inputs,
                         std::vector<Tensor>& outputs) {
    return InSession("Session::RunGraph", core_,
                     [&](SessionCore& core) { return core.RunGraph(graphId, inputs, &outputs); });
}

Status Session::RunGraphAsync(uint32_t graphId, const std::vector<Tensor>& inputs,
                              RunAsyncCallback callback) {
    return InSession("Session::RunGraphAsync", core_, [&](SessionCore& core) {
        return core.RunGraphAsync(graphId, inputs, std::move(callback));
    });
}

Status Session::GetVariables(const std::vector<AscendString>& names, std::vector<Tensor>& tensors) {
    return ReadVariables(core_, names, &tensors);
}

Status Session::GetVariables(const std::vector<std::string>& names, std::vector<Tensor>& tensors) {
    return InSession("Session::GetVariables", core_,
                     [&](SessionCore& core) { return core.GetVariables(names, &tensors); });
}

Status Session::GetVariables(std::initializer_list<AscendString> names,
                             std::vector<Tensor>& tensors) {
    return ReadVariables(core_, names, &tensors);
}

Status Session::CompileGraph(uint32_t graphId) {
    return InSession("Session::CompileGraph", core_,
                     [&](SessionCore& core) { return core.CompileGraph(graphId); });
}

std::shared_ptr<CompiledGraphSummary> Session::GetCompiledGraphSummary(uint32_t graphId) {
    advstep::graph::Summary summary;
    InSession("Session::GetCompiledGraphSummary", core_,
              [&](SessionCore& core) { return core.FindSummary(graphId, &summary); });
    return summary;
}

Status Session::LoadGraph(const uint32_t graphId, const OptionMap& options, void* stream) const {
    return InSession("Session::LoadGraph", core_, [&](SessionCore& core) -> Outcome {
        Options ignored;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(ParseOptions(options, &ignored));
        return core.LoadGraph(graphId, stream);
    });
}

Status Session::RunGraphWithStreamAsync(uint32_t graphId, void* stream,
                                        const std::vector<Tensor>& inputs,
                                        std::vector<Tensor>& outputs) {
    return InSession("Session::RunGraphWithStreamAsync", core_, [&](SessionCore& core) {
        return core.RunOnStream(graphId, stream, inputs, &outputs);
    });
}

bool Session::IsGraphNeedRebuild(uint32_t graphId) {
    return !TheEngine().IsOwn(core_) || !core_->HasGraph(graphId);
}

uint64_t Session::GetSessionId() const { return core_ == nullptr ? 0 : core_->id(); }

}  // namespace ge
