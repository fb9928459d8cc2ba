# SPDX-License-Identifier: Apache-2.0
# Source this file in bash or zsh: programs then find this folder where they look for CANN.
ASCEND_HOME_PATH=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)
export ASCEND_HOME_PATH
export ASCEND_TOOLKIT_HOME=$ASCEND_HOME_PATH
export ASCEND_CUSTOM_PATH=$ASCEND_HOME_PATH
export LD_LIBRARY_PATH=$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
