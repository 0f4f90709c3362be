// SPDX-License-Identifier: Apache-2.0
#include "app/streams/text_input.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <vector>

using app::TextInput;

namespace {

const std::string kMark = "\xEF\xBB\xBF";

std::vector<std::string> linesOf(const std::string& content) {
    const test_support::TemporaryFolder folder;
    auto input = TextInput::open(folder.write("input.txt", content).string());
    std::vector<std::string> lines;
    while (auto line = input.value().nextLine(1000).value())
        lines.push_back(*line);
    return lines;
}

std::string restOf(const std::string& content) {
    const test_support::TemporaryFolder folder;
    auto input = TextInput::open(folder.write("input.txt", content).string());
    return input.value().rest(1000).value();
}

} // namespace

class TextInputTest : public QObject {
    Q_OBJECT

private slots:
    void aByteOrderMarkInFrontIsNoText();
    void elsewhereAMarkIsText();
};

void TextInputTest::aByteOrderMarkInFrontIsNoText() {
    using Lines = std::vector<std::string>;
    QCOMPARE(linesOf(kMark + "one\ntwo"), (Lines{"one", "two"}));
    QCOMPARE(linesOf(kMark + "one"), Lines{"one"});
    QCOMPARE(linesOf(kMark + "\none"), (Lines{"", "one"}));
    QCOMPARE(linesOf(kMark), Lines());
    QCOMPARE(restOf(kMark + "one\ntwo"), std::string("one\ntwo"));
    QCOMPARE(restOf(kMark), std::string());
}

void TextInputTest::elsewhereAMarkIsText() {
    using Lines = std::vector<std::string>;
    QCOMPARE(linesOf("one\n" + kMark + "two"), (Lines{"one", kMark + "two"}));
    QCOMPARE(linesOf(kMark + kMark + "one"), Lines{kMark + "one"});
    QCOMPARE(restOf("one" + kMark), "one" + kMark);
}

QTEST_GUILESS_MAIN(TextInputTest)
#include "text_input_test.moc"
