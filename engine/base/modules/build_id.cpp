// SPDX-License-Identifier: Apache-2.0
#include "engine/base/modules/run_time_module.h"

namespace engine {

std::string_view buildId() { return SWIFT_STUDIO_BUILD_ID; }

} // namespace engine
