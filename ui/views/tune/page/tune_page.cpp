// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/page/tune_page.h"

#include "ui/experiments/setup/prompt_files.h"
#include "ui/plots/line_plot.h"
#include "ui/shell/bars/banner.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/theme/tip_text.h"
#include "ui/views/experiments/page/page_header.h"
#include "ui/views/experiments/report/verdict_band.h"
#include "ui/views/tune/compared/compared_view.h"
#include "ui/views/tune/curves/task_scores_view.h"
#include "ui/views/tune/curves/tune_curve_view.h"
#include "ui/views/tune/page/empty_tune.h"
#include "ui/views/tune/page/phase_bar.h"
#include "ui/views/tune/quality/exits_view.h"
#include "ui/views/tune/quality/quality_view.h"
#include "ui/views/tune/recipe/recipe_words.h"
#include "ui/views/tune/tune_words.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QGridLayout>
#include <QHideEvent>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kRoomForTwoColumns = 560; ///< pixels at 100 %

// What the program says, at last, of a result that was to be used.
constexpr QLatin1String kAboutUse("in use");
constexpr QLatin1String kPutToUse("to use."); // put to it

/// The newest note of what is at work; of a result that was to be used and is not, the last one if
/// it says why. One that the user has taken away since was used then.
QString noteOf(const TuningSession& session) {
    const QStringList& notes = session.run().notes;
    if (notes.isEmpty() || session.isAtWork())
        return notes.isEmpty() ? QString() : notes.back();
    const bool isWhy = notes.back().contains(kAboutUse) && !notes.back().endsWith(kPutToUse);
    const bool isDue = session.hasResult() && session.choice().isUsed && session.canUseResult();
    return isDue && isWhy ? notes.back() : QString();
}

} // namespace

TunePage::TunePage(const ViewContext& context,
                   const TuningSession& session,
                   ViewMenu& menu,
                   QWidget* parent)
    : QWidget(parent)
    , m_theme(context.theme)
    , m_session(session)
    , m_header(new PageHeader(context.theme))
    , m_noticePlace(new QVBoxLayout)
    , m_phases(new PhaseBar(context.theme))
    , m_band(new VerdictBand(context.theme))
    , m_note(plainLabel(this, true))
    , m_body(new QStackedWidget)
    , m_empty(new EmptyTune(context.theme))
    , m_scroll(new ColumnScroll) {
    setAcceptDrops(true);
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    build(context, menu);
    connect(&session, &TuningSession::changed, this, &TunePage::showSession);
    connect(&m_theme, &Theme::changed, this, &TunePage::restyle);
    restyle();
    showSession();
}

void TunePage::build(const ViewContext& context, ViewMenu& menu) {
    const auto add = [this](Action action, bool isMain = false) {
        QPushButton* button = m_header->addButton({}, isMain);
        m_buttons.emplace_back(action, button);
        connect(button, &QPushButton::clicked, this, [this, action] { emit actionAsked(action); });
    };
    add(Action::Remove);
    add(Action::Use);
    add(Action::Compare);
    add(Action::Stop);
    add(Action::PauseOrGoOn, true);
    add(Action::Reload, true);
    button(Action::Remove).setText(tr("Remove the adapter"));
    button(Action::Remove)
        .setToolTip(tr("Once the model is loaded again, it drafts without this adapter"));
    button(Action::Use).setText(tr("Use it now"));
    auto* loss = new TuneCurveView(context, m_session, lossPlot());
    m_firstPlot = &loss->plot();
    m_views = {loss,
               new TuneCurveView(context, m_session, acceptancePlot()),
               new TuneCurveView(context, m_session, roundPlot()),
               new TaskScoresView(context, m_session),
               new ComparedView(context, m_session),
               new ExitsView(context, m_session),
               new QualityView(context, m_session)};
    auto* views = new QWidget;
    m_grid = new QGridLayout(views);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(1);
    for (TuneView* view : m_views)
        m_parts.push_back(menu.titled(view, views)); // some are in no layout
    m_scroll->setFrameShape(QFrame::NoFrame);
    auto* content = new QWidget; // where there is little room, a long finding is scrolled, too
    auto* rows = new QVBoxLayout(content);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(m_band);
    rows->addWidget(m_note);
    rows->addWidget(views, 1);
    m_scroll->setWidget(content);
    m_body->addWidget(m_empty);
    m_body->addWidget(m_scroll);
    m_note->setProperty("tone", QStringLiteral("small"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_header);
    column->addLayout(m_noticePlace);
    column->addWidget(m_phases);
    column->addWidget(m_body, 1);
    arrange();
}

/// Of those that only some recipes have.
bool TunePage::isShown(std::size_t part) const {
    const TuningRecipe recipe = m_session.recipe();
    const TuneView* view = m_views[part];
    if (qobject_cast<const ExitsView*>(view) != nullptr)
        return recipe == TuningRecipe::LayerSkip;
    return qobject_cast<const QualityView*>(view) == nullptr || recipe != TuningRecipe::Draft;
}

/// In two columns where there is room, else below each other. One that is last and alone in its row
/// takes the whole of it.
void TunePage::arrange() {
    const int columns = width() >= m_theme.scaled(kRoomForTwoColumns) ? 2 : 1;
    const bool isSame = std::exchange(m_arranged, m_session.recipe()) == m_session.recipe();
    if (std::exchange(m_columns, columns) == columns && isSame)
        return;
    std::vector<QWidget*> shown;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        m_grid->removeWidget(m_parts[i]);
        m_parts[i]->setVisible(isShown(i));
        if (isShown(i))
            shown.push_back(m_parts[i]);
    }
    const int last = static_cast<int>(shown.size()) - 1;
    for (int i = 0; i <= last; ++i)
        m_grid->addWidget(shown[static_cast<std::size_t>(i)],
                          i / columns,
                          i % columns,
                          1,
                          i == last ? columns - i % columns : 1);
    m_grid->setColumnStretch(0, 1);
    m_grid->setColumnStretch(1, columns - 1);
}

void TunePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

QPushButton& TunePage::button(Action action) const {
    const auto found =
        std::ranges::find(m_buttons, action, &std::pair<Action, QPushButton*>::first);
    return *found->second;
}

QString TunePage::finding() const { return m_band->isHidden() ? QString() : m_band->text(); }

void TunePage::showSession() {
    const bool hasRun = m_session.state() != TuningState::None;
    m_header->setVisible(hasRun);
    m_phases->setVisible(hasRun);
    m_body->setCurrentWidget(hasRun ? static_cast<QWidget*>(m_scroll) : m_empty);
    arrange();
    m_header->setTitle(tuningTitle(m_session.choice()));
    m_header->setSentence(tuningStateText(m_session));
    m_phases->showSession(m_session);
    const TuningFinding finding = tuningFinding(m_session);
    m_band->setVisible(!finding.headline.isEmpty());
    if (m_band->text() != finding.headline + QLatin1Char(' ') + finding.cause)
        m_band->setVerdict(
            {finding.kind, finding.headline.toStdString(), finding.cause.toStdString()});
    const QString note = noteOf(m_session);
    m_note->setVisible(!note.isEmpty());
    m_note->setText(note);
    m_header->changeButtons([this] { showButtons(); }, m_firstPlot);
    showNotice();
}

void TunePage::showButtons() {
    const TuningState state = m_session.state();
    const bool isAtWork = m_session.isAtWork();
    QPushButton& stop = button(Action::Stop);
    stop.setVisible(isAtWork);
    stop.setText(state == TuningState::Stopping ? tr("End at once") : tr("Stop and keep"));
    stop.setToolTip(state == TuningState::Stopping
                        ? tr("What was not saved yet is lost")
                        : tr("It saves what it has and can go on later, also after a restart"));
    QPushButton& goOn = button(Action::PauseOrGoOn);
    goOn.setVisible(state == TuningState::Running || state == TuningState::Paused ||
                    m_session.canGoOn());
    goOn.setText(state == TuningState::Running ? tr("Pause") : tr("Continue"));
    QPushButton& compare = button(Action::Compare);
    const bool isComparing = m_session.comparison().isRunning();
    compare.setVisible(isComparing || m_session.canCompare());
    compare.setText(isComparing ? tr("Stop comparing") : tr("Compare on my prompts"));
    compare.setToolTip(isComparing ? tr("What was measured before is shown")
                       : m_session.choice().changesModel()
                           ? tr("Prompts that were not trained on are answered with the model and "
                                "with its copy, in turn")
                           : tr("Prompts that were not trained on are answered with the draft "
                                "layer and without it, in turn"));
    showUse();
}

/// Of the result, or of the best state while there is none.
void TunePage::showUse() {
    const TuningBest* half = m_session.halfTrained();
    const bool isUsed = m_session.isResultUsed() && (m_session.hasResult() || half != nullptr);
    // Also that of the training before, until there is another one.
    button(Action::Remove).setVisible(m_session.isResultUsed());
    QPushButton& use = button(Action::Use);
    use.setVisible(m_session.canUseResult());
    use.setToolTip(half == nullptr
                       ? tr("Once the model is loaded again, it drafts with this adapter")
                       : tr("Once the model is loaded again, it drafts with the state of step %1, "
                            "the best so far")
                             .arg(numberText(half->step)));
    showLoading(isUsed);
}

/// The model with its new layer, or the new model.
void TunePage::showLoading(bool isLayerUsed) {
    QPushButton& load = button(Action::Reload);
    const QString copy = m_session.newModel();
    load.setVisible(isLayerUsed || !copy.isEmpty());
    if (copy.isEmpty()) {
        load.setText(tr("Load the model again"));
        setTip(load, tr("It then drafts with the new layer"));
        return;
    }
    load.setText(m_session.run().done->quality->isKept ? tr("Load it now")
                                                       : tr("Load it all the same"));
    setTip(load,
           tr("%1, with the decoder %2")
               .arg(QDir::toNativeSeparators(copy), recipeName(m_session.recipe())));
}

/// Why it failed, or why none can begin.
void TunePage::showNotice() {
    const bool hasFailed = m_session.state() == TuningState::Failed;
    const TuningObstacle obstacle = m_session.obstacle();
    const QString text = hasFailed ? m_session.sentence() : obstacleText(obstacle);
    if (std::exchange(m_noticeText, text) == text)
        return;
    delete std::exchange(m_notice, nullptr);
    if (text.isEmpty())
        return;
    Notice notice{hasFailed ? Notice::Kind::Error : Notice::Kind::Info,
                  {},
                  hasFailed ? tr("The training ended early.") : text,
                  hasFailed ? text : QString()};
    if (!hasFailed && obstacle == TuningObstacle::NoModel)
        notice.choices.push_back({tr("Choose a model..."), [this] { emit modelAsked(); }, false});
    auto* banner = new Banner(m_theme, std::move(notice));
    connect(banner, &Banner::closed, this, [this] {
        if (m_notice != nullptr)
            std::exchange(m_notice, nullptr)->deleteLater();
    });
    m_noticePlace->addWidget(banner);
    m_notice = banner;
}

void TunePage::restyle() {
    m_note->setContentsMargins(
        m_theme.scaled(14), m_theme.scaled(4), m_theme.scaled(12), m_theme.scaled(4));
    m_columns = 0;
    arrange();
}

/// A window that is only minimised does not count.
void TunePage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    if (!event->spontaneous())
        emit left();
}

void TunePage::dragEnterEvent(QDragEnterEvent* event) {
    if (!promptPathsOf(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void TunePage::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    emit filesDropped(promptPathsOf(*event->mimeData()));
}

} // namespace ui
