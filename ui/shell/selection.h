// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/recording/session_records.h"

#include <QObject>

#include <cstdint>
#include <optional>

namespace ui {

/// The user's selection, shared by all views: a place in the search's history, a pinned skip set, a
/// token of an answer. Thread: UI.
class Selection : public QObject {
    Q_OBJECT

public:
    struct Token {
        std::uint64_t promptId = 0;
        int index = -1;    ///< into Answer::tokens; -1: its answer is not one of this run
        int firstStep = 0; ///< of the prompt in the message; more than 0 where that was continued

        bool operator==(const Token&) const = default;
    };

    using QObject::QObject;

    /// Index into SearchLog::bestSets(); none = live, the newest one.
    std::optional<int> historyIndex() const { return m_historyIndex; }

    /// The set that others are compared with; none = nothing is pinned.
    const std::optional<engine::PlanOutline>& pinnedSet() const { return m_pinnedSet; }

    std::optional<Token> token() const { return m_token; }

    void setHistoryIndex(std::optional<int> index) { set(m_historyIndex, index); }

    void setPinnedSet(std::optional<engine::PlanOutline> outline) {
        set(m_pinnedSet, std::move(outline));
    }

    void setToken(std::optional<Token> token) { set(m_token, token); }

signals:
    void changed();

private:
    template <typename T> void set(T& place, T value) {
        if (place == value)
            return;
        place = std::move(value);
        emit changed();
    }

    std::optional<int> m_historyIndex;
    std::optional<engine::PlanOutline> m_pinnedSet;
    std::optional<Token> m_token;
};

} // namespace ui
