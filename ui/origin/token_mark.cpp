// SPDX-License-Identifier: GPL-3.0-only
#include "ui/origin/token_mark.h"

#include "ui/language/tr.h"

namespace ui {

namespace {

constexpr int kLongestShown = 64;

} // namespace

QString rankLabel(const TokenMark& token) {
    if (token.origin != engine::TokenOrigin::Sibling)
        return {};
    return QStringLiteral("k%1").arg(token.rank + 1);
}

QString originInWords(const TokenMark& token) {
    if (token.step < 0)
        return tr("Chosen by you instead of the model's own token");
    switch (token.origin) {
    case engine::TokenOrigin::Draft:
        return tr("Accepted: the draft's first choice");
    case engine::TokenOrigin::Sibling:
        return tr("Accepted: choice %1 of the draft").arg(token.rank + 1);
    case engine::TokenOrigin::Bonus:
        return tr("Own: written by the full model after the accepted tokens");
    case engine::TokenOrigin::Vanilla:
        return tr("Written by the full model in a plain step");
    }
    return {};
}

QString visibleTokenText(const QString& text) {
    QString shown = text.left(kLongestShown);
    for (QChar& character : shown) {
        if (character == u'\n')
            character = u'\u21B5';
        else if (character == u' ')
            character = u'\u2423';
        else if (character == u'\t')
            character = u'\u21E5';
        else if (!character.isPrint() && !character.isSurrogate())
            character = QChar::ReplacementCharacter;
    }
    return text.size() > kLongestShown ? shown + u'\u2026' : shown;
}

} // namespace ui
