// SPDX-License-Identifier: Apache-2.0
// Programs that models wrote are run without network, files and unlimited means, and only those
// that do what the task asks for pass.
#include "app/commands/compare/quality/answer_quality.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

using namespace app;

namespace {

/// What a program returns from answer() must be true.
CodeTrial trial(const QByteArray& body) {
    return {.program = "def answer():\n" + body.toStdString(),
            .test = "def check(function):\n    assert function() == 'right'\n",
            .examples = {},
            .entryPoint = "answer"};
}

engine::DataRecord task(const char* prompt) {
    engine::DataRecord record;
    record.task = "code";
    record.turns = {prompt};
    return record;
}

constexpr const char* kDouble = "import math\n\ndef twice(n):\n    \"\"\"Doubles.\n    >>> "
                                "twice(4)\n    8\n    \"\"\"\n";

/// A socket of this computer that listens; closed at the end.
class Listener {
public:
    Listener()
        : m_socket(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* plain = reinterpret_cast<sockaddr*>(&address);
        m_isOpen = bind(m_socket, plain, size) == 0 && listen(m_socket, 4) == 0 &&
                   getsockname(m_socket, plain, &size) == 0;
        m_port = ntohs(address.sin_port);
    }

    ~Listener() { close(m_socket); }

    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    bool isOpen() const { return m_isOpen; }

    int port() const { return m_port; }

private:
    int m_socket;
    int m_port = 0;
    bool m_isOpen = false;
};

} // namespace

class CodeSandboxTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void theRightProgramPassesItsTest();
    void programsThatDoNotPass_data();
    void programsThatDoNotPass();
    void theNetworkIsNotThere();
    void theUsersFilesAreNotThere();
    void theExamplesOfATaskAreItsTests_data();
    void theExamplesOfATaskAreItsTests();
    void aTaskWithoutTestsAndExamplesIsNotRun();
    void aStoppedRunEndsAtOnce();

private:
    bool passes(const CodeTrial& trial) const {
        const auto result = m_sandbox->passes(trial);
        return result && result.value();
    }

    std::optional<CodeSandbox> m_sandbox;
};

void CodeSandboxTest::initTestCase() {
    auto sandbox = CodeSandbox::make({});
    if (!sandbox)
        QSKIP(sandbox.error().message.c_str());
    m_sandbox.emplace(std::move(sandbox).value());
}

void CodeSandboxTest::theRightProgramPassesItsTest() {
    QVERIFY(passes(trial("    return 'right'\n")));
}

void CodeSandboxTest::programsThatDoNotPass_data() {
    QTest::addColumn<QByteArray>("body");
    QTest::newRow("wrong") << QByteArray("    return 'wrong'\n");
    QTest::newRow("no Python") << QByteArray("    this is text.\n");
    QTest::newRow("ends at once") << QByteArray("    import os\n    os._exit(0)\n");
    QTest::newRow("ends well") << QByteArray("    import sys\n    sys.exit(0)\n");
    QTest::newRow("says so itself")
        << QByteArray("    import os\n    print('\\npassed', flush=True)\n    os._exit(0)\n");
    QTest::newRow("without end") << QByteArray("    while True: pass\n");
    QTest::newRow("too much memory")
        << QByteArray("    kept = bytearray(3 << 30)\n    return 'right'\n");
    QTest::newRow("too long a file")
        << QByteArray("    open('/tmp/x', 'wb').write(b'0' * (4 << 20))\n    return 'right'\n");
    QTest::newRow("too long an output")
        << QByteArray("    for i in range(1 << 16): print('x' * 1024)\n    return 'right'\n");
    QTest::newRow("writes to the system")
        << QByteArray("    open('/usr/x', 'w')\n    return 'right'\n");
}

void CodeSandboxTest::programsThatDoNotPass() {
    QFETCH(QByteArray, body);
    QVERIFY(!passes(trial(body)));
}

void CodeSandboxTest::theNetworkIsNotThere() {
    const Listener listener;
    QVERIFY(listener.isOpen());
    const QByteArray address = "('127.0.0.1', " + QByteArray::number(listener.port()) + ")";
    QVERIFY(!passes(trial("    import socket\n    socket.create_connection(" + address +
                          ")\n    return 'right'\n")));
    // It is the network that fails, not the program.
    QVERIFY(passes(trial("    import socket\n    try:\n        socket.create_connection(" +
                         address + ")\n    except OSError:\n        return 'right'\n")));
}

void CodeSandboxTest::theUsersFilesAreNotThere() {
    const QTemporaryDir folder;
    QFile file(folder.filePath("secret"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("right");
    file.close();
    const QByteArray path = file.fileName().toUtf8();
    QVERIFY(!passes(trial("    return open('" + path + "').read()\n")));
    QVERIFY(
        passes(trial("    import os\n    return 'right' if not os.path.exists('" +
                     QDir::homePath().toUtf8() + "') and not os.environ.get('HOME') else ''\n")));
}

void CodeSandboxTest::theExamplesOfATaskAreItsTests_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<bool>("isRight");
    QTest::newRow("body") << QByteArray("    return 2 * n\n") << true;
    QTest::newRow("wrong body") << QByteArray("    return n\n") << false;
    QTest::newRow("goes on behind the function")
        << QByteArray("    return 2 * n\n\nThis function doubles.\n") << true;
    QTest::newRow("whole function in Markdown")
        << QByteArray("Here it is:\n```python\ndef twice(n):\n    return math.floor(n) * 2\n```\n"
                      "It doubles.")
        << true;
    QTest::newRow("without the examples")
        << QByteArray("```\ndef twice(n):\n    return 3 * n\n```") << false;
    QTest::newRow("text alone") << QByteArray("I cannot do that.") << false;
}

void CodeSandboxTest::theExamplesOfATaskAreItsTests() {
    QFETCH(QByteArray, answer);
    QFETCH(bool, isRight);
    const QualityJudge judge(m_sandbox);
    const auto quality = judge.score(task(kDouble), answer.toStdString());
    QVERIFY(quality.hasValue());
    QCOMPARE(quality.value().scores.back(), std::optional(isRight ? 1.0 : 0.0));
    const auto unjudged = QualityJudge(std::nullopt).score(task(kDouble), "    return 1\n");
    QVERIFY(unjudged.hasValue());
    QCOMPARE(unjudged.value(), AnswerQuality());
}

void CodeSandboxTest::aTaskWithoutTestsAndExamplesIsNotRun() {
    QVERIFY(!codeTrial(task("def f(n):\n    # doubles\n"), "    return 2 * n\n"));
}

void CodeSandboxTest::aStoppedRunEndsAtOnce() {
    std::stop_source source;
    source.request_stop();
    const auto stopped = CodeSandbox::make(source.get_token());
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().code, engine::ErrorCode::Cancelled);
}

QTEST_GUILESS_MAIN(CodeSandboxTest)
#include "code_sandbox_test.moc"
