"""What executes: notebooks, benchmarks, the build; what a run depends on, and how long it takes."""
