// SPDX-License-Identifier: Apache-2.0
// The record of a launch that an update of its task group may replace after it has been queued.

#pragma once

#include "src/runtime/capture/model_body.h"

namespace advstep {

/// Appends the record of a launch of a group, with the launch itself inside. When the record is
/// run, it runs the launch that the group has in its place then, or its own if the group has ended.
void AppendGroupLaunch(const RecordedTask& launch, TaskRecord* records);

}  // namespace advstep
