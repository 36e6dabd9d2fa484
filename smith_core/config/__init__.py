"""Configuration: four layers merged into one validated, frozen value."""
