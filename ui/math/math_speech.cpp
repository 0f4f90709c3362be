// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/math_speech.h"

#include <QCoreApplication>

#include <array>

namespace ui {

namespace {

QString say(const char* text) { return QCoreApplication::translate("MathSpeech", text); }

struct SpokenSign {
    const char16_t* sign;
    const char* words;
};

/// Signs that screen readers leave out or name wrongly.
constexpr std::array kSigns = {
    SpokenSign{u"+", QT_TRANSLATE_NOOP("MathSpeech", "plus")},
    SpokenSign{u"\u2212", QT_TRANSLATE_NOOP("MathSpeech", "minus")},
    SpokenSign{u"±", QT_TRANSLATE_NOOP("MathSpeech", "plus or minus")},
    SpokenSign{u"⋅", QT_TRANSLATE_NOOP("MathSpeech", "times")},
    SpokenSign{u"×", QT_TRANSLATE_NOOP("MathSpeech", "times")},
    SpokenSign{u"\u2217", QT_TRANSLATE_NOOP("MathSpeech", "times")},
    SpokenSign{u"÷", QT_TRANSLATE_NOOP("MathSpeech", "divided by")},
    SpokenSign{u"/", QT_TRANSLATE_NOOP("MathSpeech", "over")},
    SpokenSign{u"=", QT_TRANSLATE_NOOP("MathSpeech", "equals")},
    SpokenSign{u"≠", QT_TRANSLATE_NOOP("MathSpeech", "is not equal to")},
    SpokenSign{u"≈", QT_TRANSLATE_NOOP("MathSpeech", "is about")},
    SpokenSign{u"≡", QT_TRANSLATE_NOOP("MathSpeech", "is identical to")},
    SpokenSign{u"∼", QT_TRANSLATE_NOOP("MathSpeech", "is distributed as")},
    SpokenSign{u"<", QT_TRANSLATE_NOOP("MathSpeech", "is less than")},
    SpokenSign{u">", QT_TRANSLATE_NOOP("MathSpeech", "is greater than")},
    SpokenSign{u"≤", QT_TRANSLATE_NOOP("MathSpeech", "is at most")},
    SpokenSign{u"≥", QT_TRANSLATE_NOOP("MathSpeech", "is at least")},
    SpokenSign{u"∝", QT_TRANSLATE_NOOP("MathSpeech", "is proportional to")},
    SpokenSign{u"∈", QT_TRANSLATE_NOOP("MathSpeech", "in")},
    SpokenSign{u"∉", QT_TRANSLATE_NOOP("MathSpeech", "not in")},
    SpokenSign{u"⊂", QT_TRANSLATE_NOOP("MathSpeech", "is a subset of")},
    SpokenSign{u"⊆", QT_TRANSLATE_NOOP("MathSpeech", "is a subset of")},
    SpokenSign{u"∩", QT_TRANSLATE_NOOP("MathSpeech", "intersected with")},
    SpokenSign{u"∪", QT_TRANSLATE_NOOP("MathSpeech", "united with")},
    SpokenSign{u"→", QT_TRANSLATE_NOOP("MathSpeech", "to")},
    SpokenSign{u"⇒", QT_TRANSLATE_NOOP("MathSpeech", "implies")},
    SpokenSign{u"⟹", QT_TRANSLATE_NOOP("MathSpeech", "implies")},
    SpokenSign{u"⇔", QT_TRANSLATE_NOOP("MathSpeech", "if and only if")},
    SpokenSign{u"⟺", QT_TRANSLATE_NOOP("MathSpeech", "if and only if")},
    SpokenSign{u"∞", QT_TRANSLATE_NOOP("MathSpeech", "infinity")},
    SpokenSign{u"∂", QT_TRANSLATE_NOOP("MathSpeech", "partial d")},
    SpokenSign{u"∇", QT_TRANSLATE_NOOP("MathSpeech", "nabla")},
    SpokenSign{u"∀", QT_TRANSLATE_NOOP("MathSpeech", "for all")},
    SpokenSign{u"∃", QT_TRANSLATE_NOOP("MathSpeech", "there is")},
    SpokenSign{u"¬", QT_TRANSLATE_NOOP("MathSpeech", "not")},
    SpokenSign{u"∧", QT_TRANSLATE_NOOP("MathSpeech", "and")},
    SpokenSign{u"∨", QT_TRANSLATE_NOOP("MathSpeech", "or")},
    SpokenSign{u"∣", QT_TRANSLATE_NOOP("MathSpeech", "given")},
    SpokenSign{u"…", QT_TRANSLATE_NOOP("MathSpeech", "and so on")},
    SpokenSign{u"⋯", QT_TRANSLATE_NOOP("MathSpeech", "and so on")},
    SpokenSign{u"∑", QT_TRANSLATE_NOOP("MathSpeech", "sum")},
    SpokenSign{u"∏", QT_TRANSLATE_NOOP("MathSpeech", "product")},
    SpokenSign{u"∫", QT_TRANSLATE_NOOP("MathSpeech", "integral")},
    SpokenSign{u"(", QT_TRANSLATE_NOOP("MathSpeech", "open parenthesis")},
    SpokenSign{u")", QT_TRANSLATE_NOOP("MathSpeech", "close parenthesis")},
    SpokenSign{u"[", QT_TRANSLATE_NOOP("MathSpeech", "open bracket")},
    SpokenSign{u"]", QT_TRANSLATE_NOOP("MathSpeech", "close bracket")},
    SpokenSign{u"{", QT_TRANSLATE_NOOP("MathSpeech", "open brace")},
    SpokenSign{u"}", QT_TRANSLATE_NOOP("MathSpeech", "close brace")},
    SpokenSign{u"|", QT_TRANSLATE_NOOP("MathSpeech", "bar")},
    SpokenSign{u"‖", QT_TRANSLATE_NOOP("MathSpeech", "double bar")},
    SpokenSign{u"!", QT_TRANSLATE_NOOP("MathSpeech", "factorial")},
    SpokenSign{u"\u2032", QT_TRANSLATE_NOOP("MathSpeech", "prime")},
};

struct SpokenAccent {
    const char16_t* sign;
    const char* words;
};

constexpr std::array kAccentWords = {
    SpokenAccent{u"^", QT_TRANSLATE_NOOP("MathSpeech", "%1 hat")},
    SpokenAccent{u"~", QT_TRANSLATE_NOOP("MathSpeech", "%1 tilde")},
    SpokenAccent{u"\u00AF", QT_TRANSLATE_NOOP("MathSpeech", "%1 bar")},
    SpokenAccent{u"→", QT_TRANSLATE_NOOP("MathSpeech", "vector %1")},
    SpokenAccent{u"˙", QT_TRANSLATE_NOOP("MathSpeech", "%1 dot")},
    SpokenAccent{u"¨", QT_TRANSLATE_NOOP("MathSpeech", "%1 double dot")},
};

QString signWords(const QString& sign) {
    if (sign.size() > 1 && sign.endsWith(QChar(0x0338))) // crossed out
        return say("not") + u' ' + signWords(sign.chopped(1));
    if (sign.size() > 1 && sign.startsWith(QChar(0x2032))) // "prime prime"
        return signWords(sign.first(1)) + u' ' + signWords(sign.sliced(1));
    for (const SpokenSign& known : kSigns)
        if (sign == QStringView(known.sign))
            return say(known.words);
    return sign;
}

/// Whether a part is one sign and needs no word for its end.
bool isShort(const MathNode& node) {
    if (node.kind == MathKind::Row)
        return node.parts.size() == 1 && isShort(node.parts[0]);
    return node.kind == MathKind::Symbol || node.kind == MathKind::Word;
}

QString row(const std::vector<MathNode>& parts) {
    QStringList words;
    for (const MathNode& part : parts)
        if (const QString spoken = spokenMath(part); !spoken.isEmpty())
            words << spoken;
    return words.join(u' ');
}

QString scripts(const MathNode& node) {
    const MathNode& below = node.parts[1];
    const MathNode& above = node.parts[2];
    QString words = spokenMath(node.parts[0]);
    if (node.parts[0].kind == MathKind::Brace) { // they name what it embraces
        if (!below.isEmptyRow())
            words += u' ' + say("with %1 below it").arg(spokenMath(below));
        if (!above.isEmptyRow())
            words += u' ' + say("with %1 above it").arg(spokenMath(above));
        return words;
    }
    const bool isLarge = node.parts[0].isLarge || node.hasLimits;
    if (!below.isEmptyRow())
        words += u' ' + (isLarge ? say("from %1") : say("sub %1")).arg(spokenMath(below));
    if (above.isEmptyRow())
        return isLarge && !below.isEmptyRow() ? words + u' ' + say("of") : words;
    const QString power = spokenMath(above);
    if (isLarge)
        return words + u' ' + say("to %1 of").arg(power);
    if (power == u"2")
        return words + u' ' + say("squared");
    if (above.parts.size() == 1 && above.parts[0].text.startsWith(QChar(0x2032)))
        return words + u' ' + power;
    return words + u' ' +
           (isShort(above) ? say("to the %1") : say("to the power %1 end power")).arg(power);
}

QString fraction(const MathNode& node) {
    const QString above = spokenMath(node.parts[0]);
    const QString below = spokenMath(node.parts[1]);
    if (!node.fences.isEmpty())
        return say("%1 choose %2").arg(above, below);
    if (isShort(node.parts[0]) && isShort(node.parts[1]))
        return say("%1 over %2").arg(above, below);
    return say("fraction %1 over %2 end fraction").arg(above, below);
}

QString root(const MathNode& node) {
    const QString inside = spokenMath(node.parts[0]);
    return node.parts[1].isEmptyRow()
               ? say("square root of %1 end root").arg(inside)
               : say("root %1 of %2 end root").arg(spokenMath(node.parts[1]), inside);
}

QString table(const MathNode& node) {
    QStringList lines;
    const auto columns = static_cast<std::size_t>(std::max(1, node.columns));
    for (std::size_t first = 0; first + columns <= node.parts.size(); first += columns) {
        QStringList cells;
        for (std::size_t i = first; i < first + columns; ++i)
            cells << spokenMath(node.parts[i]);
        lines << cells.join(node.isTight ? QStringLiteral(" ") : QStringLiteral(", "));
    }
    return lines.join(QStringLiteral("; "));
}

QString accent(const MathNode& node) {
    const QString inside = spokenMath(node.parts[0]);
    for (const SpokenAccent& known : kAccentWords)
        if (node.text == QStringView(known.sign))
            return say(known.words).arg(inside);
    return inside;
}

} // namespace

QString spokenMath(const MathNode& node) {
    switch (node.kind) {
    case MathKind::Row:
        return row(node.parts);
    case MathKind::Symbol:
        return signWords(node.text);
    case MathKind::Word:
    case MathKind::Source:
        return node.text.simplified();
    case MathKind::Space:
    case MathKind::Style:
    case MathKind::Hidden:
        return {};
    case MathKind::Fraction:
        return fraction(node);
    case MathKind::Root:
        return root(node);
    case MathKind::Scripts:
        return scripts(node);
    case MathKind::Fenced: {
        QStringList words;
        for (qsizetype i = 0; i < node.fences.size(); ++i) {
            if (!node.fences[i].isEmpty())
                words << signWords(node.fences[i]);
            if (i < static_cast<qsizetype>(node.parts.size()))
                words << spokenMath(node.parts[static_cast<std::size_t>(i)]);
        }
        return words.join(u' ');
    }
    case MathKind::Delimiter:
        return signWords(node.fences.value(0));
    case MathKind::Accent:
        return accent(node);
    case MathKind::Line: {
        const QString inside = spokenMath(node.parts[0]);
        return node.text.isEmpty() ? inside : say("%1 bar").arg(inside);
    }
    case MathKind::Brace:
    case MathKind::Frame:
        return spokenMath(node.parts[0]);
    case MathKind::Stack:
        return row(node.parts);
    case MathKind::Arrow:
        return say("to") + u' ' + row(node.parts);
    case MathKind::Table:
        return table(node);
    }
    return {};
}

} // namespace ui
