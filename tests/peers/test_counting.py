"""FLOPs and statistics of bench/peers, from formulas and brute force. Needs the standard library alone."""
import unittest

from peers import cases, summary, variants


class Flops(unittest.TestCase):
    def test_kept_pairs(self):
        for seq in (1, 2, 7, 40):
            self.assertEqual(cases.kept_pairs(seq, variants.FULL.keeps), seq * seq)
            self.assertEqual(cases.kept_pairs(seq, variants.CAUSAL.keeps), seq * (seq + 1) // 2)
            for width in (1, 3, 7, 64):
                self.assertEqual(cases.kept_pairs(seq, variants.window(width).keeps), sum(min(query + 1, width) for query in range(seq)))

    def test_variants(self):
        triangle = lambda n: n * (n + 1) // 2
        counts = {
            "window256": triangle(256) + 768 * 256,
            "first16window256": triangle(256) + 768 * 256 + triangle(15) + 16 * (768 - 15),
            "chunks256": 4 * triangle(256),
            "prefix256": triangle(1024) + triangle(255),
            "documents": sum(map(triangle, (96, 250, 40, 330, 180, 128))),
        }
        for case in cases.all_cases():
            if case.name.startswith("variant/H8/D64/T1024/"):
                name = case.variant.name
                pairs, countable = (flops // (4 * 8 * 64) for flops in (case.flops, case.countable_flops))
                if name == "pairs":  # six of seven places below the diagonal, all on it
                    self.assertAlmostEqual(pairs / (6 / 7 * triangle(1023) + 1024), 1, places=3)
                else:
                    self.assertEqual(pairs, counts.get(name, triangle(1024)), name)
                self.assertEqual(countable, triangle(1024) if case.variant.table else pairs, name)

    def test_attention_counts_both_products_of_kept_pairs(self):
        # 3 heads of 10: 2 * 10 for a score, 2 * 10 for its value, of 4 * 5 / 2 pairs.
        self.assertEqual(cases.Attention(3, 10, 4, variants.CAUSAL).flops, 3 * 10 * 40)
        self.assertEqual(cases.Attention(8, 64, 512, variants.FULL).flops, 4 * 64 * 8 * 512**2)

    def test_projection(self):
        self.assertEqual(cases.Projection(16, 512, 2048).flops, 2 * 16 * 512 * 2048)

    def test_block_is_its_parts(self):
        block = cases.Block(128, 512, 8)
        parts = 4 * cases.Projection(128, 512, 512).flops + cases.Attention(8, 64, 128, variants.CAUSAL).flops
        self.assertEqual(block.flops, parts)


class Selection(unittest.TestCase):
    def test_names_are_unique(self):
        names = [c.name for c in cases.all_cases(long=True)]
        self.assertEqual(len(names), len(set(names)))

    def test_long(self):
        long_only = {c.name for c in cases.all_cases(long=True)} - {c.name for c in cases.all_cases()}
        self.assertEqual(long_only, {"sdpa/H8/D64/T4096/full", "sdpa/H8/D64/T4096/causal"})

    def test_patterns(self):
        found = cases.select(["^projection/512", "C1024"])
        self.assertEqual([c.name for c in found], ["projection/512x512/T16", "projection/512x512/T128", "projection/512x512/T512", "textbook_mha/C1024/T512"])
        self.assertEqual(len(cases.select([])), len(cases.all_cases()))
        self.assertLess(len(cases.select([], quick=True)), len(cases.all_cases()))

    def test_bad_patterns(self):
        for pattern in ("nothing is called so", "("):
            with self.assertRaises(ValueError) as caught:
                cases.select([pattern])
            self.assertIn(pattern, str(caught.exception))


class Statistics(unittest.TestCase):
    def test_quartiles(self):
        self.assertEqual(summary.quartiles([5, 1, 3, 2, 4]), (2, 3, 4))
        self.assertEqual(summary.quartiles([1, 2]), (1.25, 1.5, 1.75))
        self.assertEqual(summary.quartiles([7]), (7, 7, 7))

    def test_summary(self):
        # 100 FLOPs. The peak of the second round is half of the first's, and so is everybody's speed.
        samples = {"ours": [(1.0, 200.0), (2.0, 100.0), (1.0, 200.0)], "peer": [(2.0, 200.0), (4.0, 100.0), (4.0, 200.0)]}
        result = summary.summarise(samples, "ours", 100)
        self.assertEqual(result["ours"]["best_percent"], 50)     # 100 / (1 * 200)
        self.assertEqual(result["ours"]["median_percent"], 50)   # of 50, 50, 50
        self.assertEqual(result["peer"]["best_percent"], 25)     # 100 / (2 * 200)
        self.assertEqual(result["peer"]["median_percent"], 25)   # of 25, 25, 12.5
        self.assertEqual(result["peer"]["median_seconds"], 4)
        self.assertEqual(result["peer"]["ratio"], {"q1": 2, "median": 2, "q3": 3})  # of 2, 2, 4
        self.assertEqual(result["ours"]["ratio"], {"q1": 1, "median": 1, "q3": 1})

    def test_without_ours_there_is_no_ratio(self):
        self.assertNotIn("ratio", summary.summarise({"peer": [(1.0, 1.0)]}, "ours", 1)["peer"])


if __name__ == "__main__":
    unittest.main()
