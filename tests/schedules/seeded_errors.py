#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the schedules find errors: changes one line of a copy of the sources at a time.

seeded_errors.py [--seconds N] [--only NAME ...] [--list] [--check]
    builds the scenarios with each error and runs them for N seconds (default 40) at most; prints the
    scenario that fails. Fails if an error is not found, or if the unchanged sources fail. --check only
    looks whether the text of each error occurs once in the sources.

The copy and its build are in build/seeded. A thousand seconds on two cores; ccache makes it shorter.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build/seeded/tree"
BUILD = ROOT / "build/seeded/build"
COPIED = ["CMakeLists.txt", "CMakePresets.json", "cmake", "examples", "include", "op_host", "op_kernel",
          "opp", "src", "tests"]
RUNTIME = "src/runtime/"

# Errors that few schedules of one scenario meet: it has the time for itself.
RARE = {"the watcher does not look again at a place reached meanwhile": "event_unwatched"}

# What it is, the file, the text that occurs once there, and what replaces it.
ERRORS = [
    ("no notify when a place is reached", "stream/stream_run.cpp",
     "        nextSleeper_ = kNever;\n        changed_.notify_all();", "        nextSleeper_ = kNever;"),
    ("no notify when a claim ends", "stream/stream_run.cpp",
     "    if (sleepers_ > 0) {\n        changed_.notify_all();  // one of them may have to run the rest\n    }",
     ""),
    ("sleepers are passed over at their own place", "stream/stream_run.cpp",
     "if (sequence >= nextSleeper_) {", "if (sequence > nextSleeper_) {"),
    ("nobody is told that another stream waits", "stream/stream_run.cpp",
     "tellWorkersAt_ = std::min(tellWorkersAt_, sequence);", ""),
    ("the watcher does not look again at a place reached meanwhile", "stream/stream_run.cpp",
     "obstacle.ticket.stream->ReachedOrTellWorkers(obstacle.ticket.sequence);",
     "obstacle.ticket.stream->ReachedOrTellWorkers(obstacle.ticket.sequence) && false;"),
    ("an expired wait nudges nobody", "stream/stream_run.cpp",
     "workers_->NudgeSleepers();  // some may sleep on what the expired wait was waiting for", ""),
    ("an aborted helper runs all of the other stream", "stream/stream_run.cpp",
     "(wait == nullptr || wait->abortCode == 0)", "(wait == nullptr || wait != nullptr)"),
    ("the rest of a queue is left without a worker", "stream/stream_run.cpp",
     "    if (!queue_.Empty() && (left ||", "    if (queue_.Empty() && (left ||"),
    ("nudges are not counted", "stream/stream_run.cpp", "    nudges_.fetch_add(1);\n", ""),
    ("the branches of a dropped replay are skipped only at its end", "stream/stream.cpp",
     "end.skipBranch(end);", "(void)end;"),
    ("branches of a dropped replay take each other's dropped tasks as ended", "stream/stream.cpp",
     "end.redirectWaits(end, {this, sequence});", "(void)end, (void)sequence;"),
    ("the end of a context does not wait for late replays", "capture/model.cpp",
     "is() && (pending = Pending()) != nullptr", "is() && false && (pending = Pending()) != nullptr"),
    ("an abort nudges nobody", "stream/stream.cpp",
     "    // Some threads may sleep on what the dropped work was waiting for.\n    workers_->NudgeSleepers();",
     ""),
    ("an abort ends waits that were over", "stream/task_results.h",
     "if (wait->sequence > completed && ", "if (wait->sequence > 0 * completed && "),
    ("an abort is refused while the stream is being closed", "stream/stream.cpp",
     "        ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle, caller));\n        if (code != ACL",
     "        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));\n        if (code != ACL"),
    ("the body of a loop may wait for its own replay", "stream/stream_run.cpp", "            if (stream == this) {",
     "            if (stream == nullptr) {"),
    ("a notify is destroyed while a replay is being queued", "commands/notify.h", "return Pin(replaying_);",
     "return Pin();"),
    ("an external event is destroyed while a replay is being queued", "commands/event.h",
     "return Pin(Replaying());", "return Pin();"),
    ("an ending condition keeps a task that is added meanwhile", "capture/condition.cpp",
     "        handle_ = 0;\n        subGraphs.swap(subGraphs_);\n    }\n",
     "        subGraphs.swap(subGraphs_);\n    }\n    {\n"
     "        const std::lock_guard<std::mutex> lock(mutex_);\n        handle_ = 0;\n    }\n"),
    ("an abort of a device does not begin with the parents of sub-graphs", "lifecycle/task_abort.cpp",
     "depth <= deepest;", "depth < 0;"),
    ("a stop misses a loop that is just being begun", "capture/condition.cpp",
     "        task->endsTaskBefore = true;\n", ""),
    ("a held block is given back", "memory/memory_holds.h",
     "return count_.load(std::memory_order_acquire) != 0 &&", "return count_.load(std::memory_order_acquire) > 9 &&"),
    ("work is queued although memory has left since its check", "stream/stream.h",
     "    return check.IsOld(checkedAt);", "    return check.IsOld(checkedAt) && false;"),
    ("the work of a stream is looked for without its lock", "stream/stream.h",
     "        const std::lock_guard<std::mutex> lock(mutex_);\n        const bool all", "        const bool all"),
    ("a stream is busy only after its look at the epoch", "stream/stream.h",
     "    EnterBusySetLocked();\n    return check.IsOld(checkedAt);", "    return check.IsOld(checkedAt);"),
    ("work that meets the end of its capture is refused", "capture/capture_session.cpp",
     "    *over = Over();", "    *over = false;"),
    ("the end of a sub-graph wakes nobody", "capture/condition.cpp",
     "    TheWorkers().Wake();  // the progress of this stream does not wake the parent's\n", ""),
    ("a conditional task does not wait for its sub-graph", "capture/condition.cpp",
     "return self.condition->phase_.load(std::memory_order_acquire) != Phase::kRuns ||",
     "return self.condition->phase_.load(std::memory_order_acquire) != Phase::kIdle ||"),
    ("nudges are read after the first look", "stream/stream_run.cpp",
     "            stream.WaitForRunner(lock, next.sequence, nudges, limit);",
     "            stream.WaitForRunner(lock, next.sequence, Stream::nudges_.load(), limit);"),
    ("an aborted wait is not entered in the list", "stream/stream.h",
     "            stream_.waits_.Add(&wait_);", "            (void)wait_;"),
    ("an abort between what a synchronisation runs and its wait is missed", "stream/stream_run.cpp",
     "        lock.unlock();\n        ADVSTEP_RETURN_IF_ERROR(WaitListed({this, last}, limit, &wait));",
     "        wait.LeaveLocked();\n        lock.unlock();\n"
     "        ADVSTEP_RETURN_IF_ERROR(WaitFor({this, last}, limit));"),
    ("a model that is destroyed keeps a handle", "capture/model.cpp", "    handle_ = 0;\n", "    handle_ = 1;\n"),
    ("the end of a context closes a sub-graph before its model", "lifecycle/context_end.cpp",
     "for (const bool subGraphs : {false, true})", "for (const bool subGraphs : {true})"),
    ("the watcher sleeps without a last look", "stream/stream_workers.cpp",
     "if (pause.watch == WorkerControl::Watch::kAsleep && LookAtAll(", "if (false && LookAtAll("),
    ("the watcher does not say that it sleeps", "stream/stream_workers.cpp",
     "        watch_.store(pause.watch);\n        // The last look",
     "        // The last look"),
    ("nobody takes over from the watcher", "stream/stream_workers.cpp",
     "        lastNap_ = {};  // work was found\n        EnsureWatcherLocked();",
     "        lastNap_ = {};  // work was found"),
    ("a thread is started after the end", "stream/stream_workers.cpp",
     "if (hasWatcher_ || stop_ || NoStream()) {", "if (hasWatcher_) {"),
    ("a wake is lost between look and sleep", "stream/stream_workers.cpp",
     "        std::unique_lock<std::mutex> lock(mutex_);\n        const auto called",
     "        std::unique_lock<std::mutex> lock(mutex_);\n        woken_ = false;\n        const auto called"),
    ("a recorded notify wakes nobody", "commands/notify.cpp",
     "            TheWorkers().Wake();  // waits for a flag are not woken by the progress of a stream\n", ""),
    ("a processed callback wakes nobody", "commands/callbacks.cpp",
     "                    }\n                    TheWorkers().Wake();\n", "                    }\n"),
    ("an unsubscription wakes nobody", "commands/callbacks.cpp",
     "        DropLocked(stream.handle);\n    }\n    TheWorkers().Wake();", "        DropLocked(stream.handle);\n    }"),
    ("a subscription begins after a look at its stream", "commands/callbacks.cpp",
     "    return stream.Inspect([&](const StreamIdentity&) -> Status {",
     "    ADVSTEP_RETURN_IF_ERROR(stream.Check());\n"
     "    const auto after = [](const auto& use) { return use(StreamIdentity{}); };\n"
     "    return after([&](const StreamIdentity&) -> Status {"),
    ("a subscriber is not told of a callback", "commands/callbacks.cpp",
     "    callbacks.back().id = *id;\n    posted_.notify_all();", "    callbacks.back().id = *id;"),
    ("the last helper of a launch wakes nobody", "device/core_pool.cpp",
     "            done_.notify_all();", "            (void)done_;"),
    ("a launch does not wait for its helpers", "device/core_pool.cpp",
     "    if (job.helpers != 0) {", "    if (job.helpers > 100) {"),
    ("the end waits for no context that is being destroyed", "lifecycle/device_registry.cpp",
     "if (!WaitForContextEnds() && contexts.empty()) {", "if (contexts.empty()) {"),
    ("an executor is spent by two threads", "../aclnn/run.cpp",
     "        executor->state.compare_exchange_strong(expected, State::kFree, std::memory_order_acq_rel);",
     "        (executor->state.store(State::kFree), true);"),
]


def misfitting(errors):
    """Returns a line for each error whose text does not occur exactly once in its file."""
    lines = []
    for name, file, old, _ in errors:
        source = (ROOT / RUNTIME / file).resolve()
        found = source.read_text().count(old) if source.exists() else 0
        if found != 1:
            lines.append(f"{source.relative_to(ROOT)}: has the text of the error \"{name}\" {found} times; "
                         f"expected once:\n{old}")
    return lines


def copy_tree():
    TREE.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, TREE / name, dirs_exist_ok=True, symlinks=True)
        else:
            shutil.copy2(ROOT / name, TREE / name)


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def build():
    done = run(["cmake", "--build", str(BUILD), "--target", "schedules"])
    if done.returncode != 0:
        sys.exit(f"the build has failed:\n{done.stdout[-3000:]}")


def failing_scenario(seconds, seed, alone=None):
    """Returns the first scenario that fails, or None."""
    seconds *= 3 if alone else 1
    command = [str(BUILD / "bin/schedules"), "--seconds", str(seconds), "--seed", str(seed), "--stop"]
    command += ["--scenario", alone] if alone else []
    try:
        done = run(command, timeout=4 * seconds + 60)
    except subprocess.TimeoutExpired:
        return "one that does not end"
    if done.returncode == 0:
        return None
    found = re.search(r"^(\w+) has failed$", done.stderr, re.MULTILINE)
    why = re.search(r"^FAILED (.*)$", done.stderr, re.MULTILINE)
    return f"{found.group(1) if found else '?'}: {why.group(1) if why else done.stderr[-200:]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    errors = [error for error in ERRORS if not arguments.only or error[0] in arguments.only]
    if arguments.list:
        print("\n".join(name for name, *_ in errors))
        return 0
    if misfits := misfitting(errors):
        sys.exit("\n".join(misfits))
    if arguments.check:
        print(f"the texts of {len(errors)} errors occur once each")
        return 0
    copy_tree()
    os.environ.setdefault("CCACHE_NOHASHDIR", "1")
    configured = run(["cmake", "--preset", "quick", "-B", str(BUILD), "-DADVANCE_STEP_BUILD_BENCHMARKS=OFF",
                      "-DADVANCE_STEP_WERROR=OFF"],
                     cwd=TREE)
    if configured.returncode != 0:
        sys.exit(configured.stderr)
    build()
    if not arguments.only and (failed := failing_scenario(arguments.seconds, arguments.seed)):
        sys.exit(f"the unchanged sources fail: {failed}")
    missed = []
    for name, file, old, new in errors:
        source = TREE / RUNTIME / file
        text = source.read_text()
        source.write_text(text.replace(old, new))
        begin = time.monotonic()
        try:
            build()
            built = time.monotonic()
            failed = failing_scenario(arguments.seconds, arguments.seed, RARE.get(name))
        finally:
            source.write_text(text)
        print(f"{'found' if failed else 'MISSED'}: {name}, {time.monotonic() - built:.0f} s after "
              f"{built - begin:.0f} s of building: {failed or 'nothing failed'}", flush=True)
        if not failed:
            missed.append(name)
    print(f"{len(errors) - len(missed)} of {len(errors)} errors were found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
