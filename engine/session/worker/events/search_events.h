// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/worker/events/event_outlet.h"
#include "engine/text/tokenizer.h"

namespace engine {

/// Reports a search: its trials, the plan that drafts use from now on, the phase if it is new, then
/// the notes. What names no task belongs to `task`. Without a tokenizer, windows have no texts.
/// Thread: engine.
void tellSearch(const SearchReport& report,
                const std::string& task,
                const Tokenizer* tokenizer,
                bool hasNewPhase,
                EventOutlet& outlet,
                std::uint64_t conversation);

} // namespace engine
