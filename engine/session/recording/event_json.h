// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/session/engine_event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// An event as one JSON object in one line: {"event":"step_finished","time":1.5,...}, ASCII only,
/// numbers with all their digits. A number that is not finite becomes null.
std::string eventJson(EngineEvent event);

/// Reads what eventJson() wrote; a missing member keeps its default, an unknown one is ignored.
/// `where` begins the messages; offsets in them are counted from `firstByte`. Nothing when the kind
/// of event is unknown. Errors: CorruptFile naming the member and the byte.
Result<std::optional<EngineEvent>>
readEventJson(std::string_view text, const std::string& where, std::uint64_t firstByte);

} // namespace engine
