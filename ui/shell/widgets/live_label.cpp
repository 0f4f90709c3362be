// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/widgets/live_label.h"

#include "ui/theme/text_room.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QPainter>

#include <algorithm>

namespace ui {

namespace {

constexpr int kLeastWidth = 48; ///< pixels at 100 %, of one that may be cut

/// Measured as a paragraph is laid out, which rounds differently from the sum of its lines.
int heightOf(const QFontMetrics& metrics, int lines) {
    const QString text = QStringLiteral("x") + QStringLiteral("\nx").repeated(lines - 1);
    return metrics.boundingRect(QRect(0, 0, 10'000, 10'000), 0, text).height();
}

/// Screen readers read it like a label: its name, then its text.
class LiveLabelAccessible : public QAccessibleWidget {
public:
    explicit LiveLabelAccessible(LiveLabel* label)
        : QAccessibleWidget(label, QAccessible::StaticText)
        , m_label(label) {}

    QString text(QAccessible::Text kind) const override {
        if (kind == QAccessible::Value)
            return m_label->text();
        if (kind != QAccessible::Name)
            return QAccessibleWidget::text(kind);
        const QString name = m_label->accessibleName();
        return name.isEmpty() ? m_label->text() : name + QStringLiteral(": ") + m_label->text();
    }

private:
    LiveLabel* m_label;
};

QAccessibleInterface* makeAccessible(const QString&, QObject* object) {
    auto* label = qobject_cast<LiveLabel*>(object);
    return label == nullptr ? nullptr : new LiveLabelAccessible(label);
}

} // namespace

LiveLabel::LiveLabel(const Theme& theme, TextRole role, ColourName colour, Fit fit, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_role(role)
    , m_colour(colour)
    , m_fit(fit) {
    QAccessible::installFactory(makeAccessible); // again: does nothing
    setSizePolicy(hasOwnWidth() ? QSizePolicy::Preferred : QSizePolicy::Ignored,
                  QSizePolicy::Preferred);
    m_giveBack.setSingleShot(true);
    m_giveBack.setInterval(kKeptMs);
    connect(&m_giveBack, &QTimer::timeout, this, [this] { takeLines(m_usedLines); });
    connect(&theme, &Theme::changed, this, &LiveLabel::restyle);
}

void LiveLabel::setText(const QString& text) {
    if (m_runs.size() == 1 && m_runs.front() == Run{text})
        return;
    setRuns({Run{text}});
}

void LiveLabel::setRuns(std::vector<Run> runs) {
    if (m_runs == runs)
        return;
    m_runs = std::move(runs);
    update();
    QString measured = textRoom(text(), QFontMetrics(textFont()));
    if (measured == m_measured)
        return;
    m_measured = std::move(measured);
    if (hasOwnWidth())
        takeRoom();
    else if (m_fit == Fit::Wrapped)
        noteLines();
}

void LiveLabel::setAlignedRight(bool isAlignedRight) {
    m_isAlignedRight = isAlignedRight;
    update();
}

QString LiveLabel::text() const {
    QString whole;
    for (const Run& run : m_runs)
        whole += run.text;
    return whole;
}

QString LiveLabel::shownText() const {
    if (m_fit == Fit::WholeOrCut) {
        QString shown;
        for (const Run& run : shownRuns())
            shown += run.text;
        return shown;
    }
    if (m_fit != Fit::Cut)
        return text();
    return QFontMetrics(textFont()).elidedText(text(), Qt::ElideRight, contentsRect().width());
}

QFont LiveLabel::fontOf(const Run& run) const {
    QFont font = textFont();
    if (run.isStrong)
        font.setWeight(QFont::Bold);
    return font;
}

/// Without room for all runs, the last ones are cut or left out.
std::vector<LiveLabel::Run> LiveLabel::shownRuns() const {
    if (m_fit != Fit::WholeOrCut || neededWidth() <= contentsRect().width())
        return m_runs;
    std::vector<Run> shown;
    int room = contentsRect().width();
    for (Run run : m_runs) {
        const QFontMetrics metrics(fontOf(run));
        run.text = metrics.elidedText(run.text, Qt::ElideRight, std::max(0, room));
        room -= metrics.horizontalAdvance(run.text);
        shown.push_back(std::move(run));
    }
    return shown;
}

/// A new text is often as wide except for a digit or two; that does not move its neighbours.
void LiveLabel::takeRoom() {
    const int needed = neededWidth();
    const int slack = QFontMetrics(textFont()).horizontalAdvance(QStringLiteral("000"));
    if (needed <= m_width && needed >= m_width - slack && needed > 0)
        return;
    m_width = needed;
    updateGeometry();
}

/// More lines are taken at once; lines are given back when no text has needed them for a while.
void LiveLabel::noteLines() {
    const int needed = neededLines();
    if (needed >= m_lines) {
        takeLines(needed);
        return;
    }
    if (m_giveBack.isActive()) {
        m_usedLines = std::max(m_usedLines, needed);
        return;
    }
    m_usedLines = needed;
    m_giveBack.start();
}

void LiveLabel::takeLines(int lines) {
    m_giveBack.stop();
    if (lines == m_lines)
        return;
    m_lines = lines;
    updateGeometry();
}

int LiveLabel::neededWidth() const {
    int width = 0;
    for (const Run& run : m_runs) {
        const QFontMetrics metrics(fontOf(run));
        width += metrics.horizontalAdvance(textRoom(run.text, metrics));
    }
    return width;
}

int LiveLabel::neededLines() const {
    const QFontMetrics metrics(textFont());
    const int room = contentsRect().width();
    if (room <= 0 || metrics.horizontalAdvance(m_measured) <= room)
        return 1;
    const int height =
        metrics.boundingRect(QRect(0, 0, room, 10'000), Qt::TextWordWrap, m_measured).height();
    int lines = 1;
    while (heightOf(metrics, lines) < height)
        ++lines;
    return lines;
}

QSize LiveLabel::sizeHint() const {
    const QFontMetrics metrics(textFont());
    const QSize text(hasOwnWidth() ? m_width : 0,
                     std::max(metrics.height(), heightOf(metrics, m_lines)));
    return text.grownBy(contentsMargins());
}

QSize LiveLabel::minimumSizeHint() const {
    const QSize whole = sizeHint();
    const int least = m_fit == Fit::WholeOrCut ? m_theme.scaled(kLeastWidth) : whole.width();
    return {std::min(whole.width(), least), whole.height()};
}

void LiveLabel::restyle() {
    m_width = neededWidth();
    m_lines = m_fit == Fit::Wrapped ? neededLines() : 1;
    m_giveBack.stop();
    updateGeometry();
    update();
}

void LiveLabel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (m_fit == Fit::Wrapped && event->size().width() != event->oldSize().width())
        takeLines(neededLines());
}

void LiveLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Colours& colours = m_theme.colours();
    painter.setPen(colours.*m_colour);
    painter.setFont(textFont());
    const QRect room = contentsRect();
    if (m_fit == Fit::Wrapped && m_lines > 1) {
        painter.drawText(room, Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, text());
        return;
    }
    const QFontMetrics line(textFont());
    const int baseline = room.top() + (room.height() - line.height()) / 2 + line.ascent();
    if (!hasOwnWidth()) {
        const QString shown = shownText();
        const int free = m_isAlignedRight ? room.width() - line.horizontalAdvance(shown) : 0;
        painter.drawText(room.left() + free, baseline, shown);
        return;
    }
    int x = room.left();
    for (const Run& run : shownRuns()) {
        const QFont font = fontOf(run);
        painter.setFont(font);
        painter.setPen(colours.*(run.colour == nullptr ? m_colour : run.colour));
        painter.drawText(x, baseline, run.text);
        if (&run != &m_runs.back())
            x += QFontMetrics(font).horizontalAdvance(run.text);
    }
}

} // namespace ui
