// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/origin/token_mark.h"

#include <QRandomGenerator>
#include <QString>

#include <vector>

/// A text and its tokens.
struct MessageSample {
    QString text;
    std::vector<ui::TokenMark> tokens;

    /// Adds a token; `confidence` is the draft's.
    void add(const QString& token, engine::TokenOrigin origin, double confidence = 0.9) {
        ui::TokenMark mark;
        mark.begin = static_cast<int>(text.size());
        text += token;
        mark.end = static_cast<int>(text.size());
        mark.origin = origin;
        mark.rank = origin == engine::TokenOrigin::Draft     ? 0
                    : origin == engine::TokenOrigin::Sibling ? 1
                                                             : -1;
        mark.draftProbability = confidence;
        tokens.push_back(mark);
    }
};

/// The text cut into tokens of 1 to 5 characters, some empty, of random origins.
inline MessageSample tokenised(QRandomGenerator& random, const QString& text) {
    using engine::TokenOrigin;
    constexpr TokenOrigin kOrigins[] = {
        TokenOrigin::Vanilla, TokenOrigin::Draft, TokenOrigin::Sibling, TokenOrigin::Bonus};
    MessageSample sample;
    for (qsizetype begin = 0; begin < text.size();) {
        const int length = random.bounded(6);
        sample.add(text.mid(begin, length), kOrigins[random.bounded(4)], random.generateDouble());
        begin += length;
    }
    return sample;
}
