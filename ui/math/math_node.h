// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <vector>

namespace ui {

/// What an atom is to its neighbours; decides the spaces between them.
enum class AtomClass : std::uint8_t {
    Ordinary,
    Operator,
    Binary,
    Relation,
    Opening,
    Closing,
    Punctuation,
    Inner
};

enum class MathFont : std::uint8_t { Italic, Upright, Bold, BoldItalic, Sans, Mono };

enum class MathKind : std::uint8_t {
    Row,       ///< parts beside each other
    Symbol,    ///< `text`: a letter, a number or a sign
    Word,      ///< `text`: words, or the name of a function
    Space,     ///< `amount` em
    Style,     ///< what follows in the row is set large (amount 0) or as in a line (amount 1)
    Fraction,  ///< above, below; `isBare`: without a rule
    Root,      ///< what is under it, its index (an empty row: none)
    Scripts,   ///< base, below, above; an empty row where there is none
    Fenced,    ///< parts with `fences` around and between them
    Delimiter, ///< fences[0], `amount` em high
    Accent,    ///< `text` over the part
    Line,      ///< a line over (text "over") or below the part
    Brace,     ///< a brace over (text "over") or below the part
    Stack,     ///< base, small above, small below
    Arrow,     ///< fences[0], as long as its parts: above, below
    Table,     ///< cells row by row, `columns` of them in a row; `text`: l, c, r for each column
    Frame,     ///< a frame around the part
    Hidden,    ///< the room of its part
    Source,    ///< `text`, which is not understood, as it was written
};

/// A formula as a tree. A plain value.
struct MathNode {
    MathKind kind = MathKind::Row;
    AtomClass atom = AtomClass::Ordinary;
    MathFont font = MathFont::Italic;
    bool isBare = false;
    bool hasLimits = false; ///< Scripts and operators: above and below when set large
    bool isLarge = false;   ///< an operator that grows when set large
    bool isTight = false;   ///< a table whose columns belong together in pairs
    int columns = 0;
    double amount = 0.0;
    QString text = {};
    QStringList fences = {};
    std::vector<MathNode> parts = {};

    bool isEmptyRow() const { return kind == MathKind::Row && parts.empty(); }
};

} // namespace ui
