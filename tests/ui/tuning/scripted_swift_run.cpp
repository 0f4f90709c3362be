// SPDX-License-Identifier: GPL-3.0-only
// scripted_swift_run: what ScriptedTuning puts in the place of swift-run, see there. It is no
// script, because the window gives it the lowest priority: beside other tests an interpreter would
// need seconds until it has begun.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Path = std::filesystem::path;

std::string contentOf(const Path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const std::string& path, const std::string& text, std::ios::openmode mode) {
    std::ofstream(path, std::ios::binary | mode) << text;
}

/// What follows an option, empty where it is not among the words.
std::string valueOf(const std::vector<std::string>& words, const std::string& option) {
    const auto found = std::find(words.begin(), words.end(), option);
    return found == words.end() || found + 1 == words.end() ? std::string() : *(found + 1);
}

std::string lineOf(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words)
        line += (line.empty() ? "" : " ") + word;
    return line + '\n';
}

void say(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

int fail() {
    std::fputs("swift-run: It failed.\n  Look.\n", stderr);
    return 4;
}

sigset_t setOf(const std::vector<int>& signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : signals)
        sigaddset(&set, number);
    return set;
}

void block(int number) {
    const sigset_t set = setOf({number});
    sigprocmask(SIG_BLOCK, &set, nullptr);
}

int waitFor(const std::vector<int>& signals) {
    const sigset_t set = setOf(signals);
    int number = 0;
    sigwait(&set, &number);
    return number;
}

int compare(const Path& here, const std::vector<std::string>& words) {
    const std::string copy = valueOf(words, "--compare");
    const std::string result = copy.empty() ? valueOf(words, "--draft-adapter") : copy;
    if (result.empty())
        return 2;
    put(result + ".compared", lineOf(words), std::ios::app);
    say(contentOf(here / "compared-lines"));
    const std::string end = contentOf(here / "compared-end");
    if (end == "wait")
        waitFor({SIGINT});
    return end == "fail" ? fail() : 0;
}

/// Saves for ever, and counts how often it is interrupted, until it is terminated.
int save(const std::string& out) {
    block(SIGTERM);
    for (int count = 1; waitFor({SIGINT, SIGTERM}) == SIGINT; ++count)
        put(out + ".interrupts", std::to_string(count), std::ios::trunc);
    put(out + ".saved", {}, std::ios::trunc);
    return 130;
}

int tune(const Path& here, const std::vector<std::string>& words) {
    const std::string out = valueOf(words, "--out");
    if (out.empty())
        return 2;
    std::filesystem::create_directories(out + ".work");
    put(out + ".work/plan.json", {}, std::ios::trunc);
    put(out + ".told", lineOf(words), std::ios::app);
    say(contentOf(here / "lines"));
    const std::string end = contentOf(here / "end");
    if (end == "done" && std::find(words.begin(), words.end(), "--recipe") != words.end())
        std::filesystem::create_directories(out);
    else if (end == "done")
        put(out, {}, std::ios::trunc);
    if (end == "fail")
        return fail();
    if (end == "crash")
        kill(getpid(), SIGKILL);
    if (end == "wait") {
        waitFor({SIGINT});
        say(R"({"event":"remark","text":"The same command with --resume goes on."})"
            "\n"
            R"({"event":"error","code":"cancelled","message":"Stopped.","hint":""})"
            "\n");
        return 130;
    }
    if (end == "full") {
        waitFor({SIGINT});
        say(R"({"event":"error","code":"io","message":"It is full.","hint":"Make room."})"
            "\n");
        return 7;
    }
    return end == "save" ? save(out) : 0;
}

} // namespace

int main(int argc, char** argv) {
    block(SIGINT);
    if (argc < 2)
        return 2;
    const Path here = Path(argv[0]).parent_path();
    const std::vector<std::string> words(argv + 1, argv + argc);
    const bool compares = words.front() == "compare" || !valueOf(words, "--compare").empty();
    return compares ? compare(here, words) : tune(here, words);
}
