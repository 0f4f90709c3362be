// SPDX-License-Identifier: GPL-3.0-only
// An answer of a lesson that is longer than its line.
#include "ui/learn/lessons/wrapping_choice.h"

#include <QTest>
#include <QVBoxLayout>

using namespace ui;

namespace {

const QString kLong = QStringLiteral("One that adds little, so that the later ones hardly notice");

/// The lowest row of pixels that is not like the ground, -1 if there is none.
int lowestInk(const QImage& picture) {
    for (int y = picture.height() - 1; y >= 0; --y)
        for (int x = 0; x < picture.width(); ++x)
            if (picture.pixel(x, y) != picture.pixel(0, picture.height() - 1))
                return y;
    return -1;
}

} // namespace

class WrappingChoiceTest : public QObject {
    Q_OBJECT

private slots:

    void aNarrowOneIsHigher() {
        WrappingChoice choice(kLong);
        const int whole = choice.sizeHint().width();
        QCOMPARE(choice.heightForWidth(whole), choice.sizeHint().height());
        QVERIFY(choice.heightForWidth(whole / 3) >= 3 * choice.fontMetrics().height());
        QVERIFY(choice.minimumSizeHint().width() < whole / 3);
    }

    void aColumnGivesItTheLinesThatItNeeds() {
        QWidget column;
        auto* rows = new QVBoxLayout(&column);
        auto* choice = new WrappingChoice(kLong, &column);
        rows->addWidget(choice);
        rows->addStretch();
        column.resize(choice->sizeHint().width() / 2, 400);
        column.show();
        QCoreApplication::processEvents();
        QVERIFY(choice->width() <= column.width());
        QVERIFY(column.width() < choice->sizeHint().width());
        QCOMPARE(choice->height(), choice->heightForWidth(choice->width()));
        const int ink = lowestInk(choice->grab().toImage());
        QVERIFY(ink > choice->fontMetrics().height());
        QVERIFY(ink < choice->height() - 1); // nothing is cut
    }

    void aClickOnItsLastLineChoosesIt() {
        WrappingChoice choice(kLong);
        choice.resize(160, choice.heightForWidth(160));
        choice.show();
        QTest::mouseClick(&choice, Qt::LeftButton, {}, {150, choice.height() - 3});
        QVERIFY(choice.isChecked());
    }
};

QTEST_MAIN(WrappingChoiceTest)
#include "wrapping_choice_test.moc"
