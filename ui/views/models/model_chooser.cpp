// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/model_chooser.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"
#include "ui/views/models/model_report.h"

#include <QMenu>
#include <QStyleOptionButton>
#include <QStylePainter>

#include <algorithm>
#include <cmath>

namespace ui {

using namespace engine;

namespace {

constexpr int kNarrowest = 300;
constexpr int kWidest = 360; // pixels at scale 1
constexpr int kInset = 8;
constexpr int kGap = 8;
constexpr int kChevron = 12;

} // namespace

ModelChooser::ModelChooser(const ViewContext& context, RecentModels& recent, QWidget* parent)
    : QPushButton(parent)
    , m_theme(context.theme)
    , m_store(context.store)
    , m_bridge(context.bridge)
    , m_recent(recent)
    , m_menu(new QMenu(this)) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setMenu(m_menu);
    connect(m_menu, &QMenu::aboutToShow, this, &ModelChooser::fillMenu);
    connect(&m_bridge, &EngineBridge::eventCame, this, &ModelChooser::apply);
    connect(&m_theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
    describe();
    fillMenu();
}

void ModelChooser::apply(const EngineEvent& event) {
    const auto* failed = event.as<EngineFailed>();
    if (event.as<ModelLoaded>() || event.as<ModelUnloaded>() || event.as<ModelLoadProgress>() ||
        (failed != nullptr && failed->task == "load_model"))
        describe();
}

void ModelChooser::describe() {
    QString name = tr("No model");
    QString facts;
    if (const ModelLoadProgress* loading = m_store.loading()) {
        name = tr("Opening %1").arg(RecentModels::nameOf(QString::fromStdString(loading->path)));
        if (loading->stage == "weights")
            facts = tr("%1 %").arg(std::lround(100.0 * loading->part));
    } else if (const ModelLoaded* model = m_store.model()) {
        name = QString::fromStdString(model->model.name).simplified();
        if (name.isEmpty())
            name = RecentModels::nameOf(QString::fromStdString(model->path));
        facts = shortFacts(model->model);
    }
    if (name == m_name && facts == m_facts)
        return;
    m_name = name;
    m_facts = facts;
    setAccessibleName(tr("Model: %1 %2").arg(m_name, m_facts).trimmed());
    setTip(*this, accessibleName());
    updateGeometry();
    update();
}

void ModelChooser::fillMenu() {
    m_menu->clear();
    const bool isReplay = m_bridge.isReplay(); // its model was another program's
    for (const RecentModel& model : m_recent.list()) {
        const bool isGone = RecentModels::isGone(model);
        const QString name = menuText(model.name);
        QAction* action = m_menu->addAction(isGone ? tr("%1 (missing)").arg(name) : name);
        action->setEnabled(!isGone && !isReplay);
        connect(action, &QAction::triggered, this, [this, path = model.path] {
            emit modelWanted(path);
        });
    }
    m_menu->addSeparator();
    const auto add = [&](const QString& text, void (ModelChooser::*wanted)()) {
        QAction* action = m_menu->addAction(text);
        action->setEnabled(!isReplay);
        connect(action, &QAction::triggered, this, wanted);
    };
    add(tr("Open file\u2026"), &ModelChooser::fileWanted);
    add(tr("Open folder\u2026"), &ModelChooser::folderWanted);
    add(tr("Default model"), &ModelChooser::defaultWanted);
    QAction* unload = m_menu->addAction(tr("Unload"));
    unload->setEnabled(!isReplay && m_store.model() != nullptr);
    connect(unload, &QAction::triggered, this, [this] { m_bridge.send(UnloadModel{}); });
}

QSize ModelChooser::sizeHint() const {
    const QFontMetrics bold(m_theme.font(TextRole::DockTitle));
    const QFontMetrics plain(m_theme.font(TextRole::Small));
    const int words = bold.horizontalAdvance(m_name) + plain.horizontalAdvance(m_facts) +
                      m_theme.scaled(2 * kInset + 2 * kGap + kChevron + 4);
    // A menu bar gives its corner the room that it asked for first, before any model is there.
    return {std::clamp(words, m_theme.scaled(kNarrowest), m_theme.scaled(kWidest)),
            m_theme.scaled(24)};
}

QSize ModelChooser::minimumSizeHint() const {
    return {m_theme.scaled(kNarrowest), m_theme.scaled(24)};
}

void ModelChooser::paintEvent(QPaintEvent* /*event*/) {
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    option.text.clear();
    option.features &= ~QStyleOptionButton::HasMenu;
    painter.drawControl(QStyle::CE_PushButtonBevel, option);
    const Colours& colours = m_theme.colours();
    const int chevron = m_theme.scaled(kChevron);
    QRect words = rect().adjusted(
        m_theme.scaled(kInset), 0, -m_theme.scaled(kInset) - chevron - m_theme.scaled(4), 0);
    painter.drawPixmap(
        words.right() + m_theme.scaled(4),
        (height() - chevron) / 2,
        iconPixmap(IconName::ChevronDown, colours.muted, chevron, devicePixelRatioF()));
    const QFontMetrics plain(m_theme.font(TextRole::Small));
    const int factsWidth = m_facts.isEmpty() ? 0 : plain.horizontalAdvance(m_facts) + 1;
    const QFont bold = m_theme.font(TextRole::DockTitle);
    const int gap = factsWidth > 0 ? m_theme.scaled(kGap) : 0;
    const QString shown = QFontMetrics(bold).elidedText(
        m_name, Qt::ElideMiddle, std::max(0, words.width() - factsWidth - gap));
    painter.setFont(bold);
    painter.setPen(m_store.model() != nullptr ? colours.text : colours.muted);
    painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter, shown);
    words.setLeft(words.left() + QFontMetrics(bold).horizontalAdvance(shown) + gap);
    painter.setFont(m_theme.font(TextRole::Small));
    painter.setPen(colours.muted);
    painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter, m_facts);
}

} // namespace ui
