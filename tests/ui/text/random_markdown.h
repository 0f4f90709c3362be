// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QRandomGenerator>
#include <QString>
#include <QStringList>

#include <vector>

/// Markdown of random pieces that meet in ways nobody writes: `count` of them.
inline QString randomMarkdown(QRandomGenerator& random, int count) {
    static const QStringList kPieces{
        QStringLiteral("word "),
        QStringLiteral("**bold** "),
        QStringLiteral("*it* "),
        QStringLiteral("`co de` "),
        QStringLiteral("~~no~~ "),
        QStringLiteral("[a](http://b.c) "),
        QStringLiteral("![p](q) "),
        QStringLiteral("&amp;"),
        QStringLiteral("&#8364;"),
        QStringLiteral("&nope;"),
        QStringLiteral("\\* "),
        QStringLiteral("<b>x</b>"),
        QStringLiteral("\n"),
        QStringLiteral("\n\n"),
        QStringLiteral("  \n"),
        QStringLiteral("\n- item\n"),
        QStringLiteral("\n  - sub\n"),
        QStringLiteral("\n3. three\n"),
        QStringLiteral("\n> quote "),
        QStringLiteral("\n> > deep "),
        QStringLiteral("\n# Title\n"),
        QStringLiteral("\n```py\nx = 1\n\n  y\n```\n"),
        QStringLiteral("\n```\n"),
        QStringLiteral("\n    indented\n"),
        QStringLiteral("\n---\n"),
        QStringLiteral("\n|a|b|\n|-|:-:|\n|1|2|\n"),
        QStringLiteral("- [x] done\n"),
        QStringLiteral("\t"),
        QStringLiteral("\r\n"),
        QString(QChar(0)),
        QString(QChar(0x202E)),
        QStringLiteral("\u00E9\u4E2D"),
        QStringLiteral("\U0001F600"),
        QString(QChar(0xD83D)),
        QStringLiteral("_under_ "),
        QStringLiteral("~~~\n"),
        QStringLiteral("$x_1^2$ "),
        QStringLiteral("\\(a*b*c\\) "),
        QStringLiteral("\n$$\n- y\n$$\n"),
        QStringLiteral("\\[ z \\]"),
        QStringLiteral("$5 "),
        QStringLiteral("\\["),
        QStringLiteral("\n   ```\n"),
        QStringLiteral("\n- x\n\n  ```\n  in\n  ```\n"),
    };
    QString text;
    for (int i = 0; i < count; ++i)
        text += kPieces[random.bounded(static_cast<int>(kPieces.size()))];
    return text;
}

/// The same text cut into pieces of 1 to `longest` characters.
inline QStringList randomChunks(QRandomGenerator& random, const QString& text, int longest) {
    QStringList chunks;
    for (qsizetype begin = 0; begin < text.size();) {
        const int length = 1 + random.bounded(longest);
        chunks << text.mid(begin, length);
        begin += length;
    }
    return chunks;
}

/// Text that tries to be slow, deep or wide: number `index` of 200.
inline QString hostileText(int index) {
    static const QStringList kSeeds{
        QStringLiteral(">"),
        QStringLiteral("["),
        QStringLiteral("*a "),
        QStringLiteral("_"),
        QStringLiteral("`a"),
        QStringLiteral("|"),
        QStringLiteral("![a]("),
        QStringLiteral("[a](<"),
        QStringLiteral("&amp;"),
        QStringLiteral("<a "),
        QStringLiteral("- "),
        QStringLiteral("**_~~`[("),
        QStringLiteral("a\n"),
        QStringLiteral("- a\n\n"),
        QStringLiteral("[a]: /b\n"),
        QStringLiteral("```\n"),
        QStringLiteral("> ```\n"),
        QString(QChar(0x202E)),
        QString(QChar(0)),
        QStringLiteral("\t"),
        QStringLiteral("<script>"),
        QStringLiteral("1. "),
        QStringLiteral("#\n"),
        QStringLiteral("|a|b|\n|-|-|\n"),
        QStringLiteral("x\u0301"),
        QStringLiteral("\u2028"),
        QStringLiteral("\uFFFC"),
        QStringLiteral("~~~a\n"),
        QStringLiteral("    c\n\n"),
        QStringLiteral("\\"),
        QStringLiteral("http://a.b/"),
        QStringLiteral("\r"),
        QStringLiteral("a  \n"),
        QString(QChar(0xDC00)),
        QStringLiteral("==\n"),
        QStringLiteral("a\n--\n"),
        QStringLiteral("\u05D0 "),
        QStringLiteral("a*"),
        QStringLiteral("*a_"),
        QStringLiteral("- > "),
    };
    const QString& seed = kSeeds[index % kSeeds.size()];
    const QString& other = kSeeds[(index * 7 + 3) % kSeeds.size()];
    const int size = 1000 * (1 + index % 9);
    const QString one = index < kSeeds.size() ? seed : seed + other;
    return one.repeated(size / static_cast<int>(one.size()));
}
