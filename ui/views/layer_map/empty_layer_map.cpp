// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/empty_layer_map.h"

#include "ui/theme/tip_text.h"
#include "ui/views/layer_map/grid/cell_painter.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

#include <algorithm>

namespace ui {

/// Two rows of empty cells.
class LayerSkeleton : public QWidget {
public:
    LayerSkeleton(const Theme& theme, QWidget* parent)
        : QWidget(parent)
        , m_theme(theme) {}

    void setLayers(int layerCount, bool hasDraftLayer) {
        m_layerCount = layerCount > 0 ? layerCount : kUnknownLayers;
        m_hasDraftLayer = hasDraftLayer;
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setPen(QPen(m_theme.colours().border, 0));
        const int beside = m_hasDraftLayer ? m_theme.scaled(20) : 0;
        const int pitch = std::clamp((width() - beside) / m_layerCount, 2, m_theme.scaled(14));
        const int left = std::max(0, (width() - beside - pitch * m_layerCount) / 2);
        const int rowHeight = height() / 2;
        const int cellHeight = rowHeight - m_theme.scaled(4);
        for (int row = 0; row < 2; ++row)
            for (int layer = 0; layer < m_layerCount; ++layer)
                painter.drawRect(left + layer * pitch,
                                 row * rowHeight,
                                 std::max(1, pitch - (pitch > 5 ? 3 : 2)),
                                 cellHeight);
        const int gap = m_theme.scaled(6);
        for (int row = 0; row < 2 && beside > 0; ++row)
            paintCell(
                painter,
                {left + pitch * m_layerCount + gap, row * rowHeight, beside - gap, cellHeight},
                {.kind = row == 0 ? Sublayer::Attention : Sublayer::Mlp, .isDraftLayer = true},
                m_theme.colours());
    }

private:
    static constexpr int kUnknownLayers = 30;

    const Theme& m_theme;
    int m_layerCount = kUnknownLayers;
    bool m_hasDraftLayer = false;
};

namespace {

QLabel* centredLabel(QWidget* parent) {
    QLabel* label = plainLabel(parent, true);
    label->setAlignment(Qt::AlignCenter);
    return label;
}

} // namespace

EmptyLayerMap::EmptyLayerMap(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_skeleton(new LayerSkeleton(theme, this))
    , m_title(centredLabel(this))
    , m_sentence(centredLabel(this))
    , m_find(new QPushButton(tr("Find a skip set with this chat"), this))
    , m_load(new QPushButton(tr("Load a skip set..."), this))
    , m_buttons(new QHBoxLayout)
    , m_note(centredLabel(this)) {
    for (QLabel* label : {m_sentence, m_note})
        label->setProperty("tone", "muted");
    m_sentence->setText(tr("Each cell is one sublayer of the model. Colour will show which ones "
                           "the draft skips."));
    m_find->setProperty("kind", "primary");
    m_find->setAccessibleName(m_find->text());
    m_load->setAccessibleName(m_load->text());
    m_buttons->addStretch();
    m_buttons->addWidget(m_find);
    m_buttons->addWidget(m_load);
    m_buttons->addStretch();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addStretch();
    column->addWidget(m_skeleton);
    column->addWidget(m_title);
    column->addWidget(m_sentence);
    column->addLayout(m_buttons);
    column->addWidget(m_note);
    column->addStretch();
    connect(m_find, &QPushButton::clicked, this, &EmptyLayerMap::findRequested);
    connect(m_load, &QPushButton::clicked, this, &EmptyLayerMap::loadRequested);
    m_title->setText(tr("No skip set yet"));
    connect(&theme, &Theme::changed, this, &EmptyLayerMap::arrange);
    arrange();
}

void EmptyLayerMap::setOffer(const Offer& offer) {
    if (offer == m_offer)
        return; // arranging it again lays out the whole window
    m_offer = offer;
    m_skeleton->setLayers(offer.layerCount, offer.hasDraftLayer);
    m_title->setText(offer.isSearched ? tr("Every layer runs") : tr("No skip set yet"));
    QStringList told{offer.reason, offer.note};
    if (offer.hasDraftLayer)
        told.prepend(tr("A draft adapter drafts: its layer stands behind the model's, none of "
                        "which runs for its drafts."));
    told.removeAll(QString());
    m_note->setText(told.join(QLatin1Char(' ')));
    arrange();
}

QSize EmptyLayerMap::minimumSizeHint() const { return {m_theme.scaled(120), m_theme.scaled(36)}; }

void EmptyLayerMap::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

/// The most important parts get room first; a part without room is left out completely, never cut.
/// The note is then the title's tool tip.
void EmptyLayerMap::arrange() {
    const bool isRoomy = height() >= m_theme.scaled(170);
    const int spacing = m_theme.scaled(8);
    layout()->setSpacing(spacing);
    QFont bold = m_theme.font(TextRole::Interface);
    bold.setWeight(QFont::DemiBold);
    m_title->setFont(bold);
    setTip(*m_title, m_note->text());
    m_note->setFont(m_theme.font(TextRole::Small));
    m_skeleton->setFixedHeight(m_theme.scaled(isRoomy ? 48 : 36));
    m_skeleton->update();
    int used = 0;
    const auto takes = [&](int wanted) {
        const bool isFree = used + wanted <= height();
        used += isFree ? wanted + spacing : 0;
        return isFree;
    };
    const auto widthOf = [spacing](const QPushButton& button) {
        return button.sizeHint().width() + spacing;
    };
    const int findWidth = m_offer.canFind ? widthOf(*m_find) : 0;
    const bool hasLoad = m_offer.canLoad && findWidth + widthOf(*m_load) <= width();
    const int buttonsWidth = findWidth + (hasLoad ? widthOf(*m_load) : 0);
    const bool hasActions = buttonsWidth > 0;
    const int titleWidth = QFontMetrics(bold).horizontalAdvance(m_title->text()) + spacing;
    const bool isBeside = hasActions && !isRoomy && titleWidth + buttonsWidth <= width();
    placeTitle(isBeside);
    if (!isBeside)
        takes(QFontMetrics(bold).height());
    const bool hasButtons =
        hasActions && buttonsWidth <= width() && takes(m_find->sizeHint().height());
    m_find->setVisible(hasButtons && m_offer.canFind);
    m_load->setVisible(hasButtons && hasLoad);
    m_note->setVisible(!m_note->text().isEmpty() && takes(m_note->heightForWidth(width())));
    m_skeleton->setVisible(takes(m_skeleton->height()));
    m_sentence->setVisible(isRoomy && takes(m_sentence->heightForWidth(width())));
}

void EmptyLayerMap::placeTitle(bool isBesideButtons) {
    const bool isBeside = m_buttons->indexOf(m_title) >= 0;
    if (isBeside == isBesideButtons)
        return;
    auto* column = static_cast<QBoxLayout*>(layout());
    m_title->setWordWrap(!isBesideButtons);
    if (isBesideButtons) {
        column->removeWidget(m_title);
        m_buttons->insertWidget(1, m_title);
    } else {
        m_buttons->removeWidget(m_title);
        column->insertWidget(column->indexOf(m_skeleton) + 1, m_title);
    }
}

} // namespace ui
