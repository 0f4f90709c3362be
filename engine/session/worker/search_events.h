// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/worker/event_outlet.h"
#include "engine/text/tokenizer.h"

namespace engine {

/// Tells what a search did: its trials, what is drafted with from now on, the phase if it is a new
/// one, then the remarks. Without a tokenizer windows have no texts. Thread: engine.
void tellSearch(const SearchReport& report,
                const Tokenizer* tokenizer,
                bool hasNewPhase,
                EventOutlet& outlet);

} // namespace engine
