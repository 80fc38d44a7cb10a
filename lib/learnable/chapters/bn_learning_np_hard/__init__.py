"""Why learning a network stays hard with infinite data: faithful networks, oracles, and a reduction that runs."""
