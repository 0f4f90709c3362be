// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/prompt_row.h"

#include <functional>

namespace ui {

/// A condition on prompts, as it is typed: "task = math and acceptance < .8". Fields: prompt, task,
/// text, tokens, M, accepted, drafted, acceptance, speed, drafter. Numbers are compared by = != <
/// <= > >=, words by = and != (capitals do not matter) and by "contains". Conditions are joined by
/// "and", "or", "not" and brackets; in quotation marks stands what has such words, and a mark
/// itself twice. A figure that was not measured meets no comparison. A plain value.
class PromptSlice {
public:
    /// Every prompt is in the empty slice.
    PromptSlice() = default;

    bool contains(const PromptRow& row) const { return !m_test || m_test(row); }

    bool isEmpty() const { return !m_test; }

    using Test = std::function<bool(const PromptRow&)>;

    struct Parsed;

    /// Empty text is the empty slice.
    static Parsed parse(const QString& text);

private:
    explicit PromptSlice(Test test)
        : m_test(std::move(test)) {}

    Test m_test;
};

struct PromptSlice::Parsed {
    PromptSlice slice;
    QString problem; ///< one sentence for the user; empty if the text was understood
};

/// A text as the value of a condition: in quotation marks if it has to be.
QString sliceValue(const QString& text);

} // namespace ui
