// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_terms.h"
#include "engine/decoding/target.h"

namespace engine {

/// Drafts what may follow the pending token. Thread: engine.
class Drafter {
public:
    virtual ~Drafter() = default;

    /// A draft within the terms, and the time it took. Errors: those of a pass; Cancelled between
    /// passes.
    Result<Draft> draft(Target& target, const DraftTerms& terms);

protected:
    /// How long a chain may become, and what limits it.
    struct ChainLimit {
        int tokens = 0; ///< 0 or less: there is no room for a draft
        DraftEnd end;
    };

    static ChainLimit chainLimit(const Target& target, const DraftTerms& terms);

private:
    /// Makes the draft; draft() takes the time.
    virtual Result<Draft> makeDraft(Target& target, const DraftTerms& terms) = 0;
};

} // namespace engine
