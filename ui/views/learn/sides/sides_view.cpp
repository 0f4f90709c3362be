// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/sides/sides_view.h"

#include "ui/chat/sides/kept_answer.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/experiments/report/verdict_band.h"
#include "ui/views/learn/sides/side_columns.h"
#include "ui/views/learn/sides/time_lanes.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr std::size_t kCallsShown = 6;
constexpr int kCallsSeen = 4;        ///< without scrolling
constexpr int kWidthForOneRow = 860; ///< of the tools, pixels at 100 %
constexpr int kHeightForLanes = 430; ///< of the page
constexpr int kHeightForCalls = 560;

ViewInfo sidesInfo(SidesForm form) {
    if (form == SidesForm::Check)
        return {
            QStringLiteral("lossless"),
            SidesView::tr("Lossless check"),
            SidesView::tr("Vanilla and another decoder answer the same question in turn, one "
                          "step each, and their token ids are compared. The time of a side is "
                          "that of its own steps alone. A question typed here is asked after what "
                          "the chat already holds; nothing of it reaches the chat."),
            Topic::Model | Topic::Decoder};
    return {QStringLiteral("split_chat"),
            SidesView::tr("Split chat"),
            SidesView::tr("Two decoders or presets answer the same message side by side, in turn, "
                          "one step each. You keep one of the answers in the chat, or both as "
                          "branches."),
            Topic::Model | Topic::Decoder};
}

ExperimentVerdict shownVerdict(const SideVerdict& verdict) {
    ExperimentVerdict shown;
    shown.headline = verdict.headline.toStdString();
    shown.cause = verdict.cause.toStdString();
    switch (verdict.kind) {
    case SideVerdict::Kind::Equal:
        shown.kind = VerdictKind::Gain;
        break;
    case SideVerdict::Kind::Running:
    case SideVerdict::Kind::Stopped:
        shown.kind = VerdictKind::Finding;
        break;
    case SideVerdict::Kind::Different:
    case SideVerdict::Kind::Failed:
        shown.kind = VerdictKind::Refused;
        break;
    }
    return shown;
}

} // namespace

SidesView::SidesView(const ViewContext& context, SidesForm form, QWidget* parent)
    : View(context, sidesInfo(form), parent)
    , m_form(form)
    , m_run(context.bridge, static_cast<int>(form))
    , m_question(new QLineEdit(this))
    , m_left(new QComboBox(this))
    , m_right(new QComboBox(this))
    , m_versus(plainLabel(this))
    , m_ask(new QPushButton(this))
    , m_fromChat(new QPushButton(tr("From the chat"), this))
    , m_verdict(new VerdictBand(context.theme, this))
    , m_gutterHead(plainLabel(this))
    , m_columns(new SideColumns(context.theme, this))
    , m_lanes(new TimeLanes(context.theme, this))
    , m_calls(new QWidget(this))
    , m_callTable(new QTableView(m_calls))
    , m_callModel(new FigureTableModel(this))
    , m_drift(plainLabel(m_calls, true))
    , m_keepRow(new QWidget(this)) {
    build();
    setFocusProxy(m_question);
    connect(m_question, &QLineEdit::returnPressed, this, &SidesView::ask);
    connect(m_question, &QLineEdit::textChanged, this, &SidesView::showState);
    connect(m_ask, &QPushButton::clicked, this, [this] { m_run.isRunning() ? stop() : ask(); });
    connect(m_fromChat, &QPushButton::clicked, this, &SidesView::chatQuestionAsked);
    connect(m_columns, &SideColumns::tokenChosen, this, &SidesView::chooseToken);
    connect(&m_run, &SideRun::changed, this, [this] { m_isDirty = true; });
    // At most once per tick, like every picture.
    connect(&context.bridge, &EngineBridge::tickFinished, this, [this] {
        if (isShowing() && std::exchange(m_isDirty, false))
            showRun();
    });
    connect(&m_run, &SideRun::stateChanged, this, [this] {
        m_isDirty = isFrozen(); // and shown when it is no longer
        if (!m_isDirty)
            showRun();
        showState();
        emit stateChanged();
    });
    connect(&context.theme, &Theme::changed, this, &SidesView::restyle);
    fillChoices();
    restyle();
    showRun();
    showState();
}

void SidesView::build() {
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(makeTools());
    rows->addWidget(m_verdict);
    rows->addWidget(makeHeads());
    rows->addWidget(m_columns, 1);
    rows->addWidget(m_lanes);
    rows->addWidget(makeFoot());
}

QWidget* SidesView::makeTools() {
    auto* tools = new QWidget(this);
    m_tools = new QGridLayout(tools);
    m_question->setAccessibleName(tr("Question for both sides"));
    m_question->setPlaceholderText(m_form == SidesForm::Check ? tr("Question for both sides")
                                                              : tr("Message both sides"));
    m_left->setAccessibleName(tr("Decoder on the left"));
    m_right->setAccessibleName(m_form == SidesForm::Check ? tr("Decoder to be checked")
                                                          : tr("Decoder on the right"));
    m_left->setVisible(m_form == SidesForm::Split);
    m_versus->setText(m_form == SidesForm::Check ? tr("Vanilla and") : tr("and"));
    m_ask->setProperty("kind", "primary");
    m_fromChat->setToolTip(tr("Take the newest question of the chat"));
    for (QComboBox* box : {m_left, m_right})
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    return tools;
}

/// On a narrow page the choices stand below the question.
void SidesView::arrangeTools() {
    const bool isWide = width() >= theme().scaled(kWidthForOneRow);
    const std::initializer_list<QWidget*> choices = {m_left, m_versus, m_right, m_ask};
    for (QWidget* each : {static_cast<QWidget*>(m_question), static_cast<QWidget*>(m_fromChat)})
        m_tools->removeWidget(each);
    for (QWidget* each : choices)
        m_tools->removeWidget(each);
    m_tools->addWidget(m_question, 0, 0, 1, isWide ? 1 : 3);
    m_tools->addWidget(m_fromChat, 0, isWide ? 1 : 3);
    for (QComboBox* box : {m_left, m_right})
        box->setMinimumContentsLength(isWide ? 16 : 8);
    int column = isWide ? 2 : 0;
    for (QWidget* each : choices)
        m_tools->addWidget(each, isWide ? 0 : 1, column++);
    for (int i = 0; i < m_tools->columnCount(); ++i)
        m_tools->setColumnStretch(i, (isWide ? i == 0 : i == 0 || i == 2) ? 1 : 0);
}

QWidget* SidesView::makeHeads() {
    auto* heads = new QWidget(this);
    auto* row = new QHBoxLayout(heads);
    row->setSpacing(0);
    for (LiveLabel*& head : m_heads)
        head = new LiveLabel(
            theme(), TextRole::Interface, &Colours::text, LiveLabel::Fit::Wrapped, heads);
    m_gutterHead->setText(tr("tokens"));
    m_gutterHead->setAlignment(Qt::AlignCenter);
    m_gutterHead->setProperty("tone", "tiny");
    row->addWidget(m_heads[0], 1);
    row->addWidget(m_gutterHead);
    row->addWidget(m_heads[1], 1);
    return heads;
}

QWidget* SidesView::makeFoot() {
    auto* foot = new QWidget(this);
    auto* rows = new QVBoxLayout(foot);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    auto* calls = new QVBoxLayout(m_calls);
    calls->setContentsMargins(0, 0, 0, 0);
    calls->setSpacing(0);
    m_callTable->setModel(m_callModel);
    m_callTable->setAccessibleName(tr("Closest calls: where the first and second choice were "
                                      "nearly level"));
    m_callTable->setFrameShape(QFrame::NoFrame);
    m_callTable->setShowGrid(false);
    m_callTable->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_callTable->setSelectionMode(QAbstractItemView::SingleSelection);
    m_callTable->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_callTable->setTabKeyNavigation(false);
    m_callTable->verticalHeader()->hide();
    m_callTable->horizontalHeader()->setHighlightSections(false);
    m_callTable->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_drift->setProperty("tone", "small");
    calls->addWidget(m_callTable);
    calls->addWidget(m_drift);
    connect(m_callTable->selectionModel(),
            &QItemSelectionModel::currentRowChanged,
            this,
            [this](const QModelIndex& row) {
                if (row.isValid() && row.row() < static_cast<int>(m_shownCalls.size()))
                    outline(m_shownCalls[static_cast<std::size_t>(row.row())].position);
            });
    auto* row = new QHBoxLayout(m_keepRow);
    const auto add = [&](const QString& text, std::initializer_list<SideRun::Place> sides) {
        auto* button = new QPushButton(text, m_keepRow);
        connect(
            button, &QPushButton::clicked, this, [this, kept = std::vector(sides)] { keep(kept); });
        row->addWidget(button);
        m_keepButtons.push_back(button);
    };
    add(tr("Keep the left answer"), {SideRun::Left});
    add(tr("Keep the right answer"), {SideRun::Right});
    add(tr("Keep both as branches"), {SideRun::Left, SideRun::Right});
    row->addStretch(1);
    m_keepRow->setVisible(m_form == SidesForm::Split);
    rows->addWidget(m_calls);
    rows->addWidget(m_keepRow);
    return foot;
}

void SidesView::setQuestionMaker(QuestionMaker maker) {
    m_maker = std::move(maker);
    showState();
}

void SidesView::tellFacts(LessonFacts& facts) const {
    if (m_form != SidesForm::Check || !m_run.hasBegun())
        return;
    const SideComparison& compared = m_run.comparison();
    const std::size_t longer = std::max(m_run.answer(SideRun::Left).tokens.size(),
                                        m_run.answer(SideRun::Right).tokens.size());
    facts.insert_or_assign("sides.equal", static_cast<double>(compared.equal));
    facts.insert_or_assign("sides.tokens", static_cast<double>(longer));
    if (compared.areEqual() || compared.difference)
        facts.insert_or_assign("sides.same", compared.areEqual() ? 1.0 : 0.0);
}

void SidesView::setPresets(const std::vector<Preset>& presets) {
    m_presets = presets;
    fillChoices();
}

void SidesView::setQuestion(const ChatSession::Aside& question, bool isAsked) {
    m_given = question;
    fillChoices(); // while the page was hidden, it has missed what became of them
    m_question->setText(question.text.simplified());
    m_question->setCursorPosition(0);
    if (isAsked)
        ask();
}

void SidesView::chooseChatsDecoder() { m_right->setCurrentIndex(0); }

/// The chat's decoder with its settings is the first choice, then each decoder as it starts, then
/// the presets.
std::vector<SidesView::Choice> SidesView::makeChoices() const {
    std::vector<Choice> choices;
    const ModelLoaded* model = store().model();
    if (model == nullptr)
        return choices;
    if (const DecoderInfo* decoder = store().decoder()) {
        const QString title = QString::fromStdString(decoder->title);
        choices.push_back(
            {tr("%1, as in the chat").arg(title), {title, decoder->name, store().settings()}});
    }
    for (const DecoderInfo& info : model->decoders) {
        const QString title = QString::fromStdString(info.title);
        choices.push_back({title, {title, info.name, startingSettings(store(), info.name)}});
    }
    for (const Preset& preset : m_presets)
        if (std::ranges::find(model->decoders, preset.decoder, &DecoderInfo::name) !=
            model->decoders.end()) {
            const QString title = tr("%1: %2").arg(
                decoderTitle(QString::fromStdString(preset.decoder)), shownName(preset));
            choices.push_back({title, {title, preset.decoder, preset.values}});
        }
    return choices;
}

/// What was chosen stays, if it is still there. At first vanilla is beside the chat's decoder, or
/// beside SWIFT where that is vanilla itself.
void SidesView::fillChoices() {
    const QString left = m_left->currentText();
    const QString right = m_right->currentText();
    m_choices = makeChoices();
    for (QComboBox* box : {m_left, m_right}) {
        box->clear();
        for (const Choice& choice : m_choices)
            box->addItem(choice.label);
    }
    const auto choose = [this](QComboBox& box, const QString& before, const std::string& first) {
        const auto own = std::ranges::find_if(
            m_choices, [&](const Choice& choice) { return choice.decoder.name == first; });
        const int kept = before.isEmpty() ? -1 : box.findText(before);
        const int fresh = own == m_choices.end() ? 0 : static_cast<int>(own - m_choices.begin());
        if (!m_choices.empty())
            box.setCurrentIndex(kept >= 0 ? kept : fresh);
    };
    const DecoderInfo* ofChat = store().decoder();
    choose(*m_left, left, "vanilla");
    choose(*m_right,
           right,
           ofChat == nullptr || ofChat->name == "vanilla" ? std::string("swift") : ofChat->name);
}

std::optional<SideDecoder> SidesView::chosen(SideRun::Place side) const {
    if (side == SideRun::Left && m_form == SidesForm::Check)
        return SideDecoder{tr("Vanilla"), "vanilla", {}};
    const int index = (side == SideRun::Left ? m_left : m_right)->currentIndex();
    if (index < 0 || index >= static_cast<int>(m_choices.size()))
        return std::nullopt;
    return m_choices[static_cast<std::size_t>(index)].decoder;
}

void SidesView::ask() {
    const QString words = m_question->text().trimmed();
    auto left = chosen(SideRun::Left);
    auto right = chosen(SideRun::Right);
    if (words.isEmpty() || !left || !right || !m_maker || store().model() == nullptr)
        return;
    const bool isGiven = m_given && m_given->text.simplified() == words;
    const auto made = isGiven ? m_maker(m_given->text, m_given->question) : m_maker(words, 0);
    m_asked = made ? *made : *m_given; // its chat may not be shown any more
    if (!made) {
        m_asked.prompt.sampling = store().sampling();
        for (PromptMessage& message : m_asked.prompt.messages)
            message.tokens.clear(); // to another model, loaded meanwhile, they are other words
    }
    m_model = QString::fromStdString(store().model()->model.name);
    // Two sides of one decoder are told apart.
    if (left->title == right->title) {
        left->title = tr("%1 (left)").arg(left->title);
        right->title = tr("%1 (right)").arg(right->title);
    }
    setFrozen(false); // what was asked for is seen
    outline(-1);
    m_run.start(m_asked.prompt, {*left, *right});
}

void SidesView::keep(const std::vector<SideRun::Place>& sides) {
    if (!m_run.hasBegun() || m_run.isRunning())
        return;
    QList<StoredMessage> answers;
    for (const SideRun::Place side : sides)
        answers << keptAnswer(m_run, side, m_model);
    emit answersKept(m_asked, answers);
}

void SidesView::setShowsOrigin(bool isShown) { m_columns->setShowsOrigin(isShown); }

QString SidesView::verdictText() const { return m_verdict->text(); }

void SidesView::refreshView(Topics changed) {
    if (changed.testFlag(Topic::Model) || changed.testFlag(Topic::Decoder))
        fillChoices();
    if (!m_run.hasBegun())
        showRun(); // with the decoders that are chosen
    showState();
}

void SidesView::showRun() {
    m_verdict->setVisible(true);
    if (!m_run.hasBegun()) {
        const bool isCheck = m_form == SidesForm::Check;
        ExperimentVerdict invitation;
        invitation.kind = VerdictKind::Finding;
        invitation.headline =
            (isCheck ? tr("Is the text really the same?") : tr("One message, two answers."))
                .toStdString();
        invitation.cause =
            (isCheck ? tr("Vanilla and the decoder of your choice answer the same question in "
                          "turn, and every token is compared.")
                     : tr("Two decoders answer in turn. Then you keep one of the answers in the "
                          "chat, or both."))
                .toStdString();
        m_verdict->setVerdict(invitation);
    } else {
        m_verdict->setVerdict(shownVerdict(verdictOf(m_run, m_form)));
    }
    for (const SideRun::Place side : {SideRun::Left, SideRun::Right}) {
        const QString title = m_run.hasBegun() ? m_run.decoder(side).title
                                               : chosen(side).value_or(SideDecoder()).title;
        const QString figures = sideFigures(m_run.answer(side), m_run, side);
        m_heads[side]->setText(figures.isEmpty() ? title : tr("%1 \u2014 %2").arg(title, figures));
    }
    m_columns->show(m_run.answer(SideRun::Left), m_run.answer(SideRun::Right), m_run.comparison());
    m_lanes->show({m_run.decoder(SideRun::Left).title, m_run.decoder(SideRun::Right).title},
                  m_run.answer(SideRun::Left),
                  m_run.answer(SideRun::Right));
    showCalls();
    giveRoom();
}

/// The texts come first: on a low page, the other parts are left out.
void SidesView::giveRoom() {
    m_lanes->setVisible(!m_run.answer(SideRun::Left).rounds.empty() &&
                        height() >= theme().scaled(kHeightForLanes));
    m_calls->setVisible(!m_shownCalls.empty() && height() >= theme().scaled(kHeightForCalls));
}

/// Only behind the end: until then the closest ones change all the time.
void SidesView::showCalls() {
    const bool isShown = m_form == SidesForm::Check && m_run.hasBegun() && !m_run.isRunning();
    m_shownCalls =
        isShown ? closestCalls(m_run.answer(SideRun::Left), kCallsShown) : std::vector<CloseCall>();
    m_callModel->setTable(closestCallsTable(m_shownCalls));
    m_drift->setText(closestCallsText(m_run.comparison()));
    sizeCalls();
}

void SidesView::sizeCalls() {
    const int row = theme().scaled(24);
    m_callTable->verticalHeader()->setDefaultSectionSize(row);
    const int rows = static_cast<int>(m_shownCalls.size());
    m_callTable->setFixedHeight(m_callTable->horizontalHeader()->sizeHint().height() +
                                std::min(rows, kCallsSeen) * row + 2);
}

void SidesView::showState() {
    const bool canAsk =
        m_maker && store().model() != nullptr && !m_choices.empty() && !context().bridge.isReplay();
    m_ask->setText(m_run.isRunning() ? tr("Stop") : m_run.hasBegun() ? tr("Run again") : tr("Run"));
    m_ask->setEnabled(m_run.isRunning() || (canAsk && !m_question->text().trimmed().isEmpty()));
    m_ask->setToolTip(m_run.isRunning()             ? tr("Stop both answers (Esc)")
                      : canAsk                      ? QString()
                      : context().bridge.isReplay() ? tr("A replay has no model that could answer.")
                                                    : tr("Load a model first."));
    for (QComboBox* box : {m_left, m_right})
        box->setEnabled(canAsk && !m_run.isRunning());
    m_question->setEnabled(canAsk);
    m_fromChat->setEnabled(canAsk && !m_run.isRunning());
    for (std::size_t i = 0; i < m_keepButtons.size(); ++i) {
        const bool hasLeft = !m_run.answer(SideRun::Left).tokens.empty();
        const bool hasRight = !m_run.answer(SideRun::Right).tokens.empty();
        const bool hasWanted = i == 0 ? hasLeft : i == 1 ? hasRight : hasLeft && hasRight;
        m_keepButtons[i]->setEnabled(m_run.hasBegun() && !m_run.isRunning() && hasWanted);
    }
}

void SidesView::chooseToken(int token) {
    const auto row = std::ranges::find(m_shownCalls, token, &CloseCall::position);
    m_callTable->selectionModel()->clear(); // so that every row can be chosen again
    if (row != m_shownCalls.end())
        m_callTable->selectRow(static_cast<int>(row - m_shownCalls.begin()));
    outline(token);
}

/// A token, or none, where all parts of the page show it.
void SidesView::outline(int token) {
    m_columns->setToken(token);
    setSubtitle(token < 0 ? QString() : m_columns->tokenInWords(token));
}

void SidesView::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Escape)
        return View::keyPressEvent(event);
    m_run.isRunning() ? stop() : emit leaveAsked();
}

void SidesView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    arrangeTools();
    giveRoom();
}

void SidesView::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), theme().colours().panel);
}

void SidesView::restyle() {
    const int inset = theme().scaled(14);
    m_tools->setContentsMargins(inset, theme().scaled(8), inset, theme().scaled(8));
    m_tools->setSpacing(theme().scaled(8));
    QLayout* heads = m_heads[0]->parentWidget()->layout();
    heads->setContentsMargins(inset, theme().scaled(6), inset, theme().scaled(6));
    m_gutterHead->setFixedWidth(m_columns->gutterWidth());
    m_keepRow->layout()->setContentsMargins(inset, theme().scaled(8), inset, theme().scaled(8));
    m_drift->setContentsMargins(inset, theme().scaled(4), inset, theme().scaled(6));
    sizeCalls();
    giveRoom();
    arrangeTools();
    update();
}

} // namespace ui
