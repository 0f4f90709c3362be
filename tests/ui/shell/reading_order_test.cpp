// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/reading_order.h"

#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRadioButton>
#include <QScrollArea>
#include <QTest>
#include <QVBoxLayout>

using namespace ui;

namespace {

QLineEdit* makeField(QWidget* parent, const char* name, const QRect& place) {
    auto* field = new QLineEdit(parent);
    field->setObjectName(QLatin1String(name));
    field->setGeometry(place);
    return field;
}

QStringList namesOf(const std::vector<QWidget*>& widgets) {
    QStringList names;
    for (const QWidget* widget : widgets)
        names << widget->objectName();
    return names;
}

} // namespace

class ReadingOrderTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QWidget> m_window;

    void show() {
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get(), support::kPatienceMs));
    }

private slots:

    void init() {
        m_window = std::make_unique<QWidget>();
        m_window->resize(600, 400);
    }

    /// A box is a little lower than its slider, but they are one row.
    void rowsAreReadFromLeftToRightHoweverTheyWereMade() {
        makeField(m_window.get(), "second row", {10, 60, 100, 24});
        makeField(m_window.get(), "box", {200, 8, 100, 24});
        makeField(m_window.get(), "slider", {10, 12, 100, 20});
        show();
        QCOMPARE(namesOf(inReadingOrder(*m_window)), QStringList({"slider", "box", "second row"}));
    }

    void aContainerIsReadAsAWhole() {
        auto* right = new QWidget(m_window.get());
        right->setGeometry(300, 0, 300, 400);
        auto* left = new QWidget(m_window.get());
        left->setGeometry(0, 0, 300, 400);
        makeField(right, "right top", {10, 5, 100, 24});
        makeField(left, "left bottom", {10, 300, 100, 24});
        makeField(left, "left top", {10, 10, 100, 24});
        show();
        QCOMPARE(namesOf(inReadingOrder(*m_window)),
                 QStringList({"left top", "left bottom", "right top"}));
    }

    void whatIsHiddenOffOrOutsideIsPassedOver() {
        makeField(m_window.get(), "seen", {10, 10, 100, 24});
        makeField(m_window.get(), "outside", {-700, 10, 100, 24});
        makeField(m_window.get(), "off", {10, 50, 100, 24})->setEnabled(false);
        makeField(m_window.get(), "hidden", {10, 90, 100, 24})->hide();
        makeField(m_window.get(), "by mouse", {10, 130, 100, 24})->setFocusPolicy(Qt::ClickFocus);
        show();
        QCOMPARE(namesOf(inReadingOrder(*m_window)), QStringList({"seen"}));
    }

    void ofAGroupTheCheckedButtonIsTheStop() {
        QLineEdit* field = makeField(m_window.get(), "field", {10, 60, 100, 24});
        int x = 10;
        for (const char* name : {"left", "middle", "right"}) {
            auto* button = new QRadioButton(m_window.get());
            button->setObjectName(QLatin1String(name));
            button->setGeometry(x, 10, 80, 24);
            button->setChecked(button->objectName() == QLatin1String("middle"));
            x += 90;
        }
        show();
        field->setFocus();
        QCOMPARE(namesOf(inReadingOrder(*m_window)), QStringList({"middle", "field"}));
    }

    /// Its viewport passes the focus on to it, and is no stop of its own.
    void aTextFieldIsOneStop() {
        auto* text = new QPlainTextEdit(m_window.get());
        text->setObjectName(QStringLiteral("text"));
        text->setGeometry(10, 60, 200, 100);
        makeField(m_window.get(), "above", {10, 5, 100, 24});
        show();
        text->setFocus();
        QCOMPARE(namesOf(inReadingOrder(*m_window)), QStringList({"above", "text"}));
    }

    void theFocusGoesRoundAndBackAndIsScrolledTo() {
        auto* scroll = new QScrollArea(m_window.get());
        scroll->setGeometry(0, 40, 300, 100);
        scroll->setFocusPolicy(Qt::NoFocus);
        auto* page = new QWidget;
        page->resize(250, 900);
        scroll->setWidget(page);
        QLineEdit* below = makeField(page, "below", {10, 800, 100, 24});
        QLineEdit* above = makeField(m_window.get(), "above", {10, 5, 100, 24});
        show();
        above->setFocus();
        QVERIFY(moveFocus(*m_window, true));
        QVERIFY(below->hasFocus());
        QVERIFY(!below->visibleRegion().isEmpty());
        QVERIFY(moveFocus(*m_window, true));
        QVERIFY(above->hasFocus());
        QVERIFY(moveFocus(*m_window, false));
        QVERIFY(below->hasFocus());
        QWidget empty;
        QVERIFY(!moveFocus(empty, true));
    }
};

QTEST_MAIN(ReadingOrderTest)
#include "reading_order_test.moc"
