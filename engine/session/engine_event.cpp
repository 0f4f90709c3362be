// SPDX-License-Identifier: Apache-2.0
#include "engine/session/engine_event.h"

namespace engine {

EventContent::EventContent(const EventContent& other) = default;
EventContent::EventContent(EventContent&& other) noexcept = default;
EventContent& EventContent::operator=(const EventContent& other) = default;
EventContent& EventContent::operator=(EventContent&& other) noexcept = default;
EventContent::~EventContent() = default;

std::string_view eventKind(const EngineEvent& event) {
    return std::visit([](const auto& content) { return content.kKind; }, event.content);
}

} // namespace engine
