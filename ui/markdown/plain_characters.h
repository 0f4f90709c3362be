// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/markdown/markdown_block.h"

#include <QString>
#include <QStringView>

#include <vector>

namespace ui {

/// False for characters that would steer the layout instead of showing something: controls,
/// direction overrides and isolates, line separators, objects. Model output must not use them.
bool isShowable(char16_t unit);

/// A text of the same length, in which characters that cannot be shown are U+FFFD and line ends are
/// spaces; tabs stay.
QString showableText(QStringView text);

/// The same of text on several lines, which stay lines. In a quote, its marks in front of a further
/// line are spaces.
QString showableLines(QStringView text, bool isQuoted);

/// One paragraph that shows the text as it is written; its first character is at `offset` of the
/// message.
Block plainBlock(QStringView text, int offset);

/// One such paragraph for each line that is not blank.
std::vector<Block> plainLines(QStringView text, int offset);

/// Where the colons stand of link definitions such as "[a]: http://x" that no link of these blocks
/// uses: nothing of them would be shown. Takes time in proportion to the text.
std::vector<int> unusedDefinitions(QStringView text, const std::vector<Block>& blocks);

/// What "&lt;" or "&#8364;" means; the text itself if it is not a known entity.
QString decodedEntity(QStringView entity);

} // namespace ui
