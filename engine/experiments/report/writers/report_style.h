// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace engine {

/// The style sheet of report.html but for its colours, which are variables (see inkStyles()).
const char* reportStyle();

} // namespace engine
