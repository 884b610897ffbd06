import unittest

from roof.estimates import estimate, interval_indices


class Intervals(unittest.TestCase):
    def test_fewer_than_six_values_give_the_smallest_and_the_largest(self):
        self.assertEqual((0, 4), interval_indices(5))
        self.assertEqual((2.0, 1.0, 3.0, 3), tuple(estimate([3.0, 1.0, 2.0])))

    def test_more_values_give_the_order_statistics_of_the_binomial_distribution(self):
        # The largest k with P(Binomial(n, 1/2) < k) <= 2.5%: 1 of 6, 2 of 10, 40 of 100.
        self.assertEqual((0, 5), interval_indices(6))
        self.assertEqual((1, 8), interval_indices(10))
        self.assertEqual((39, 60), interval_indices(100))

    def test_the_median_of_an_even_number_is_the_middle_of_two(self):
        self.assertEqual(2.5, estimate([4.0, 1.0, 2.0, 3.0]).median)


if __name__ == "__main__":
    unittest.main()
