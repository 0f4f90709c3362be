// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/round/target_law.h"

#include <algorithm>

namespace engine {

void TargetLaw::apply(const LawRows& rows, ForwardResult& pass) {
    m_sequence.assign(rows.sequence.begin(), rows.sequence.end());
    const auto width = static_cast<std::size_t>(pass.vocabSize);
    for (int row = 0; row <= rows.draft.size(); ++row) {
        m_sequence.resize(rows.sequence.size());
        for (int node = row - 1; node >= 0; node = rows.draft.node(node).parent)
            m_sequence.push_back(rows.draft.node(node).token);
        std::reverse(m_sequence.begin() + static_cast<std::ptrdiff_t>(rows.sequence.size()),
                     m_sequence.end());
        const auto place = static_cast<std::size_t>(row);
        const auto logits = std::span(pass.logits).subspan(place * width, width);
        m_penalties.apply(m_sequence, rows.promptLength, logits);
        pass.summaries[place] = summarise(logits);
    }
}

} // namespace engine
