// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/recipe/tune_recipe_panel.h"

#include "ui/experiments/setup/prompt_files.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/models/model_report.h"
#include "ui/views/tune/tune_words.h"

#include <QCheckBox>
#include <QDragEnterEvent>
#include <QGridLayout>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <utility>

namespace ui {

namespace {

constexpr int kMostMinutes = 7 * 24 * 60;
constexpr int kMostSelfPrompts = 100'000;

/// Of the file over its weights: they are stored in 8 bits, with a scale for each block.
constexpr double kBytesPerWeight = 1.06;

} // namespace

TuneRecipePanel::TuneRecipePanel(const Theme& theme, const TuningSession& session, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_session(session) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    setAcceptDrops(true);
    build();
    connect(m_sources, &PromptSources::changed, this, &TuneRecipePanel::showStart);
    connect(m_selfPrompts, &QSpinBox::valueChanged, this, &TuneRecipePanel::showStart);
    connect(m_chats, &QCheckBox::toggled, this, &TuneRecipePanel::showStart);
    connect(m_length, &SegmentedControl::chosen, this, &TuneRecipePanel::showCosts);
    connect(m_start, &QPushButton::clicked, this, [this] { emit startAsked(choice()); });
    connect(&session, &TuningSession::changed, this, &TuneRecipePanel::showSession);
    connect(&theme, &Theme::changed, this, &TuneRecipePanel::restyle);
    restyle();
    showSession();
}

void TuneRecipePanel::addTitle(QVBoxLayout& form, const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("tone", QStringLiteral("bold"));
    label->setContentsMargins(0, m_theme.scaled(8), 0, 0);
    form.addWidget(label);
}

QLabel* TuneRecipePanel::addNote(QVBoxLayout& form) {
    QLabel* label = plainLabel(m_form, true);
    label->setProperty("tone", QStringLiteral("small"));
    form.addWidget(label);
    return label;
}

TuneRecipePanel::Fact TuneRecipePanel::addFact(const QString& name) {
    const int row = m_facts->rowCount();
    const Fact fact{new QLabel(name), new LiveLabel(m_theme, TextRole::Figure, &Colours::text)};
    fact.name->setProperty("tone", QStringLiteral("small"));
    m_facts->addWidget(fact.name, row, 0);
    m_facts->addWidget(fact.value, row, 1, Qt::AlignRight);
    return fact;
}

void TuneRecipePanel::build() {
    m_form = new QWidget;
    m_form->setAttribute(Qt::WA_StyledBackground);
    m_form->setProperty("ground", QStringLiteral("panel"));
    auto* form = new QVBoxLayout(m_form);
    buildForm(*form);
    form->addStretch(1);
    m_scroll = new ColumnScroll;
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(m_form);
    m_foot = new QWidget;
    auto* foot = new QVBoxLayout(m_foot);
    QLabel* how = addNote(*foot);
    how->setText(tr("It trains in a process of its own at the lowest priority and waits while an "
                    "answer streams."));
    m_obstacle = addNote(*foot);
    m_start = new QPushButton;
    m_start->setProperty("kind", QStringLiteral("primary"));
    foot->addWidget(m_start, 0, Qt::AlignLeft);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_scroll, 1);
    column->addWidget(m_foot);
}

void TuneRecipePanel::buildForm(QVBoxLayout& form) {
    addTitle(form, tr("What to train"));
    m_what = addNote(form);
    buildPrompts(form);
    addTitle(form, tr("How long"));
    m_length = new SegmentedControl(m_theme, tr("How long it trains"));
    m_length->setSegments({tr("Quick"), tr("Full"), tr("Overnight"), tr("Minutes")});
    m_length->setCurrentIndex(static_cast<int>(TuningLength::Full));
    form.addWidget(m_length, 0, Qt::AlignLeft);
    m_minutes = new QSpinBox;
    m_minutes->setRange(1, kMostMinutes);
    m_minutes->setValue(TuningChoice().minutes);
    m_minutes->setSuffix(tr(" min"));
    m_minutes->setAccessibleName(tr("Minutes for answers and training together"));
    form.addWidget(m_minutes, 0, Qt::AlignLeft);
    addTitle(form, tr("What it costs"));
    m_facts = new QGridLayout;
    m_facts->setColumnStretch(1, 1);
    m_tokens = addFact(tr("Answers to learn from"));
    m_disk = addFact(tr("Disk while it runs"));
    m_weights = addFact(tr("Weights to train"));
    m_size = addFact(tr("Size of the result"));
    m_draftPrice = addFact(tr("A drafted token"));
    m_rowsPrice = addFact(tr("Checking 2, 3, 4 rows"));
    form.addLayout(m_facts);
    addTitle(form, tr("What becomes of it"));
    m_use = new QCheckBox(tr("Draft with it for this model"));
    m_use->setToolTip(tr("From the next load of the model on, until it is removed"));
    m_use->setChecked(true);
    form.addWidget(m_use);
}

void TuneRecipePanel::buildPrompts(QVBoxLayout& form) {
    addTitle(form, tr("From which prompts"));
    m_sources = new PromptSources(m_theme);
    form.addWidget(m_sources);
    auto* own = new QLabel(tr("Prompts that the model writes itself"));
    own->setWordWrap(true);
    m_selfPrompts = new QSpinBox;
    m_selfPrompts->setRange(0, kMostSelfPrompts);
    m_selfPrompts->setSingleStep(100);
    m_selfPrompts->setSpecialValueText(tr("none"));
    m_selfPrompts->setAccessibleName(own->text());
    m_selfPrompts->setToolTip(tr("It is given what stands before a question in its chats, and "
                                 "writes the question: nobody's data is needed. Magpie, arXiv "
                                 "2406.08464."));
    own->setBuddy(m_selfPrompts);
    auto* row = new QHBoxLayout;
    row->addWidget(own, 1);
    row->addWidget(m_selfPrompts);
    form.addLayout(row);
    m_chats = new QCheckBox(tr("My chats"));
    m_chats->setToolTip(tr("A copy of these questions lies beside the training until the next "
                           "training of this model begins"));
    form.addWidget(m_chats);
    m_chatsNote = addNote(form);
    m_chatsNote->setText(tr("Only the first question of each chat is read, with its files. Nothing "
                            "leaves this computer."));
    m_chats->setAccessibleDescription(m_chatsNote->text());
    m_chats->hide();
    m_chatsNote->hide();
}

void TuneRecipePanel::offerChats() {
    m_chats->show();
    m_chatsNote->show();
}

TuningChoice TuneRecipePanel::choice() const {
    TuningChoice choice;
    choice.model = m_session.model().value_or(TuningModel());
    choice.data = m_sources->paths();
    choice.selfPrompts = m_selfPrompts->value();
    choice.usesChats = m_chats->isChecked();
    choice.length = static_cast<TuningLength>(std::max(0, m_length->currentIndex()));
    choice.minutes = m_minutes->value();
    choice.isUsed = m_use->isChecked();
    return choice;
}

/// The choices of a training that comes into sight; later ones are the user's.
void TuneRecipePanel::showSession() {
    const bool isNew = std::exchange(m_number, m_session.number()) != m_session.number();
    if (isNew && m_session.state() != TuningState::None)
        showChoice(m_session.choice());
    for (QWidget* choice : std::initializer_list<QWidget*>{
             m_sources, m_selfPrompts, m_chats, m_length, m_minutes, m_use})
        choice->setEnabled(!m_session.isAtWork());
    const auto& facts = m_session.run().facts;
    m_what->setText(
        facts ? tr("A draft layer: %1 weights beside the model, which itself stays as it is.")
                    .arg(numberText(facts->trainedWeights))
              : tr("A draft layer: a small layer beside the model, which itself stays as it is."));
    showCosts();
    showStart();
}

void TuneRecipePanel::showChoice(const TuningChoice& choice) {
    m_sources->setPaths(choice.data);
    m_selfPrompts->setValue(choice.selfPrompts);
    m_chats->setChecked(choice.usesChats && !m_chats->isHidden());
    m_length->setCurrentIndex(static_cast<int>(choice.length));
    m_minutes->setValue(choice.minutes);
    m_use->setChecked(choice.isUsed);
}

void TuneRecipePanel::showCosts() {
    const TuningChoice chosen = choice();
    const bool isTimed = chosen.length == TuningLength::Minutes;
    m_minutes->setVisible(isTimed);
    const auto atMost = [isTimed](const QString& text) {
        return isTimed ? tr("at most %1").arg(text) : text;
    };
    m_tokens.value->setText(
        atMost(countText(chosen.answerTokens(), tr("1 token"), tr("%1 tokens"))));
    const bool isSizeKnown = chosen.model.hiddenSize > 0;
    m_disk.value->setText(atMost(sizeText(static_cast<std::uint64_t>(chosen.diskBytes()))));
    m_disk.name->setVisible(isSizeKnown);
    m_disk.value->setVisible(isSizeKnown);
    const auto& facts = m_session.run().facts;
    const auto& done = m_session.run().done;
    if (facts) {
        m_weights.value->setText(numberText(facts->trainedWeights));
        const double about = static_cast<double>(facts->trainedWeights) * kBytesPerWeight;
        m_size.value->setText(
            sizeText(static_cast<std::uint64_t>(done ? static_cast<double>(done->bytes) : about)));
    }
    for (const Fact& fact : {m_weights, m_size}) {
        fact.name->setVisible(facts.has_value());
        fact.value->setVisible(facts.has_value());
    }
    showPrices();
}

/// As the program has measured them on this computer.
void TuneRecipePanel::showPrices() {
    const auto& prices = m_session.run().prices;
    if (prices) {
        m_draftPrice.value->setText(tr("%1 of a plain step").arg(prices->draft, 0, 'f', 3));
        QStringList rows;
        for (const double price : prices->rows)
            rows << decimalText(price);
        m_rowsPrice.value->setText(rows.join(QStringLiteral(", ")));
    }
    for (const Fact& fact : {m_draftPrice, m_rowsPrice}) {
        fact.name->setVisible(prices.has_value());
        fact.value->setVisible(prices.has_value());
    }
}

void TuneRecipePanel::showStart() {
    const TuningObstacle obstacle = m_session.obstacle();
    QString reason = obstacleText(obstacle);
    if (obstacle == TuningObstacle::AtWork)
        reason = tr("What is chosen is fixed while it runs.");
    else if (reason.isEmpty() && !choice().hasPrompts())
        reason = tr("Add the prompts first: files, folders, or some that the model writes.");
    m_obstacle->setText(reason);
    m_obstacle->setVisible(!reason.isEmpty());
    m_start->setEnabled(reason.isEmpty());
    const bool isAnew = m_session.state() != TuningState::None && m_session.model() &&
                        m_session.model()->isSame(m_session.choice().model);
    m_start->setText(isAnew ? tr("Start anew") : tr("Start"));
    m_start->setToolTip(isAnew ? tr("Without what was collected and trained before") : QString());
}

void TuneRecipePanel::restyle() {
    const int side = m_theme.scaled(12);
    m_form->layout()->setContentsMargins(side, m_theme.scaled(4), side, m_theme.scaled(10));
    m_form->layout()->setSpacing(m_theme.scaled(6));
    m_foot->layout()->setContentsMargins(side, m_theme.scaled(8), side, m_theme.scaled(8));
    m_foot->layout()->setSpacing(m_theme.scaled(6));
    m_facts->setVerticalSpacing(m_theme.scaled(2));
}

void TuneRecipePanel::dragEnterEvent(QDragEnterEvent* event) {
    if (!m_session.isAtWork() && !promptPathsOf(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void TuneRecipePanel::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    emit filesDropped(promptPathsOf(*event->mimeData()));
}

} // namespace ui
