// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/figure_table.h"
#include "ui/theme/theme.h"
#include "ui/views/learn/slow_motion/walk_scene.h"

#include <QString>

#include <vector>

namespace ui {

/// A word of a sentence that has the colour of what it names in the picture.
enum class WordTone { Stop, Flash, Accepted, Gone, Warning };

/// How such words are written: plainly, or as HTML in the theme's colours.
class WordStyle {
public:
    WordStyle() = default;

    explicit WordStyle(const Colours& colours)
        : m_colours(&colours) {}

    QString word(const QString& text, WordTone tone) const;

    /// Whatever comes from a model or a file.
    QString safe(const QString& text) const;

private:
    const Colours* m_colours = nullptr;
};

/// A line of "This round in numbers". A plain value.
struct WalkLine {
    QString label;
    QString value;
    bool isStrong = false;
};

QString stopTitle(engine::RoundStop stop); ///< "Draft"

/// What happens at a stop, for a reader who has never heard of it.
QString
stopSentence(const engine::RoundWalk& walk, engine::RoundStop stop, const WordStyle& style = {});

/// The arithmetic of a stop in the numbers of this round.
std::vector<WalkLine> stopLines(const engine::RoundWalk& walk, engine::RoundStop stop);

/// The figures of the answer, with this round or without it.
std::vector<WalkLine> answerLines(const engine::RoundWalk& walk, bool isWithRound);

/// The stop's picture as a table.
FigureTable stopTable(const engine::RoundWalk& walk, engine::RoundStop stop);

/// The stop in words: its sentence and its arithmetic, for a screen reader.
QString stopSummary(const engine::RoundWalk& walk, engine::RoundStop stop);

/// What a row of the pass may see: "Row a sees the, lamp and itself".
QString rowSentence(const engine::RoundWalk& walk, int row);

} // namespace ui
