// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/figure_text.h"
#include "ui/views/chat/messages/figures_line.h"

// The texts of the figures below an answer.

namespace ui {

using engine::TokenOrigin;

namespace {

constexpr const char* kGap = "&nbsp;&nbsp; "; ///< a line may break here

QString fixed(double value, int decimals) { return QString::number(value, 'f', decimals); }

/// ".95": as the literature writes shares.
QString share(qint64 part, qint64 whole) {
    if (whole <= 0)
        return {};
    const QString text = fixed(static_cast<double>(part) / static_cast<double>(whole), 2);
    return text.startsWith(QLatin1String("0.")) ? text.mid(1) : text;
}

/// Lines break only between figures, neither at a space within one nor after its slash or point.
/// Spaces within tags stay.
QString unbroken(const QString& markup) {
    QString whole;
    bool isInTag = false;
    for (qsizetype i = 0; i < markup.size(); ++i) {
        const QChar letter = markup[i];
        isInTag = letter == u'<' || (isInTag && letter != u'>');
        whole += !isInTag && letter == u' ' ? QChar(QChar::Nbsp) : letter;
        const QChar next = i + 1 < markup.size() ? markup[i + 1] : QChar();
        const bool mayBreak =
            (letter == u'/' && next.isLetter()) || (letter == u'.' && next.isDigit());
        if (!isInTag && mayBreak)
            whole += QChar(0x2060); // a joiner of no width
    }
    return whole;
}

QString figure(const QString& text) { return QStringLiteral("<b>%1</b>").arg(text); }

} // namespace

OriginCounts countOrigins(const StoredMessage& message) {
    OriginCounts counts;
    for (const TokenTrace& token : message.tokens.last(measuredTokens(message))) {
        switch (token.fact.origin) {
        case TokenOrigin::Sibling:
            ++counts.siblings;
            [[fallthrough]];
        case TokenOrigin::Draft:
            ++counts.accepted;
            break;
        case TokenOrigin::Bonus:
            ++counts.bonus;
            break;
        case TokenOrigin::Vanilla:
            ++counts.vanilla;
            break;
        }
    }
    return counts;
}

QString figuresText(const StoredMessage& message, const Colours& colours) {
    const MessageFigures& figures = message.figures;
    QStringList parts;
    const qsizetype measured = measuredTokens(message);
    if (measured < message.tokens.size())
        parts << FiguresLine::tr("last %1 of %2 tokens:").arg(measured).arg(message.tokens.size());
    if (figures.speedup && figures.baselineTokensPerSecond)
        parts << FiguresLine::tr("<b style='color:%1'>%2\u00D7</b> vs vanilla %3")
                     .arg(colours.accent.name(),
                          fixed(*figures.speedup, 2),
                          fixed(*figures.baselineTokensPerSecond, 1));
    if (figures.tokensPerSecond)
        parts << FiguresLine::tr("%1 tok/s").arg(figure(fixed(*figures.tokensPerSecond, 1)));
    if (figures.firstTokenMs)
        parts << FiguresLine::tr("%1 to first token")
                     .arg(figure(fixed(*figures.firstTokenMs / 1e3, 2) + QStringLiteral(" s")));
    if (figures.draftSteps > 0) {
        if (figures.tokensPerStep)
            parts << FiguresLine::tr("%1 tokens/step (M)")
                         .arg(figure(fixed(*figures.tokensPerStep, 2)));
        parts << FiguresLine::tr("%1 accepted (%2)")
                     .arg(figure(QStringLiteral("%1/%2")
                                     .arg(figures.acceptedTokens)
                                     .arg(figures.draftSteps)),
                          share(figures.acceptedTokens, figures.draftSteps));
    } else if (!message.tokens.isEmpty()) {
        parts << countText(
            measured, FiguresLine::tr("1 token"), FiguresLine::tr("%1 tokens, one by one"));
    }
    if (figures.taskLikeness) // the name of a new task is only the beginning of its prompt
        parts << FiguresLine::tr("task %1").arg(
            QStringLiteral("<a href='task' style='color:%1'>%2</a>")
                .arg(colours.accent.name(), figures.task.simplified().toHtmlEscaped()));
    for (QString& part : parts)
        part = unbroken(part);
    // Words without a figure may break as any text.
    switch (message.state) {
    case MessageState::Stopped:
        parts << FiguresLine::tr("stopped");
        break;
    case MessageState::Failed:
        parts << FiguresLine::tr("ended by an error");
        break;
    case MessageState::Recovered:
        parts << countText(message.tokens.size(),
                           FiguresLine::tr("recovered, 1 token"),
                           FiguresLine::tr("recovered, %1 tokens"));
        break;
    default:
        break;
    }
    if (figures.finishReason == QLatin1String("context_full"))
        parts << FiguresLine::tr("the context is full");
    else if (figures.finishReason == QLatin1String("max_tokens"))
        parts << FiguresLine::tr("stopped at the length limit");
    else if (figures.finishReason == QLatin1String("edited"))
        parts << FiguresLine::tr("edited by you");
    return parts.join(QLatin1String(kGap));
}

QString figuresInWords(const StoredMessage& message) {
    const MessageFigures& figures = message.figures;
    QStringList lines;
    if (const qsizetype measured = measuredTokens(message); measured < message.tokens.size())
        lines << countText(
            measured,
            FiguresLine::tr("The answer was continued; the figures cover its last token."),
            FiguresLine::tr("The answer was continued; the figures cover its last %1 tokens."));
    if (figures.speedup && figures.baselineTokensPerSecond)
        lines << FiguresLine::tr("This was %1 times as fast as the full model decoding token by "
                                 "token, which reached %2 tokens per second in this run.")
                     .arg(fixed(*figures.speedup, 2), fixed(*figures.baselineTokensPerSecond, 1));
    if (figures.draftSteps > 0) {
        const OriginCounts counts = countOrigins(message);
        lines << FiguresLine::tr("Accepted draft steps: %1 of %2. Accepted tokens: %3, of which "
                                 "%4 alternatives. Tokens that the full model added after drafts: "
                                 "%5. Tokens of plain steps: %6.")
                     .arg(figures.acceptedTokens)
                     .arg(figures.draftSteps)
                     .arg(counts.accepted)
                     .arg(counts.siblings)
                     .arg(counts.bonus)
                     .arg(counts.vanilla);
    }
    if (figures.promptTokens > 0)
        lines << countText(figures.promptTokens,
                           FiguresLine::tr("The prompt had 1 token."),
                           FiguresLine::tr("The prompt had %1 tokens."));
    if (!figures.task.isEmpty())
        lines << (figures.taskLikeness
                      ? FiguresLine::tr("Task \u201C%1\u201D: recognised from the prompt, which is "
                                        "nearest to known prompts of this task (likeness %2 of 1).")
                            .arg(figures.task.simplified(), fixed(*figures.taskLikeness, 2))
                      : FiguresLine::tr("Task \u201C%1\u201D: no known prompt is near this one, so "
                                        "a new task begins with it.")
                            .arg(figures.task.simplified()));
    return lines.join(QLatin1Char('\n'));
}

} // namespace ui
