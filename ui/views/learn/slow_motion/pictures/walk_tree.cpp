// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/pictures/walk_tree.h"

#include "ui/shell/figure_text.h"
#include "ui/views/draft_tree/draft_end_text.h"

#include <QPainter>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr int kLine = 30;    ///< pixels at 100 %
constexpr int kBox = 23;     ///< the same
constexpr int kHeading = 24; ///< the same
constexpr int kRoomForBars = 560;

} // namespace

WalkTree::WalkTree(const Theme& theme, QWidget* parent)
    : ScenePicture(theme, tr("Draft tree"), parent) {}

bool WalkTree::takesPart(RoundStop stop) const {
    return stop != RoundStop::Linearise && stop != RoundStop::Search;
}

QString WalkTree::subtitle() const {
    const RoundWalk& walk = scene().walk;
    if (walk.isPlain)
        return tr("nothing was drafted in this round");
    switch (scene().current()) {
    case RoundStop::Draft:
        if (walk.drafting.passes() > 0)
            return walk.drafting.guessed > 0
                       ? tr("the first choice of each pass, and guesses that took none")
                       : tr("the first choice of each pass");
        return static_cast<int>(walk.drafting.spine.size()) < walk.candidates()
                   ? tr("the first choices: %1 of the %2 guesses")
                         .arg(walk.drafting.spine.size())
                         .arg(walk.candidates())
                   : tr("guesses that took no pass");
    case RoundStop::Widen:
        return tr("alternatives beside the first choices");
    case RoundStop::Verify:
        return tr("the model's choice beside each place");
    case RoundStop::Accept:
        if (walk.candidates() == 1)
            return walk.accepting.accepted == 1 ? tr("the only guess is kept")
                                                : tr("the only guess is not kept");
        return walk.accepting.accepted == 1 ? tr("1 of %1 guesses is kept").arg(walk.candidates())
                                            : tr("%1 of %2 guesses are kept")
                                                  .arg(walk.accepting.accepted)
                                                  .arg(walk.candidates());
    default:
        return countText(walk.candidates(), tr("1 guess"), tr("%1 guesses"));
    }
}

bool WalkTree::hasEnd() const {
    return scene().walk.drafting.end.reason != DraftEndReason::NotReported &&
           scene().walk.candidates() > 0;
}

int WalkTree::bodyHeight() const {
    const auto depths = static_cast<int>(scene().depths().size());
    const bool endsBelow =
        hasEnd() && depths == static_cast<int>(scene().walk.widening.choices.size());
    const int foot = (endsBelow ? 1 : 0) + (scene().walk.shape.sideCount > 0 ? 1 : 0);
    return theme().scaled(kHeading + kLine * (depths + 1) + 20 * foot + 8);
}

QRect WalkTree::line(const QRect& body, int depth) const {
    return {body.left(),
            body.top() + theme().scaled(kHeading + kLine * depth),
            body.width(),
            theme().scaled(kBox)};
}

WalkTree::Columns WalkTree::columns(const QRect& body) const {
    Columns at;
    const bool isWide = body.width() >= theme().scaled(kRoomForBars);
    const int gap = theme().scaled(12);
    at.depth = body.left() + gap;
    at.choice = at.depth + theme().scaled(isWide ? 40 : 24);
    at.choiceWidth = theme().scaled(isWide ? 112 : 92);
    at.modelWidth = theme().scaled(isWide ? 104 : 84);
    at.model = body.right() - gap - at.modelWidth;
    at.bar = at.choice + at.choiceWidth + gap;
    const bool hasBars = scene().walk.drafting.passes() > 0;
    at.barWidth = !hasBars ? 0 : theme().scaled(isWide ? 90 : 36);
    at.alternatives = hasBars ? at.bar + at.barWidth + theme().scaled(44) : at.bar;
    return at;
}

void WalkTree::paintBody(QPainter& painter, const QRect& body) {
    m_depths = scene().depths();
    m_shownSpine =
        scene().shownOf(RoundStop::Draft, static_cast<int>(scene().walk.drafting.spine.size()));
    m_shownAlternatives = scene().shownOf(RoundStop::Widen, scene().alternativeCount());
    const Columns at = columns(body);
    paintHeadings(painter, body, at);
    const QRect root = line(body, 0);
    const Colours& colours = theme().colours();
    painter.setFont(theme().font(TextRole::Figure));
    painter.setPen(colours.muted);
    painter.drawText(
        root.adjusted(at.depth - root.left(), 0, 0, 0), Qt::AlignVCenter, QStringLiteral("0"));
    const QString text = rowText(scene().walk, 0);
    paintBox(painter,
             {.place = QRect(at.choice, root.top(), at.choiceWidth, root.height()),
              .text = text.isEmpty() ? tr("the prompt") : text,
              .note = text.isEmpty() ? QString() : tr("root"),
              .ground = colours.raised,
              .line = colours.controlBorder,
              .ink = colours.text});
    for (int depth = 1; depth <= static_cast<int>(m_depths.size()); ++depth)
        paintDepth(painter, line(body, depth), at, depth);
    paintThreshold(painter, body, at);
    paintFoot(painter, body, at);
}

void WalkTree::paintHeadings(QPainter& painter, const QRect& body, const Columns& at) {
    painter.setFont(theme().font(TextRole::Tiny));
    painter.setPen(theme().colours().muted);
    const int high = theme().scaled(kHeading);
    const auto write = [&](int left, int right, const QString& text, Qt::Alignment side) {
        const QRect room(left, body.top(), right - left, high);
        painter.drawText(
            room,
            Qt::AlignVCenter | side,
            painter.fontMetrics().elidedText(text, Qt::ElideRight, std::max(0, room.width())));
    };
    const bool isDrafted = scene().walk.candidates() > 0;
    if (body.width() >= theme().scaled(kRoomForBars))
        write(at.depth, at.choice, tr("depth"), Qt::AlignLeft);
    write(at.choice,
          at.choice + at.choiceWidth,
          isDrafted ? tr("first choice") : tr("newest token"),
          Qt::AlignLeft);
    if (at.barWidth > 0)
        write(at.bar, at.alternatives, tr("confidence"), Qt::AlignLeft);
    if (isDrafted)
        write(at.alternatives, at.model, tr("alternatives"), Qt::AlignLeft);
    write(at.alternatives, at.model + at.modelWidth, tr("model's choice"), Qt::AlignRight);
}

ScenePicture::Box WalkTree::boxOf(const QRect& place, int row) const {
    const Colours& colours = theme().colours();
    Box box{.place = place,
            .text = rowText(scene().walk, row),
            .ground = colours.panel,
            .line = colours.controlBorder,
            .ink = colours.text};
    if (scene().isKept(row)) {
        box.ground = colours.accepted;
        box.line = colours.acceptedLine;
    } else if (scene().isGone(row)) {
        box.ground = colours.rejected;
        box.line = colours.rejectedText;
        box.ink = colours.rejectedText;
        box.isStruck = true;
    }
    return box;
}

void WalkTree::paintDepth(QPainter& painter, const QRect& line, const Columns& at, int depth) {
    const SceneDepth& drawn = m_depths[static_cast<std::size_t>(depth - 1)];
    const Colours& colours = theme().colours();
    painter.setFont(theme().font(TextRole::Figure));
    painter.setPen(colours.muted);
    const bool isShown = drawn.firstChoice >= 0 && depth <= m_shownSpine;
    if (isShown) {
        painter.drawText(line.adjusted(at.depth - line.left(), 0, 0, 0),
                         Qt::AlignVCenter,
                         QString::number(depth));
        const bool isKept = scene().isKept(drawn.firstChoice);
        painter.setPen(QPen(isKept ? colours.acceptedLine : colours.controlBorder,
                            isKept ? theme().scaled(3) : 1));
        const int stem = at.choice + theme().scaled(14);
        painter.drawLine(stem, line.top() - theme().scaled(kLine - kBox), stem, line.top());
        Box box =
            boxOf(QRect(at.choice, line.top(), at.choiceWidth, line.height()), drawn.firstChoice);
        if (isKept)
            box.note = QStringLiteral("\u2713");
        paintBox(painter, box);
        if (at.barWidth > 0)
            paintConfidence(painter, line, at, depth);
    }
    paintAlternatives(painter, line, at, depth);
    paintChoice(painter, line, at, depth);
}

void WalkTree::paintConfidence(QPainter& painter, const QRect& line, const Columns& at, int depth) {
    const DraftingFacts& facts = scene().walk.drafting;
    if (depth > facts.passes())
        return;
    const Colours& colours = theme().colours();
    const double confidence =
        std::clamp(facts.confidences[static_cast<std::size_t>(depth - 1)], 0.0, 1.0);
    const bool isUnsure =
        facts.end.reason == DraftEndReason::Unsure && confidence < facts.end.limit;
    const int high = theme().scaled(10);
    const QRect whole(at.bar, line.center().y() - high / 2, at.barWidth, high);
    painter.fillRect(whole, colours.hover);
    QRect part = whole;
    part.setWidth(static_cast<int>(whole.width() * confidence + 0.5));
    painter.fillRect(part, isUnsure ? colours.warning : colours.muted);
    painter.setFont(theme().font(TextRole::AxisFigure));
    painter.setPen(isUnsure ? colours.warning : colours.text);
    painter.drawText(
        QRect(whole.right() + theme().scaled(6), line.top(), at.alternatives, line.height()),
        Qt::AlignVCenter | Qt::AlignLeft,
        shareText(confidence));
}

void WalkTree::paintThreshold(QPainter& painter, const QRect& body, const Columns& at) {
    const DraftingFacts& facts = scene().walk.drafting;
    if (at.barWidth == 0 || m_shownSpine == 0 || facts.end.reason != DraftEndReason::Unsure)
        return;
    const int x = at.bar + static_cast<int>(at.barWidth * std::clamp(facts.end.limit, 0.0, 1.0));
    const QRect first = line(body, 1);
    const QRect last = line(body, m_shownSpine);
    painter.setPen(QPen(theme().colours().text, 1, Qt::DashLine));
    painter.drawLine(x, first.top() - theme().scaled(4), x, last.bottom());
    painter.setFont(theme().font(TextRole::AxisFigure));
    const int half = theme().scaled(40);
    painter.drawText(
        QRect(x - half, first.top() - theme().scaled(20), 2 * half, theme().scaled(16)),
        Qt::AlignCenter,
        QStringLiteral("\u03B5 %1").arg(shareText(facts.end.limit)));
}

/// As many as fit; the accepted one is the first.
void WalkTree::paintAlternatives(QPainter& painter,
                                 const QRect& line,
                                 const Columns& at,
                                 int depth) {
    const SceneDepth& drawn = m_depths[static_cast<std::size_t>(depth - 1)];
    const auto count = static_cast<int>(drawn.alternatives.size());
    const Colours& colours = theme().colours();
    if (count == 0) {
        if (m_shownAlternatives == 0 || drawn.firstChoice < 0 ||
            !scene().walk.has(RoundStop::Widen))
            return;
        painter.setFont(theme().font(TextRole::Tiny));
        painter.setPen(colours.muted);
        const QRect room(at.alternatives, line.top(), at.model - at.alternatives, line.height());
        // Elsewhere a limit of the tree or the price of a row may have left them out.
        const QString why = scene().walk.widening.schedule ? tr("sure enough: none") : tr("none");
        painter.drawText(
            room,
            Qt::AlignVCenter,
            painter.fontMetrics().elidedText(why, Qt::ElideRight, std::max(0, room.width())));
        return;
    }
    const int shown = std::min(count, m_shownAlternatives);
    m_shownAlternatives -= shown;
    const int gap = theme().scaled(6);
    const int more = theme().scaled(30);
    const int room = at.model - gap - at.alternatives;
    const int wide = std::clamp(room, theme().scaled(40), theme().scaled(78));
    const int fitting =
        std::max(1, (room - (count * (wide + gap) > room ? more : 0) + gap) / (wide + gap));
    for (int i = 0; i < std::min(shown, fitting); ++i) {
        const int row = drawn.alternatives[static_cast<std::size_t>(i)];
        Box box =
            boxOf(QRect(at.alternatives + i * (wide + gap), line.top(), wide, line.height()), row);
        box.note = shareText(scene().walk.rows[static_cast<std::size_t>(row)].probability);
        paintBox(painter, box);
    }
    if (shown <= fitting)
        return;
    painter.setFont(theme().font(TextRole::Tiny));
    painter.setPen(colours.muted);
    painter.drawText(
        QRect(at.alternatives + fitting * (wide + gap), line.top(), more, line.height()),
        Qt::AlignVCenter,
        QStringLiteral("+%1").arg(shown - fitting));
}

/// What the full model has behind the row above: yellow while it is asked, then green where it is
/// written.
void WalkTree::paintChoice(QPainter& painter, const QRect& line, const Columns& at, int depth) {
    const SceneDepth& drawn = m_depths[static_cast<std::size_t>(depth - 1)];
    if (!scene().showsChoice(drawn.asked))
        return;
    const Colours& colours = theme().colours();
    const RoundWalk& walk = scene().walk;
    const WalkRow& asked = walk.rows[static_cast<std::size_t>(drawn.asked)];
    QString note = asked.isEmitted ? tr("own") : QString();
    const auto isSame = [&](int row) {
        return walk.rows[static_cast<std::size_t>(row)].token == asked.choice->id &&
               walk.shape.parents[static_cast<std::size_t>(row)] == drawn.asked;
    };
    if (drawn.firstChoice >= 0 && isSame(drawn.firstChoice))
        note = QStringLiteral("\u2713");
    for (const int row : drawn.alternatives)
        if (isSame(row))
            note = tr("k%1").arg(scene().choiceNumber(row));
    const bool isDone = scene().shown(RoundStop::Accept) >= 1.0;
    const bool isWritten = isDone && asked.isEmitted;
    const bool isMoot = isDone && !asked.isEmitted;
    paintBox(painter,
             {.place = QRect(at.model, line.top(), at.modelWidth, line.height()),
              .text = choiceText(*asked.choice),
              .note = isMoot ? QString() : note,
              .ground = isWritten ? colours.accepted
                        : isMoot  ? colours.panel
                                  : colours.flash,
              .line = isWritten ? colours.acceptedLine
                      : isMoot  ? colours.border
                                : colours.flashLine,
              .ink = isMoot ? colours.muted : colours.text});
}

/// Why the draft ended stands beside the full model's own token, where there is one.
void WalkTree::paintFoot(QPainter& painter, const QRect& body, const Columns& at) {
    const RoundWalk& walk = scene().walk;
    const Colours& colours = theme().colours();
    painter.setFont(theme().font(TextRole::Small));
    const auto write = [&](int top, int right, const QString& text, const QColor& colour) {
        const QRect room(at.depth, top, right - at.depth, theme().scaled(20));
        painter.setPen(colour);
        painter.drawText(room,
                         Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
    };
    const int gap = theme().scaled(4);
    if (hasEnd() && scene().shown(RoundStop::Draft) >= 1.0) {
        const int y = line(body, static_cast<int>(walk.widening.choices.size())).bottom() + gap;
        painter.setPen(QPen(colours.warning, 1, Qt::DashLine));
        painter.drawLine(at.depth, y, at.model - 2 * gap, y);
        // The full model's own token stands at the right from the stop Verify on.
        const bool isAlone = scene().shown(RoundStop::Verify) <= 0.0;
        write(y + 1,
              isAlone ? body.right() : at.model - 2 * gap,
              tr("The draft stops here: %1").arg(draftEndText(walk.drafting.end)),
              colours.warning);
    }
    if (walk.shape.sideCount > 0 && scene().shown(RoundStop::Linearise) > 0.0)
        write(body.bottom() - theme().scaled(24),
              body.right(),
              countText(walk.shape.sideCount,
                        tr("1 more row runs beside the draft; it cannot be kept"),
                        tr("%1 more rows run beside the draft; they cannot be kept")),
              colours.muted);
}

} // namespace ui
