# SPDX-License-Identifier: BSD-3-Clause
"""Size classes of pairs: which end counts a message, and into which class."""

from show import ShowTest, b, main, w


class Classes(ShowTest):
    def test_classes(self):
        zero, one = (b.Process(number, 2).world() for number in range(2))
        for size in (0, 1, 8, 15, 15, 1 << 20):
            zero.send(1, size, 1000, 1010)
            one.recv(0, size, 1000, 1010)  # the sender counts
        one.send(1, 3, 2000, 2010)
        cancelled = zero.start()
        zero.send(1, 70, 2200, 2300, name="MPI_Isend", flags=w.REQUEST, request=cancelled)
        zero.done(cancelled, name="MPI_Wait", flags=w.CANCELLED, start=2400, end=2500)
        self.assertEqual(self.show(zero, one)["classes"], [
            [0, 1, 0, 1, 0], [0, 1, 1, 1, 1], [0, 1, 4, 3, 38], [0, 1, 21, 1, 1 << 20], [1, 1, 2, 1, 3]])

    def test_classes_of_a_sender_that_was_not_recorded(self):
        one = b.Process(1, 2).world()
        one.recv(0, 100, 1000, 1010)
        self.assertEqual(self.show(one)["classes"], [[0, 1, 7, 1, 100]])


if __name__ == "__main__":
    main()
