// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/row_delegates.h"

#include "ui/icons/icons.h"
#include "ui/views/experiments/lists/job_list_model.h"
#include "ui/views/experiments/lists/recipe_list_model.h"

#include <QAbstractScrollArea>
#include <QPainter>
#include <QPainterPath>

namespace ui {

namespace {

constexpr double kSectionPixels = 28.0;
constexpr double kSide = 12.0;
constexpr double kJobHeight = 42.0;
constexpr double kJobHeightWithBar = 50.0;
constexpr double kRecipeHeight = 24.0;
constexpr double kRecipeHeightOfTwo = 40.0; ///< lines
constexpr double kSign = 16.0;
constexpr double kGap = 8.0; ///< between the texts of a line

QFont demiBold(QFont font) {
    font.setWeight(QFont::DemiBold);
    return font;
}

} // namespace

SectionRowDelegate::SectionRowDelegate(const Theme& theme,
                                       int sectionRole,
                                       int firstRole,
                                       QObject* parent)
    : QStyledItemDelegate(parent)
    , m_theme(theme)
    , m_sectionRole(sectionRole)
    , m_firstRole(firstRole) {}

int SectionRowDelegate::sectionHeight(const QModelIndex& index) const {
    return index.data(m_firstRole).toBool() ? m_theme.scaled(kSectionPixels) : 0;
}

QSize SectionRowDelegate::sizeHint(const QStyleOptionViewItem& option,
                                   const QModelIndex& index) const {
    const auto* list = qobject_cast<const QAbstractScrollArea*>(option.widget);
    const int width = list != nullptr ? list->viewport()->width() : option.rect.width();
    const double height = rowHeight(index, width - 2 * m_theme.scaled(kSide));
    return {m_theme.scaled(120), m_theme.scaled(height) + sectionHeight(index)};
}

int SectionRowDelegate::paintText(QPainter& painter,
                                  const QRect& room,
                                  const QString& text,
                                  const QFont& font,
                                  const QColor& colour,
                                  Qt::Alignment side) const {
    const QFontMetrics metrics(font);
    const QString shown = metrics.elidedText(text, Qt::ElideRight, room.width());
    painter.setFont(font);
    painter.setPen(colour);
    painter.drawText(room, side | Qt::AlignVCenter | Qt::TextSingleLine, shown);
    return metrics.horizontalAdvance(shown);
}

void SectionRowDelegate::paint(QPainter* painter,
                               const QStyleOptionViewItem& option,
                               const QModelIndex& index) const {
    const Colours& colours = m_theme.colours();
    const int side = m_theme.scaled(kSide);
    QRect row = option.rect;
    painter->save();
    if (const int height = sectionHeight(index); height > 0) {
        paintText(*painter,
                  QRect(row.left() + side, row.top(), row.width() - 2 * side, height),
                  index.data(m_sectionRole).toString(),
                  demiBold(m_theme.font(TextRole::Small)),
                  colours.muted);
        row.setTop(row.top() + height);
    }
    const bool isChosen = option.state.testFlag(QStyle::State_Selected);
    const bool hasFocus = option.state.testFlag(QStyle::State_HasFocus);
    if (isChosen) {
        painter->fillRect(row, colours.selection);
        painter->fillRect(QRect(row.topLeft(), QSize(m_theme.scaled(3), row.height())),
                          colours.accent);
    } else if (option.state.testFlag(QStyle::State_MouseOver)) {
        painter->fillRect(row, colours.hover);
    }
    if (hasFocus && option.state.testFlag(QStyle::State_KeyboardFocusChange)) {
        painter->setPen(QPen(colours.focus, 2));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(row.adjusted(1, 1, -1, -1));
    }
    paintRow(*painter, row.adjusted(side, 0, -side, 0), index, isChosen);
    painter->restore();
}

JobRowDelegate::JobRowDelegate(const Theme& theme, QObject* parent)
    : SectionRowDelegate(
          theme, JobListModel::SectionRole, JobListModel::IsFirstOfSectionRole, parent) {}

double JobRowDelegate::rowHeight(const QModelIndex& index, int) const {
    return index.data(JobListModel::ShareRole).isValid() ? kJobHeightWithBar : kJobHeight;
}

void JobRowDelegate::paintRow(QPainter& painter,
                              const QRect& room,
                              const QModelIndex& index,
                              bool isChosen) const {
    const Colours& colours = theme().colours();
    QRect line(room.left(), room.top() + theme().scaled(3), room.width(), theme().scaled(20));
    const auto tone = static_cast<JobListModel::Tone>(index.data(JobListModel::ToneRole).toInt());
    const QColor colour = tone == JobListModel::Tone::Accent    ? colours.accent
                          : tone == JobListModel::Tone::Warning ? colours.warning
                          : tone == JobListModel::Tone::Error   ? colours.error
                                                                : colours.text;
    const int taken = paintText(painter,
                                line,
                                index.data(JobListModel::OutcomeRole).toString(),
                                theme().font(TextRole::Small),
                                colour,
                                Qt::AlignRight);
    const QFont font = theme().font(TextRole::Interface);
    paintText(painter,
              line.adjusted(0, 0, -taken - theme().scaled(kGap), 0),
              index.data(Qt::DisplayRole).toString(),
              isChosen ? demiBold(font) : font,
              colours.text);
    line.moveTop(line.bottom() + 1);
    line.setHeight(theme().scaled(16));
    paintText(painter,
              line,
              index.data(JobListModel::SubtitleRole).toString(),
              theme().font(TextRole::Tiny),
              tone == JobListModel::Tone::Error ? colours.error : colours.muted);
    const QVariant share = index.data(JobListModel::ShareRole);
    if (!share.isValid())
        return;
    QRect bar(room.left(), line.bottom() + theme().scaled(3), room.width(), theme().scaled(3));
    painter.fillRect(bar, colours.border);
    bar.setWidth(static_cast<int>(bar.width() * share.toDouble()));
    painter.fillRect(bar, colours.accent);
}

RecipeRowDelegate::RecipeRowDelegate(const Theme& theme, QObject* parent)
    : SectionRowDelegate(
          theme, RecipeListModel::SectionRole, RecipeListModel::IsFirstOfSectionRole, parent) {}

double RecipeRowDelegate::rowHeight(const QModelIndex& index, int room) const {
    // The chosen row has the wider font; rows do not change their height when they are chosen.
    const QFontMetrics title(demiBold(theme().font(TextRole::Interface)));
    const QFontMetrics source(theme().font(TextRole::Tiny));
    const int needed = theme().scaled(kSign) + theme().scaled(kGap) / 2 +
                       title.horizontalAdvance(index.data(Qt::DisplayRole).toString()) +
                       theme().scaled(kGap) +
                       source.horizontalAdvance(index.data(RecipeListModel::SourceRole).toString());
    return needed <= room ? kRecipeHeight : kRecipeHeightOfTwo;
}

void RecipeRowDelegate::paintRow(QPainter& painter,
                                 const QRect& room,
                                 const QModelIndex& index,
                                 bool isChosen) const {
    const Colours& colours = theme().colours();
    const bool isOneLine = rowHeight(index, room.width()) == kRecipeHeight;
    QRect line = room;
    if (!isOneLine)
        line.setHeight(theme().scaled(kRecipeHeight));
    const int sign = theme().scaled(kSign);
    paintRecipeState(
        painter,
        QRect(line.left() - theme().scaled(2), line.top() + (line.height() - sign) / 2, sign, sign),
        index.data(RecipeListModel::StateRole).toInt(),
        theme());
    line.setLeft(line.left() + sign + theme().scaled(kGap) / 2);
    const QFont font = theme().font(TextRole::Interface);
    paintText(painter,
              line,
              index.data(Qt::DisplayRole).toString(),
              isChosen ? demiBold(font) : font,
              colours.text);
    if (!isOneLine) {
        line.setTop(line.bottom() - theme().scaled(3));
        line.setBottom(room.bottom() - theme().scaled(2));
    }
    paintText(painter,
              line,
              index.data(RecipeListModel::SourceRole).toString(),
              theme().font(TextRole::Tiny),
              colours.muted,
              isOneLine ? Qt::AlignRight : Qt::AlignLeft);
}

void paintRecipeState(QPainter& painter, const QRect& room, int state, const Theme& theme) {
    const Colours& colours = theme.colours();
    const auto kind = static_cast<RecipeListModel::State>(state);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QPointF centre = QRectF(room).center();
    const double unit = room.width() / 16.0;
    if (kind == RecipeListModel::State::Gain) {
        painter.drawPixmap(room.topLeft(),
                           iconPixmap(IconName::Check,
                                      colours.success,
                                      room.width(),
                                      painter.device()->devicePixelRatioF()));
    } else if (kind == RecipeListModel::State::NoGain) {
        QPainterPath path(centre + QPointF(-3.5 * unit, -2.5 * unit));
        path.lineTo(centre + QPointF(3.5 * unit, -2.5 * unit));
        path.lineTo(centre + QPointF(0.0, 3.0 * unit));
        path.closeSubpath();
        painter.fillPath(path, colours.warning);
    } else if (kind == RecipeListModel::State::Running) {
        QPainterPath path(centre + QPointF(-2.5 * unit, -3.5 * unit));
        path.lineTo(centre + QPointF(3.5 * unit, 0.0));
        path.lineTo(centre + QPointF(-2.5 * unit, 3.5 * unit));
        path.closeSubpath();
        painter.fillPath(path, colours.accent);
    } else {
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.muted);
        painter.drawEllipse(centre, 1.5 * unit, 1.5 * unit);
    }
    painter.restore();
}

} // namespace ui
