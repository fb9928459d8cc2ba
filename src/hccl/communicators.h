// SPDX-License-Identifier: Apache-2.0
// The communicators of the process, by their handles.

#pragma once

#include <memory>
#include <string>

#include "src/hccl/communicator.h"

namespace advstep::hccl {

/// Adds a communicator. Handles are numbers that are not used again in this process.
HcclComm AddCommunicator(std::shared_ptr<Communicator> communicator);

/// HCCL_E_PTR: the handle is null. HCCL_E_PARA: it is none of this process.
Outcome FindCommunicator(HcclComm comm, std::shared_ptr<Communicator>* communicator);
/// HCCL_E_NOT_FOUND: there is none of that name.
Outcome FindCommunicator(const std::string& name, HcclComm* comm);
/// As the first; the handle is no more valid afterwards.
Outcome RemoveCommunicator(HcclComm comm, std::shared_ptr<Communicator>* communicator);

/// Lets aborts of devices end the operators of their communicators. The end of the runtime forgets
/// it, so each new communicator asks for it.
void HookAborts();

}  // namespace advstep::hccl
