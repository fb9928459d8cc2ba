#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lines of Python that python_frames.cpp reads, against those that the interpreter tells.

    python_frames_test.py LIBRARY

LIBRARY is that source alone. Status 77: the interpreter is not the version whose frames it knows.
"""

import ctypes
import gc
import sys
import threading
import unittest

LIBRARY = ctypes.CDLL(sys.argv[-1])  # a call of it gives up the interpreter's lock
FRAMES = LIBRARY.readFrames
FRAMES.restype = ctypes.c_size_t
FRAMES.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
ROOM = 1024


def frames(room=ROOM):
    text = ctypes.create_string_buffer(b"#" * (ROOM + 8), ROOM + 8)
    size = FRAMES(text, room)
    assert size <= room and text.raw[size:] == b"#" * (ROOM + 8 - size), "written behind the end"
    return text.raw[:size].decode("utf-8").split("\n")


def interpreter(frame, most=6):
    """What the interpreter says of the frames from this one on."""
    lines = []
    while frame is not None and len(lines) < most:
        file = frame.f_code.co_filename
        if not file.startswith("<frozen "):
            lines.append(f"{file}:{frame.f_lineno} in {frame.f_code.co_qualname}")
        frame = frame.f_back
    return lines


def run(file, text, **names):
    names["got"] = got = []
    exec(compile(text, file, "exec"), {**names, "frames": frames, "interpreter": interpreter, "sys": sys})
    return got


class PythonFrames(unittest.TestCase):
    def test_are_those_of_the_interpreter(self):
        def inner():
            return frames(), interpreter(sys._getframe())

        class Model:
            def forward(self):
                return inner()

        got, expected = Model().forward()
        # The call itself is in frames(), and on the same line of inner().
        self.assertIn("in frames", got[0])
        self.assertEqual(got[1:], expected[:5])
        self.assertIn("in PythonFrames.test_are_those_of_the_interpreter.<locals>.Model.forward", got[2])

    def test_have_the_line_of_each_call(self):
        lines = [
            frames()[1],
            frames()[1],
        ]
        first, second = (int(line.split(":")[1].split(" ")[0]) for line in lines)
        self.assertEqual(second, first + 1)

    def test_are_at_most_six_of_many(self):
        def deep(depth):
            return frames() if depth == 0 else deep(depth - 1)

        got = deep(100)
        self.assertEqual(len(got), 6)
        self.assertTrue(all("deep" in line for line in got[1:]))

    def test_names_of_all_widths_are_utf8(self):
        # One byte a character, two, four, and a character that ends lines.
        for name in ("é", "ж", "☃", "𝔘ſ"):
            got = run(f"{name}.py", f"def f{'ü' if name == 'é' else ''}():\n    got.extend(frames())\nf{'ü' if name == 'é' else ''}()")
            self.assertEqual(got[1], f"{name}.py:2 in f{'ü' if name == 'é' else ''}")
            self.assertEqual(got[2], f"{name}.py:3 in <module>")
        self.assertEqual(run("a\nb\t.py", "got.extend(frames())")[1], "a?b?.py:1 in <module>")

    def test_a_long_name_is_cut(self):
        got = run("x" * 500 + ".py", "got.extend(frames())")
        self.assertEqual(got[1], "x" * 400 + ":1 in <module>")

    def test_a_line_that_does_not_fit_is_left_out(self):
        whole = frames()
        size = len("\n".join(whole[:2]).encode())
        self.assertEqual(frames(size), whole[:1] + [whole[1].replace(f":{whole[1].split(':')[1].split(' ')[0]} ",
                                                                   f":{sys._getframe().f_lineno - 1} ")])
        self.assertEqual(len(frames(size - 1)), 1)
        self.assertEqual(frames(5), [""])

    def test_frames_of_the_importer_are_left_out(self):
        got = run("<frozen importlib._bootstrap>", "got.extend(frames())")
        self.assertFalse(any("frozen" in line for line in got))
        self.assertGreater(len(got), 2)

    def test_generators_have_lines(self):
        def numbers():
            yield frames(), interpreter(sys._getframe())

        for got, expected in numbers():
            self.assertEqual(got[1:], expected[:5])
            self.assertIn("numbers", got[1])

    def test_a_frame_that_has_not_begun_has_no_line(self):
        """A collection in the allocation of a frame's cells runs a program's function on top of that frame."""
        got = []

        class Cycle:
            def __init__(self):
                self.me = self

            def __del__(self):
                got.append((frames()[1:], interpreter(sys._getframe())[:5]))

        def begin():
            one, two, three = 1, 2, 3
            return lambda: one + two + three

        before = gc.get_threshold()
        try:
            for threshold in range(1, 40):
                gc.collect()
                Cycle()
                gc.set_threshold(threshold)
                begin()
                gc.set_threshold(*before)
        finally:
            gc.set_threshold(*before)
        self.assertGreater(len(got), 10)
        for mine, expected in got:
            self.assertEqual(mine, expected)
        # Else none of the collections was in such an allocation.
        self.assertTrue(any("begin" not in line for mine, _ in got for line in mine[1:2]))

    def test_a_thread_has_its_own(self):
        got = []

        def step():
            got.extend(frames())

        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
        self.assertIn("step", got[1])
        self.assertFalse(any("test_a_thread_has_its_own" in line and "<locals>" not in line for line in got))

    def test_a_thread_without_python_has_none(self):
        self.assertEqual(LIBRARY.readFramesInAThread(), 0)

    def test_libraries_are_shown_for_the_innermost_frame_only(self):
        folder = b"/library/"
        LIBRARY.setFolder(folder)
        text = "def f(call):\n    call()\n"
        names = {}
        exec(compile(text, "/library/module.py", "exec"), names)
        got = []
        names["f"](lambda: got.extend(frames()))
        self.assertFalse(any("/library/" in line for line in got))
        self.assertIn("test_libraries_are_shown", got[1])
        inner = run("/library/own.py", "import ctypes\ntext = ctypes.create_string_buffer(1024)\n"
                    "size = read(text, 1024)\ngot.extend(text.raw[:size].decode().split('\\n'))", read=FRAMES)
        self.assertEqual(inner[0], "/library/own.py:3 in <module>")
        self.assertIn("in run", inner[1])

    def test_the_frame_of_a_comprehension_has_its_line(self):
        got = [line
               for line in frames()]
        self.assertIn("test_the_frame_of_a_comprehension_has_its_line", got[1])


if __name__ == "__main__":
    if sys.version_info[:2] != (3, 11) or sys.implementation.name != "cpython":
        print("skipped: this is no CPython 3.11")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
