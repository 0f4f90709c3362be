// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/learn/slow_motion/pictures/scene_picture.h"

namespace ui {

/// The draft, one line a depth: first choice, confidence against the threshold, alternatives, and
/// at the right what the full model has there. Thread: UI.
class WalkTree : public ScenePicture {
    Q_OBJECT

public:
    explicit WalkTree(const Theme& theme, QWidget* parent = nullptr);

protected:
    bool takesPart(engine::RoundStop stop) const override;
    QString subtitle() const override;
    int bodyHeight() const override;
    void paintBody(QPainter& painter, const QRect& body) override;

private:
    struct Columns {
        int depth = 0;
        int choice = 0;
        int choiceWidth = 0;
        int bar = 0;
        int barWidth = 0; ///< 0 = there are no confidences
        int alternatives = 0;
        int model = 0;
        int modelWidth = 0;
    };

    Columns columns(const QRect& body) const;
    QRect line(const QRect& body, int depth) const;
    bool hasEnd() const;
    void paintHeadings(QPainter& painter, const QRect& body, const Columns& at);
    void paintDepth(QPainter& painter, const QRect& line, const Columns& at, int depth);
    void paintConfidence(QPainter& painter, const QRect& line, const Columns& at, int depth);
    void paintAlternatives(QPainter& painter, const QRect& line, const Columns& at, int depth);
    void paintChoice(QPainter& painter, const QRect& line, const Columns& at, int depth);
    void paintThreshold(QPainter& painter, const QRect& body, const Columns& at);
    void paintFoot(QPainter& painter, const QRect& body, const Columns& at);
    Box boxOf(const QRect& place, int row) const;

    std::vector<SceneDepth> m_depths; ///< of the scene while it is painted
    int m_shownSpine = 0;
    int m_shownAlternatives = 0; ///< still to be painted in this picture
};

} // namespace ui
