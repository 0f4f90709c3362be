// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/views/learn/lens_stage.h"
#include "ui/views/learn/lens/lens_cell_panel.h"

#include <QPushButton>

using namespace engine;
using namespace support;
using namespace ui;

/// The lens asks for no wider window, whatever stands in an answer.
class LensWidthTest : public QObject, LensStage {
    Q_OBJECT

    /// With tokens of these texts, all parts of the cell that name one.
    int leastWidth(const std::string& text) {
        open();
        answer();
        LensTokensRead told{asked()->requestId, kPrompt, 0, {earlyToken(), drawnToken()}, {}};
        told.texts = {{1, text}, {2, text}, {5, text}, {6, text}};
        m_stage->tell(told);
        m_stage->tell(
            LensFinished{asked()->requestId, false, {.4, .3, .2, .1, .5, .6, .7, .8}, 1.25});
        m_stage->settle();
        const int width = m_view->minimumSizeHint().width();
        m_view.reset();
        m_stage.reset();
        return width;
    }

private slots:

    void aTokenOfManyDashesDoesNotWidenIt() {
        const int usual = leastWidth(" word");
        const int wide = leastWidth(std::string(64, '-'));
        QVERIFY2(wide - usual < 240, // pixels at 100 %
                 qPrintable(QStringLiteral("%1 and %2").arg(usual).arg(wide)));
    }
};

QTEST_MAIN(LensWidthTest)
#include "lens_width_test.moc"
