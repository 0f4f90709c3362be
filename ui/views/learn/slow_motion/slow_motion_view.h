// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/learn/lessons/lesson_fact_sources.h"
#include "ui/shell/docks/view.h"
#include "ui/views/learn/slow_motion/walk_scene.h"

#include <optional>
#include <vector>

class QBoxLayout;
class QComboBox;
class QLabel;
class QScrollArea;
class QSlider;

namespace ui {

class AnswerStrip;
class LiveLabel;
class ScenePicture;
class TransportButton;
class WalkMask;
class WalkTransport;

/// One round of an answer, recorded or live, which the user walks through stop by stop, forwards
/// and backwards. Space goes on and Backspace back, Home and End to the first and last stop, 1 to 6
/// to a stop, P plays, - and + change the speed. It moves only while it is shown. Thread: UI.
class SlowMotionView : public View, public LessonFactSource {
    Q_OBJECT

public:
    /// Movement of a stop at speed 1, and how long playing rests behind it.
    static constexpr double kMoveMs = 2400.0;
    static constexpr double kRestMs = 1800.0;
    static constexpr double kRestWithoutMotionMs = 3000.0;

    explicit SlowMotionView(const ViewContext& context, QWidget* parent = nullptr);

    /// Null while there is no round.
    const WalkScene* scene() const { return m_scene ? &*m_scene : nullptr; }

    /// The answer and the round that are shown; 0 and -1 while there is none.
    std::uint64_t promptId() const { return m_promptId; }

    int round() const { return m_round; }

    /// Shows the first stop of a round.
    void showRound(std::uint64_t promptId, int round);

    /// To the next round of the answer or the one before; nothing happens at the ends.
    void goRound(int direction);

    /// To a stop, complete at once.
    void goTo(int stop);

    /// To the next stop, moving; or, if the user wants no motion, at once.
    void goOn();
    void goBack();

    void setPlaying(bool isPlaying);

    bool isPlaying() const { return m_isPlaying; }

    /// What is written above the pictures, without colours.
    QString sentence() const;

    WalkTransport& transport() { return *m_transport; }

    /// Selects a row of the mask.
    void chooseRow(int row);

    void tellFacts(engine::LessonFacts& facts) const override;

    FigureTable table() const override;

protected:
    void refreshView(Topics changed) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void build();
    void buildHead(QBoxLayout& rows);
    void connectTransport();
    void restyle();
    void arrange();
    void advance();
    void followSelection();
    void chooseFirstRound();
    void listAnswers();
    void makeScene(int stop);
    void showScene();
    void showRoundChoice(const Answer& answer);
    void startStop(int stop, bool isMoving);
    void revealStop();
    bool takesKey(const QKeyEvent& event);
    const Answer* answer() const;

    std::uint64_t m_promptId = 0;
    int m_round = -1;        ///< index into Answer::steps
    bool m_isChosen = false; ///< by the user; else the newest answer is followed
    std::optional<Selection::Token> m_followed;
    std::optional<WalkScene> m_scene;
    bool m_isPlaying = false;
    double m_restMs = 0.0; ///< that playing has rested at the stop

    QComboBox* m_answers = nullptr;
    TransportButton* m_previous = nullptr;
    TransportButton* m_next = nullptr;
    QSlider* m_rounds = nullptr;
    LiveLabel* m_roundText = nullptr;
    AnswerStrip* m_strip = nullptr;
    QLabel* m_sentence = nullptr;
    QScrollArea* m_scroll = nullptr;
    QBoxLayout* m_body = nullptr; ///< pictures beside numbers, or above them
    WalkMask* m_mask = nullptr;
    std::vector<ScenePicture*> m_pictures;
    WalkTransport* m_transport = nullptr;
};

} // namespace ui
