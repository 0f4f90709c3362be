// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/inspect_page.h"

#include "ui/shell/docks/dock_title.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/views/layer_map/history_view.h"
#include "ui/views/layer_map/layer_map_view.h"
#include "ui/views/matchness/strip_view.h"
#include "ui/views/round/round_view.h"
#include "ui/views/search_offer/search_offer.h"

#include <QStackedWidget>
#include <QToolButton>

namespace ui {

namespace {

constexpr int kLeastFace = 150; ///< pixels at 100 %: a smaller one would be unreadable

/// A splitter whose parts touch each other.
void joinParts(QSplitter& splitter) {
    splitter.setChildrenCollapsible(false);
    splitter.setHandleWidth(1);
}

} // namespace

InspectPage::InspectPage(const ViewContext& context, ViewMenu& menu, QWidget* parent)
    : QSplitter(Qt::Vertical, parent)
    , m_context(context)
    , m_map(new LayerMapView(context))
    , m_faces(new QStackedWidget) {
    joinParts(*this);
    auto* search = new QSplitter(Qt::Vertical);
    joinParts(*search);
    QWidget* history = menu.titled(new HistoryView(context));
    search->addWidget(history);
    addTurn(*history, tr("Round"), Face::Rounds);
    search->addWidget(menu.titled(new MatchnessStripView(context)));
    search->setStretchFactor(0, 1);
    const Theme& theme = context.theme;
    search->setSizes({theme.scaled(330), theme.scaled(130)});
    auto* scroll = new ColumnScroll; // on a low screen, or with large text
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(search);
    m_faces->addWidget(scroll);
    QWidget* rounds = menu.titled(new RoundView(context));
    m_faces->addWidget(rounds);
    addTurn(*rounds, tr("Search"), Face::Search);
    addWidget(menu.titled(m_map));
    addWidget(m_faces);
    const auto keepRoom = [this] { m_faces->setMinimumHeight(m_context.theme.scaled(kLeastFace)); };
    connect(&theme, &Theme::changed, this, keepRoom);
    keepRoom();
    setStretchFactor(1, 1);
    setSizes({theme.scaled(150), theme.scaled(430)});
    connect(&context.bridge, &EngineBridge::eventCame, this, &InspectPage::onEvent);
}

void InspectPage::addTurn(const QWidget& part, const QString& text, Face face) {
    auto* title = part.findChild<DockTitle*>();
    auto* button = new QToolButton(title);
    button->setText(text);
    const QString words = face == Face::Rounds
                              ? tr("Show the figures of the decoder's rounds and what it keeps to "
                                   "draft from")
                              : tr("Show the progress of the search for a skip set");
    button->setToolTip(words);
    button->setAccessibleName(words);
    title->addButton(button);
    connect(button, &QToolButton::clicked, this, [this, face] { setFace(face); });
}

InspectPage::Face InspectPage::face() const {
    return m_faces->currentIndex() == 0 ? Face::Search : Face::Rounds;
}

void InspectPage::setFace(Face face) {
    if (face == this->face())
        return;
    m_faces->setCurrentIndex(face == Face::Search ? 0 : 1);
    tellFace();
}

void InspectPage::turn() { setFace(face() == Face::Search ? Face::Rounds : Face::Search); }

/// Other settings of the same decoder, and steps of a running search, do not switch the page.
void InspectPage::onEvent(const engine::EngineEvent& event) {
    if (event.as<engine::ModelLoaded>() != nullptr)
        m_decoder.clear();
    if (const auto* chosen = event.as<engine::DecoderChosen>()) {
        if (m_context.store.model() == nullptr || chosen->info.name == m_decoder)
            return;
        m_decoder = chosen->info.name;
        m_hasSearched = searchOffer(m_context.store).reason.isEmpty();
        setFace(m_hasSearched ? Face::Search : Face::Rounds);
        return;
    }
    if (event.as<engine::TrialFinished>() == nullptr || m_hasSearched)
        return;
    m_hasSearched = true;
    setFace(Face::Search);
}

void InspectPage::showEvent(QShowEvent* event) {
    QSplitter::showEvent(event);
    tellFace();
}

/// Later, when the surrounding workspace has its sizes.
void InspectPage::tellFace() {
    QMetaObject::invokeMethod(
        this,
        [this] {
            if (isVisible())
                emit faceShown(face());
        },
        Qt::QueuedConnection);
}

} // namespace ui
