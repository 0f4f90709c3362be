// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/grid/sublayer_card.h"

#include "ui/views/layer_map/grid/cell_painter.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>

#include <algorithm>

namespace ui {

/// A small cell, as in the map.
class SampleLabel : public QWidget {
public:
    SampleLabel(const Theme& theme, QWidget* parent)
        : QWidget(parent)
        , m_theme(theme) {}

    void setLook(const CellLook& look) {
        m_look = look;
        const int size = m_theme.scaled(16);
        setFixedSize(size, size);
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paintCell(painter, rect(), m_look, m_theme.colours());
    }

private:
    const Theme& m_theme;
    CellLook m_look;
};

namespace {

QString meanText(const std::optional<double>& mean) {
    return mean ? shareText(*mean) : QStringLiteral("–");
}

} // namespace

SublayerCard::SublayerCard(const Theme& theme, QWidget* parent)
    : QFrame(parent)
    , m_theme(theme)
    , m_title(plainLabel(this))
    , m_sample(new SampleLabel(theme, this))
    , m_state(plainLabel(this))
    , m_comparison(plainLabel(this))
    , m_line(new QWidget(this))
    , m_hint(plainLabel(this)) {
    setObjectName(QStringLiteral("sublayer_card"));
    setFocusPolicy(Qt::NoFocus);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* column = new QVBoxLayout(this);
    auto* top = new QHBoxLayout;
    top->addWidget(m_title);
    top->addStretch();
    top->addWidget(m_sample);
    top->addWidget(m_state);
    auto* rows = new QGridLayout;
    rows->setColumnStretch(0, 1);
    m_skippedBy = addRow(*rows, tr("Skipped by trials of this search"));
    m_means = addRow(*rows, tr("Mean matchness, skipped / kept"));
    m_saved = addRow(*rows, tr("Time saved per draft token"));
    column->addLayout(top);
    column->addWidget(m_comparison);
    column->addLayout(rows);
    column->addWidget(m_line);
    column->addWidget(m_hint);
    m_comparison->hide();
    for (QLabel* label : {m_comparison, m_hint})
        label->setProperty("tone", "muted");
    styleLabels();
    showHint();
    hide();
    connect(&theme, &Theme::changed, this, &SublayerCard::styleLabels);
}

QLabel* SublayerCard::addRow(QGridLayout& rows, const QString& name) {
    const int row = static_cast<int>(m_names.size());
    m_names.push_back(plainLabel(this));
    m_names.back()->setProperty("tone", "muted");
    m_names.back()->setText(name);
    QLabel* figure = plainLabel(this);
    rows.addWidget(m_names.back(), row, 0);
    rows.addWidget(figure, row, 1, Qt::AlignRight | Qt::AlignVCenter);
    rows.setHorizontalSpacing(m_theme.scaled(16));
    rows.setVerticalSpacing(m_theme.scaled(4));
    return figure;
}

void SublayerCard::styleLabels() {
    const Colours& colours = m_theme.colours();
    const int side = m_theme.scaled(12);
    layout()->setContentsMargins(side, m_theme.scaled(10), side, m_theme.scaled(10));
    layout()->setSpacing(m_theme.scaled(6));
    QFont bold = m_theme.font(TextRole::Interface);
    bold.setWeight(QFont::DemiBold);
    m_title->setFont(bold);
    setTextColour(*m_title, colours.text);
    QFont stateFont = m_theme.font(TextRole::Small);
    stateFont.setWeight(QFont::DemiBold);
    m_state->setFont(stateFont);
    setTextColour(*m_state, colours.text);
    for (QLabel* label : {m_comparison, m_hint})
        label->setFont(m_theme.font(TextRole::Small));
    for (QLabel* label : m_names)
        label->setFont(m_theme.font(TextRole::Small));
    for (QLabel* label : {m_skippedBy, m_means, m_saved}) {
        label->setFont(m_theme.font(TextRole::Figure));
        setTextColour(*label, colours.text);
    }
    m_line->setFixedHeight(1);
    m_line->setAutoFillBackground(true);
    setGround(*m_line, colours.border);
    adjustSize();
    update();
}

void SublayerCard::setFacts(const SublayerFacts& facts) {
    m_facts = facts;
    const bool isAttention = facts.cell.kind == Sublayer::Attention;
    const bool isBeside = !facts.draftLayer.isEmpty();
    const QString name = isAttention ? tr("Attention") : tr("MLP");
    m_title->setText(isBeside ? tr("Draft layer · %1").arg(name)
                              : tr("Layer %1 · %2").arg(QString::number(facts.cell.layer), name));
    m_sample->setLook({.kind = facts.cell.kind,
                       .isSkipped = facts.isSkipped,
                       .isLocked = facts.isLocked,
                       .isCopy = facts.isCopy,
                       .isDraftLayer = isBeside});
    const QString state = isBeside             ? tr("drafts")
                          : facts.isBehindExit ? tr("not run, after the exit")
                          : facts.isSkipped    ? tr("skipped")
                          : facts.isLocked     ? tr("kept, locked")
                                               : tr("kept");
    m_state->setText(facts.isCopy ? tr("%1, silent copy").arg(state) : state);
    m_comparison->setText(isBeside ? facts.draftLayer : facts.comparison);
    m_comparison->setVisible(!m_comparison->text().isEmpty());
    showScores();
    showHint();
    adjustSize();
}

/// Of trials; a layer beside the model is in none.
void SublayerCard::showScores() {
    const SublayerFacts& facts = m_facts;
    const bool isBeside = !facts.draftLayer.isEmpty();
    const std::int64_t trials = facts.scores.skipped + facts.scores.kept;
    m_skippedBy->setText(trials == 0 ? tr("no trials yet")
                                     : tr("%1 of %2").arg(facts.scores.skipped).arg(trials));
    m_means->setText(QStringLiteral("%1 / %2").arg(meanText(facts.scores.meanSkipped()),
                                                   meanText(facts.scores.meanKept())));
    for (QLabel* label : {m_names[0], m_names[1], m_skippedBy, m_means})
        label->setVisible(!isBeside);
    m_saved->setVisible(facts.savedMs.has_value());
    m_names.back()->setVisible(facts.savedMs.has_value());
    if (facts.savedMs)
        m_saved->setText(tr("about %1 ms").arg(*facts.savedMs, 0, 'f', 2));
}

void SublayerCard::showHint() {
    if (!m_facts.draftLayer.isEmpty())
        m_hint->setText(tr("It belongs to a draft adapter and is in no skip set. Click to pin."));
    else if (m_facts.isLocked)
        m_hint->setText(tr("Locked: the decoder always runs this layer."));
    else
        m_hint->setText(tr("Click to pin. Space toggles between keep and skip."));
}

void SublayerCard::showBeside(const QWidget& owner, const QRect& place) {
    QWidget* window = owner.window();
    if (parentWidget() != window)
        setParent(window);
    adjustSize();
    const QPoint below = owner.mapTo(window, place.bottomLeft());
    const QPoint above = owner.mapTo(window, place.topLeft());
    const int gap = m_theme.scaled(2);
    int top = below.y() + gap;
    if (top + height() > window->height() && above.y() - gap - height() >= 0)
        top = above.y() - gap - height();
    const int left = below.x() + place.width() / 2 - width() / 2;
    move(std::clamp(left, 0, std::max(0, window->width() - width())),
         std::clamp(top, 0, std::max(0, window->height() - height())));
    show();
    raise();
}

QString SublayerCard::words() const {
    QStringList lines{m_title->text() + QStringLiteral(", ") + m_state->text()};
    if (!m_facts.draftLayer.isEmpty())
        return (lines << m_facts.draftLayer).join(QLatin1Char('\n'));
    if (!m_facts.comparison.isEmpty())
        lines << m_facts.comparison;
    lines << m_names[0]->text() + QStringLiteral(": ") + m_skippedBy->text();
    lines << m_names[1]->text() + QStringLiteral(": ") + m_means->text();
    if (m_facts.savedMs)
        lines << m_names[2]->text() + QStringLiteral(": ") + m_saved->text();
    return lines.join(QLatin1Char('\n'));
}

void SublayerCard::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colours.controlBorder, 1.0));
    painter.setBrush(colours.tipGround);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4.0, 4.0);
}

} // namespace ui
