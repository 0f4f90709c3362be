// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/markdown/markdown_block.h"

#include <QStringView>

#include <vector>

namespace ui {

/// The blocks of a segment of Markdown whose first character is at `offset` of the message.
/// CommonMark with tables, task lists and strikethrough; raw HTML is text, an image is its
/// description, and a link or an image without words is its address. Text that would expand
/// excessively becomes one plain paragraph, link definitions with nothing else become one for each
/// line, and those that no link uses are text.
std::vector<Block> parseMarkdown(QStringView text, int offset);

} // namespace ui
