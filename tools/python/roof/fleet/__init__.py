"""Many machines: which of equal nodes are slow, over digest.csv (docs/fleet.md), and the atlas of many kinds."""
