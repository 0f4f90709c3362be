// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/formula_finder.h"
#include "ui/store/export/chat_export.h"
#include "ui/store/export/chat_page.h"

#include <QCoreApplication>

#include <algorithm>

namespace ui {

namespace {

struct HtmlExports {
    Q_DECLARE_TR_FUNCTIONS(HtmlExports)
};

// A file for any browser, so it has colours of its own. Tokens have the light theme's colours, each
// with a mark besides the colour. The policy does not let a browser load or run anything.
constexpr const char* kPageHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff;
  font: 15px/1.6 Inter, system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
h1, h2, .text { unicode-bidi: plaintext; } /* each line in the direction of its first letter */
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.user { background: #f1f3f5; padding: .1rem .8rem .6rem; }
.figures, .legend { color: #57606a; font-size: .85rem; }
.draft { background: #cdebdd; border-bottom: 2px solid #2f9169; }
.sibling { background: #cdebdd; border-bottom: 2px dashed #2f9169; }
.bonus { border-bottom: 2px dotted #1b1f24; }
svg { max-width: 100%; fill: currentColor; } .display { display: block; margin: .8em auto; }
</style>
)";

QString className(const TokenTrace& token) {
    const std::string_view name = engine::tokenOriginName(token.fact.origin);
    return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
}

QString tooltip(const TokenTrace& token) {
    QString tip =
        HtmlExports::tr("token %1, step %2, %3 ms, target probability %4")
            .arg(QString::number(token.id),
                 token.step < 0 ? HtmlExports::tr("none") : QString::number(token.step + 1),
                 QString::number(token.stepMs, 'f', 1),
                 QString::number(token.fact.targetProbability, 'f', 3));
    if (token.fact.rank >= 0)
        tip = HtmlExports::tr("%1, choice %2 of the draft with confidence %3")
                  .arg(tip,
                       QString::number(token.fact.rank + 1),
                       QString::number(token.fact.draftProbability, 'f', 3));
    return tip;
}

QString tracedText(const StoredMessage& message) {
    QString html;
    qsizetype done = 0;
    for (const TokenTrace& token : message.tokens) {
        if (token.end <= token.begin || token.begin < done || token.end > message.text.size())
            continue;
        html += escapedText(message.text.mid(done, token.begin - done));
        html += QStringLiteral("<span class=\"%1\" title=\"%2\">%3</span>")
                    .arg(className(token),
                         escapedText(tooltip(token)),
                         escapedText(message.text.mid(token.begin, token.end - token.begin)));
        done = token.end;
    }
    return html + escapedText(message.text.mid(done));
}

bool isGap(QChar character) { return character == u' ' || character == u'\n'; }

/// A text with its formulas. Those on lines of their own keep a distance, so the gaps around them
/// are left out.
QString textWithFormulas(const QString& text, const FormulaWriter& writeFormula) {
    QString html;
    qsizetype done = 0;
    for (const FormulaSpan& formula : findFormulas(text)) {
        const QString shown = writeFormula(text.mid(formula.begin, formula.end - formula.begin));
        if (shown.isEmpty())
            continue;
        qsizetype before = formula.begin;
        while (formula.isDisplay && before > done && isGap(text[before - 1]))
            --before;
        html += escapedText(text.mid(done, before - done)) + shown;
        done = formula.end;
        while (formula.isDisplay && done < text.size() && isGap(text[done]))
            ++done;
    }
    return html + escapedText(text.mid(done));
}

QString
messageToHtml(const StoredMessage& message, bool hasOrigin, const FormulaWriter& writeFormula) {
    const bool isUser = message.role == MessageRole::User;
    const QString model = message.figures.modelName;
    const QString name = isUser            ? HtmlExports::tr("You")
                         : model.isEmpty() ? HtmlExports::tr("Assistant")
                                           : model;
    const bool isMarked = hasOrigin && message.isTraced && !message.tokens.isEmpty();
    QString html = QStringLiteral("<section class=\"") + roleName(message.role) +
                   QStringLiteral("\">\n<h2>") + escapedText(name) +
                   QStringLiteral("</h2>\n<div class=\"text\">") +
                   (isMarked ? tracedText(message)
                             : textWithFormulas(textWithAttachments(message), writeFormula)) +
                   QStringLiteral("</div>\n");
    const QString figures = figuresLine(message);
    if (!figures.isEmpty())
        html += QStringLiteral("<p class=\"figures\">") + escapedText(figures) +
                QStringLiteral("</p>\n");
    return html + QStringLiteral("</section>\n");
}

QString legend() {
    return QStringLiteral("<p class=\"legend\"><span class=\"draft\">%1</span> %2 "
                          "<span class=\"sibling\">%3</span> %4 "
                          "<span class=\"bonus\">%5</span> %6</p>\n")
        .arg(HtmlExports::tr("accepted"),
             HtmlExports::tr("drafted, then confirmed;"),
             HtmlExports::tr("alternative"),
             HtmlExports::tr("the draft's other choice;"),
             HtmlExports::tr("own"),
             HtmlExports::tr("written by the full model."));
}

} // namespace

QString escapedText(QString text) {
    // A parser may do anything with them.
    for (QChar& character : text)
        if ((character.unicode() < 0x20 && character != u'\n' && character != u'\t') ||
            QChar::isNonCharacter(character.unicode()))
            character = QChar::ReplacementCharacter;
    return text.toHtmlEscaped();
}

QString chatPage(const Chat& chat, bool hasOrigin, const FormulaWriter& writeFormula) {
    const QString title = escapedText(chat.record.title.simplified());
    QString html = QString::fromLatin1(kPageHead) + QStringLiteral("<title>") + title +
                   QStringLiteral("</title>\n</head>\n<body>\n<h1>") + title +
                   QStringLiteral("</h1>\n");
    if (hasOrigin)
        html += legend();
    if (!chat.record.systemPrompt.isEmpty())
        html += QStringLiteral("<p class=\"legend\">") + HtmlExports::tr("System prompt:") +
                QStringLiteral("</p>\n<div class=\"text\">") +
                escapedText(chat.record.systemPrompt) + QStringLiteral("</div>\n");
    for (const StoredMessage& message : chat.currentBranch())
        html += messageToHtml(message, hasOrigin, writeFormula);
    return html + QStringLiteral("</body>\n</html>\n");
}

QByteArray chatToHtml(const Chat& chat, bool hasOrigin) {
    return chatPage(chat, hasOrigin, formulaSvg).toUtf8();
}

} // namespace ui
