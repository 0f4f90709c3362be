// SPDX-License-Identifier: GPL-3.0-only
#include "ui/origin/token_mark.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/elided_combo_box.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/shell/widgets/transport_button.h"
#include "ui/views/learn/slow_motion/controls/answer_strip.h"
#include "ui/views/learn/slow_motion/controls/walk_transport.h"
#include "ui/views/learn/slow_motion/pictures/walk_layers.h"
#include "ui/views/learn/slow_motion/pictures/walk_mask.h"
#include "ui/views/learn/slow_motion/pictures/walk_numbers.h"
#include "ui/views/learn/slow_motion/pictures/walk_tree.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"
#include "ui/views/learn/slow_motion/walk_texts.h"

#include <QComboBox>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <functional>

// Builds the page of slow motion and shows its scene there.

namespace ui {

using namespace engine;

namespace {

constexpr int kRoomForNumbers = 860; ///< pixels at 100 %: a narrower page has them below
constexpr int kNumbersWidth = 316;   ///< the same

QString titleOf(const Answer& answer, int place) {
    const QString question = QString::fromStdString(answer.question).simplified();
    const QString head = SlowMotionView::tr("Answer %1").arg(place);
    return question.isEmpty()
               ? head
               : head + QStringLiteral(": ") +
                     (question.size() > 60 ? question.left(59) + u'\u2026' : question);
}

} // namespace

void SlowMotionView::build() {
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    buildHead(*rows);
    m_strip = new AnswerStrip(theme(), this);
    connect(m_strip, &AnswerStrip::roundAsked, this, [this](int round) {
        showRound(m_promptId, round);
    });
    connect(m_strip, &AnswerStrip::besideAsked, this, &SlowMotionView::goRound);
    rows->addWidget(m_strip);
    m_sentence = new QLabel(this);
    m_sentence->setWordWrap(true);
    m_sentence->setTextFormat(Qt::RichText);
    m_sentence->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    rows->addWidget(m_sentence);
    m_scroll = new QScrollArea(this);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    auto* body = new QWidget;
    auto* pictures = new QVBoxLayout(body);
    pictures->setContentsMargins(0, 0, 0, 0);
    pictures->setSpacing(0);
    m_body = new QHBoxLayout;
    m_body->setSpacing(1);
    auto* layers = new WalkLayers(theme());
    auto* tree = new WalkTree(theme());
    m_mask = new WalkMask(theme());
    auto* numbers = new WalkNumbers(theme());
    auto* column = new QVBoxLayout;
    column->setSpacing(1);
    column->addWidget(tree);
    column->addWidget(m_mask);
    column->addStretch(1);
    auto* side = new QVBoxLayout;
    side->addWidget(numbers);
    side->addStretch(1);
    m_body->addLayout(column, 1);
    m_body->addLayout(side);
    pictures->addWidget(layers);
    pictures->addLayout(m_body, 1);
    m_scroll->setWidget(body);
    rows->addWidget(m_scroll, 1);
    m_transport = new WalkTransport(theme(), this);
    rows->addWidget(m_transport);
    m_pictures = {layers, tree, m_mask, numbers};
    for (QToolButton* button : m_transport->findChildren<QToolButton*>())
        button->installEventFilter(this);
    m_mask->installEventFilter(this);
}

void SlowMotionView::buildHead(QBoxLayout& rows) {
    auto* head = new QHBoxLayout;
    m_answers = new ElidedComboBox(this);
    m_answers->setAccessibleName(tr("Answer"));
    m_answers->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_answers->setMinimumContentsLength(12);
    connect(m_answers, &QComboBox::activated, this, [this](int index) {
        const auto id = m_answers->itemData(index).toULongLong();
        if (id != m_promptId)
            showRound(id, 0);
    });
    m_previous = new TransportButton(
        theme(), TransportButton::Sign::Previous, tr("Previous round (Page Up)"), this);
    m_next = new TransportButton(
        theme(), TransportButton::Sign::Next, tr("Next round (Page Down)"), this);
    for (TransportButton* button : {m_previous, m_next})
        button->setGrowing(true);
    connect(m_previous, &QToolButton::clicked, this, [this] { goRound(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { goRound(1); });
    m_rounds = new QSlider(Qt::Horizontal, this);
    m_rounds->setAccessibleName(tr("Round of the answer"));
    connect(m_rounds, &QSlider::valueChanged, this, [this](int round) {
        if (round != m_round)
            showRound(m_promptId, round);
    });
    m_roundText =
        new LiveLabel(theme(), TextRole::Small, &Colours::text, LiveLabel::Fit::Whole, this);
    head->addWidget(m_answers, 1);
    head->addWidget(m_previous);
    head->addWidget(m_rounds, 1);
    head->addWidget(m_next);
    head->addWidget(m_roundText);
    rows.addLayout(head);
}

void SlowMotionView::restyle() {
    const int gap = theme().scaled(12);
    auto* head = static_cast<QVBoxLayout*>(layout())->itemAt(0)->layout();
    head->setContentsMargins(gap, theme().scaled(6), gap, theme().scaled(6));
    head->setSpacing(theme().scaled(8));
    m_sentence->setFont(theme().font(TextRole::Conversation));
    m_sentence->setContentsMargins(gap, theme().scaled(8), gap, theme().scaled(8));
    setTextColour(*m_sentence, theme().colours().text);
    arrange();
    showScene();
}

void SlowMotionView::listAnswers() {
    QVector<QPair<QString, qulonglong>> items;
    int place = 0;
    for (const Answer& candidate : store().answers().answers()) {
        if (candidate.promptId >= kFirstHiddenPrompt)
            continue; // of a search
        ++place;
        if (!candidate.steps.empty())
            items.append({titleOf(candidate, place), candidate.promptId});
    }
    bool isSame = items.size() == m_answers->count();
    for (int i = 0; isSame && i < items.size(); ++i)
        isSame = m_answers->itemData(i).toULongLong() == items[i].second;
    if (isSame)
        return;
    const QSignalBlocker quiet(m_answers);
    m_answers->clear();
    for (const auto& [title, id] : items)
        m_answers->addItem(title, id);
}

void SlowMotionView::showRoundChoice(const Answer& answer) {
    const auto count = static_cast<int>(answer.steps.size());
    {
        const QSignalBlocker quietAnswers(m_answers);
        m_answers->setCurrentIndex(m_answers->findData(qulonglong{m_promptId}));
        const QSignalBlocker quietRounds(m_rounds);
        m_rounds->setRange(0, count - 1);
        m_rounds->setValue(m_round);
    }
    m_previous->setEnabled(m_round > 0);
    m_next->setEnabled(m_round + 1 < count);
    m_roundText->setText(tr("Round %1 of %2").arg(m_round + 1).arg(count));
    setSubtitle(tr("round %1 of %2").arg(m_round + 1).arg(count));
    std::vector<AnswerStrip::Token> tokens;
    for (int round = 0; round < count; ++round)
        for (const EmittedToken& token : answer.steps[static_cast<std::size_t>(round)].tokens)
            tokens.push_back({visibleTokenText(QString::fromStdString(token.text)), round});
    m_strip->show(std::move(tokens), m_round);
}

void SlowMotionView::showScene() {
    const WalkScene* shown = scene();
    for (ScenePicture* picture : m_pictures)
        picture->show(shown);
    if (shown == nullptr) {
        m_sentence->clear();
        m_transport->show({}, 0, false);
        return;
    }
    const RoundWalk& walk = shown->walk;
    const WordStyle style(theme().colours());
    const QString title = stopTitle(shown->current());
    const QString sentence = stopSentence(walk, shown->current(), style);
    const QString whole =
        style.word(title + QLatin1Char('.'), WordTone::Stop) + QLatin1Char(' ') + sentence;
    if (m_sentence->text() != whole)
        m_sentence->setText(whole);
    const QString summary = tr("Stop %1 of %2. %3")
                                .arg(shown->stop + 1)
                                .arg(walk.stops.size())
                                .arg(stopSummary(walk, shown->current()));
    if (accessibleDescription() != summary)
        setAccessibleDescription(summary);
    QStringList titles;
    for (const RoundStop stop : walk.stops)
        titles << stopTitle(stop);
    m_transport->show(titles, shown->stop, m_isPlaying);
}

/// In a low window, what the stop is about: the last of the pictures that take part in it.
void SlowMotionView::revealStop() {
    if (!m_scene)
        return;
    // What was laid out before this stop may have another height.
    QTimer::singleShot(0, this, [this] {
        const auto last =
            std::find_if(m_pictures.rbegin(), m_pictures.rend(), std::mem_fn(&ScenePicture::isNow));
        if (last == m_pictures.rend())
            return;
        const QRect place((*last)->mapTo(m_scroll->widget(), QPoint()), (*last)->size());
        const int below = place.bottom() + 1 - m_scroll->viewport()->height();
        m_scroll->verticalScrollBar()->setValue(std::clamp(below, 0, place.top()));
    });
}

void SlowMotionView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    arrange();
}

void SlowMotionView::arrange() {
    const bool isWide = width() >= theme().scaled(kRoomForNumbers);
    // Room for the longest sentence: the pictures below stay where they are from stop to stop.
    const int lines = isWide ? 2 : 3;
    m_sentence->setMinimumHeight(QFontMetrics(theme().font(TextRole::Conversation)).lineSpacing() *
                                     lines +
                                 theme().scaled(16));
    m_body->setDirection(isWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    for (ScenePicture* picture : m_pictures)
        if (qobject_cast<WalkNumbers*>(picture) != nullptr)
            picture->setMaximumWidth(isWide ? theme().scaled(kNumbersWidth) : QWIDGETSIZE_MAX);
}

void SlowMotionView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme().colours().panel);
    if (!hasFocus())
        return;
    painter.setPen(QPen(theme().colours().focus, theme().scaled(2)));
    painter.drawRect(m_sentence->geometry().adjusted(1, 1, -1, -1));
}

} // namespace ui
